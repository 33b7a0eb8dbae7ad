// @ts-check
// Shows the state of each source in a line, and marks the stale layers, from the server's `/status`.
import { byId, element, setText } from "./dom.js";
import { patchChildren } from "./dom-patch.js";
import { age, dateTime, instantOf } from "./format.js";
import { now } from "./server.js";
import { sourceState } from "./source-state.js";

const root = byId("sources");
const layers = byId("layers");

/** Shows the sources and layers of `/status`. Returns whether the list calls a source of some layers late or worse.
 * @param {Billow.Status | null} server  null before the first response
 * @param {boolean} isLost  whether contact with the server is lost; `server` is then the last known status
 * @param {string[]} shown  the layers on the map
 * @returns {boolean} */
export function showSources(server, isLost, shown) {
    const sources = server?.sources ?? [];
    const rows = sources.map((source) => row(source, isLost));
    if (!server) rows.push(element("li", { className: "note" }, "Loading…"));
    else if (!sources.length) rows.push(
        element("li", { className: "note" }, "None: the data was imported or uploaded")
    );
    patchChildren(root, rows);
    for (const label of layers.children) {
        const { value } = /** @type {HTMLInputElement} */ (label.firstChild);
        const { stale = false, dataTime } = server?.layers?.[value] ?? {};
        const received = instantOf(dataTime);
        const text = !stale ? "" : received === null ? "none received" : `${age(now() - received)} old`;
        label.toggleAttribute("data-stale", stale);
        setText(label.querySelector("small"), text);
    }
    return sources.some((source) => ["warn", "bad"].includes(sourceState(source)[0])
        && (source.layers?.some((id) => shown.includes(id)) ?? true));
}

/** @param {Billow.SourceStatus} source
 * @param {boolean} isLost */
function row(source, isLost) {
    const [known, text] = sourceState(source);
    const received = instantOf(source.lastSuccess);
    const next = instantOf(source.nextAttempt);
    const level = isLost ? "wait" : known;
    const stateText = received === null ? text : `${text}, ${age(now() - received)}`;
    const details = [
        source.kind, received !== null && `last success ${dateTime(received)}`,
        next !== null && `next attempt ${dateTime(next)}`,
        source.counts && `${source.counts.accepted} records accepted`,
        typeof source.lastError === "string" ? source.lastError : source.lastError?.message,
        ...Object.entries(source.disabled ?? {}).map(([type, text]) => `${type}: ${text}`),
    ].filter(Boolean).join(" · ");
    return element("li", { "data-level": level, title: details },
        element("span", { className: "dot", "aria-hidden": "true" }),
        element("span", { className: "name" }, source.id),
        element("span", { className: "source-state" }, isLost ? `unknown; last: ${stateText}` : stateText));
}
