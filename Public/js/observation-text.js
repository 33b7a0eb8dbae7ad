// @ts-check
// Texts of a single report: its levels, and its time.
import { element, setText } from "./dom.js";
import { age, flightLevel, instantOf, shortTime } from "./format.js";
import { now } from "./server.js";

/** @typedef {Record<string, any>} Properties */

/** @param {Properties} record */
export function levelText({ altitudeMin, altitudeMax, altitude }) {
    const low = altitudeMin ?? altitude;
    const high = altitudeMax ?? low;
    return high > low ? `${flightLevel(low)} – ${flightLevel(high)}` : flightLevel(low);
}

/** Returns the time of a report and its age.
 * @param {Properties} record
 * @param {number | null} time
 * @returns {(string | Node)[]} */
export function observedParts(record, time) {
    const instant = instantOf(record.observedAt);
    if (instant === null) return [String(record.observedAt ?? "not reported")];
    return [`${shortTime(instant, now())}, `, agoText(instant, time)];
}

/** "19 s ago" live, or "19 s before" at an instant.
 * @param {number} instant
 * @param {number | null} time  the instant, or null for live
 * @param {string} [before]  the words before it */
export const agoText = (instant, time, before) =>
    time === null ? tickingAge(instant, before, " ago") : `${before ?? ""}${age(time - instant)} before`;

/** An age that grows with the clock, as long as its card is open. `tickAges` updates it.
 * @param {number} instant
 * @param {string} [before]
 * @param {string} [after]  the words around the age */
export function tickingAge(instant, before = "", after = "") {
    const node = element("time", {
        dateTime: new Date(instant).toISOString(), "data-before": before, "data-after": after,
    });
    node.textContent = tickingText(node);
    return node;
}

/** Updates the ages that `tickingAge` made.
 * @param {ParentNode} root */
export function tickAges(root) {
    for (const node of root.querySelectorAll("time")) {
        setText(node, tickingText(node));
    }
}

/** @param {HTMLTimeElement} node */
const tickingText = ({ dateTime, dataset: { before, after } }) =>
    `${before}${age(now() - Date.parse(dateTime))}${after}`;
