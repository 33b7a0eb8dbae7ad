// @ts-check
// Warns where a filter hides severities that matter more than those on the map: a bare place looks like smooth air. The
// page loads this module with the symbols of the legend.
import { AIRCRAFT, TRACKS } from "./layers.js";
import { SEVERITIES, severitiesOf, showsSeverity } from "./view.js";

const KIND = "hidden-severities";
/** The least severity that the bars of the timeline count. */
const MODERATE = 3;
let isWarning = false;

/** @typedef {Pick<Billow.View, "severities" | "minSeverity">} Severities */

/** The hidden severities that are worse than a visible one.
 * @param {Severities} view */
export function hiddenAbove({ severities, minSeverity }) {
    const lowest = severities ? Math.min(...severities) : minSeverity;
    return SEVERITIES.flatMap((_, severity) =>
        (severity > lowest && severities && !severities.includes(severity) ? [severity] : []));
}

/** The warning for hidden severities: "Moderate is hidden on this map: a bare place may have it."
 * @param {number[]} hidden */
export function hiddenText(hidden) {
    const [names, isOne] = [hidden.map((severity) => SEVERITIES[severity]).join(" and "), hidden.length === 1];
    return `${names} ${isOne ? "is" : "are"} hidden on this map: a bare place may have ${isOne ? "it" : "them"}.`;
}

/** Warns of the severities that the map hides between visible ones. The button shows them again.
 * @param {Billow.View} view  of the pixels on the map
 * @param {(difference: Partial<Billow.View>) => void} changed */
export async function warnOfHidden(view, changed) {
    const hidden = hiddenAbove(view);
    const isRated = view.layers.some((id) => id !== AIRCRAFT && id !== TRACKS);
    const isNeeded = hidden.length > 0 && isRated;
    if (!isNeeded && !isWarning) return;
    isWarning = isNeeded;
    const { removeNotice, showNotice } = await import("./notices.js");
    // The view may have changed meanwhile, and that call has shown its own state.
    if (isWarning !== isNeeded) return;
    if (!isNeeded) return removeNotice(KIND);
    showNotice(KIND, hiddenText(hidden), hidden.length === 1 ? "Show it" : "Show them",
        () => changed(severitiesOf([...view.severities ?? [], ...hidden])));
}

/** What the bars of the timeline count: turbulence of at least moderate severity, as far as the filter lets the map
 * show it.
 * @param {Severities} view */
export function countedText(view) {
    const counted = SEVERITIES.flatMap((name, severity) => (severity >= MODERATE ? [{ name, severity }] : []));
    const whole = /** @type {Billow.View} */ (view);
    const hidden = counted.filter(({ severity }) => !showsSeverity(whole, severity)).map(({ name }) => name);
    return hidden.length === counted.length ? "Moderate or worse: hidden"
        : `Moderate or worse${hidden.length ? `, without ${hidden.join(" and ")}` : ""}`;
}

/** The severities of the server's parameters `severity` and `minSeverity`.
 * @param {{ get(name: string): string | null }} parameters
 * @returns {Severities} */
export function severitiesIn(parameters) {
    const list = parameters.get("severity");
    return {
        severities: list === null ? null : list.split(",").map(Number),
        minSeverity: Number(parameters.get("minSeverity") ?? 0),
    };
}
