// @ts-check
// Renews the live picture by the server's events, which announce new data. The page loads this with the map.
import { Changes, isUrgent, listen } from "./events.js";
import { onAttention, renewalDelay } from "./renewal.js";

/** What the events need of the page. `renewalDue` is the time until the live picture is due. `savesPixels` is whether
 * the picture lacks pixels of a fine screen. `setChanges` gets the changes that are known, or null without events.
 * @param {{
 *     knowledge: import("./status.js").Knowledge, view: Billow.View, isPaused: () => boolean, poll: () => void,
 *     refresh: () => void, renewSoon: () => void, renewalDue: () => number, renewedBytes: () => number,
 *     savesPixels: () => boolean, setChanges: (changes: Changes | null) => void,
 * }} page */
export function followEvents(page) {
    /** @type {Changes | null} */
    let changes = null;
    /** @type {ReturnType<typeof setTimeout> | null} */
    let pending = null;
    let renewedAt = performance.now();
    const renew = () => {
        pending = null;
        renewedAt = performance.now();
        if (page.isPaused()) return;
        page.poll();
        page.refresh();
    };
    const delay = () => Math.max(renewalDelay(renewedAt, page.renewedBytes()), page.renewalDue());
    onAttention(() => {
        if (page.savesPixels()) page.poll();
        if (pending === null) return;
        clearTimeout(pending);
        pending = setTimeout(renew, delay());
    });
    // With a place, even the whole world, the server leaves out the events of each fetch.
    listen("events?bbox=-180,-90,180,90", (name, data) => {
        if (name !== "data") return;
        if (!changes) page.setChanges(changes = new Changes(page.knowledge.billow?.version));
        if (!changes.record(data, page.view.layers)) return;
        if (isUrgent(data, page.view.layers, page.knowledge.server)) page.renewSoon();
        // Data arrives in bursts. The page polls once per burst.
        pending ??= setTimeout(renew, delay());
    }, () => {
        page.setChanges(changes = null);
        page.poll();
    }, page.isPaused);
}
