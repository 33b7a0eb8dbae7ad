// @ts-check
// Texts of a single report: its levels, and its time.
import { age, flightLevel, instantOf, shortTime } from "./format.js";
import { now } from "./server.js";

/** @typedef {Record<string, any>} Properties */

/** @param {Properties} record */
export function levelText({ altitudeMin, altitudeMax, altitude }) {
    const low = altitudeMin ?? altitude;
    const high = altitudeMax ?? low;
    return high > low ? `${flightLevel(low)} – ${flightLevel(high)}` : flightLevel(low);
}

/** @param {Properties} record
 * @param {number | null} time */
export function observedText(record, time) {
    const instant = instantOf(record.observedAt);
    if (instant === null) return String(record.observedAt ?? "not reported");
    return `${shortTime(instant, now())}, ${age((time ?? now()) - instant)} ${time === null ? "ago" : "before"}`;
}
