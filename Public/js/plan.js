// @ts-check
// A route as it is typed or pasted, and what lies along it, as lists. Nothing here asks a server.
import { instantOf } from "./format.js";

/** What is no waypoint in a flight plan: speeds and levels, the word for a straight leg, airways, brackets. */
const PASSED_OVER = /^(DCT|IFR|VFR|SID|STAR|-|\/|[NKM]\d{3,4}(F|A|S|M)\d{3,4}|[A-Z]{1,2}\d{1,4}[A-Z]?)$/;
const WAYPOINT = /^([A-Z]{4}|\d{2}(\d{2})?[NS]\d{3}(\d{2})?[EW]|-?\d+(\.\d+)?,-?\d+(\.\d+)?)$/;
/** Cells of one stretch lie no further apart than this. */
const GAP_NAUTICAL_MILES = 30;
const FEET_PER_LEVEL = 100;
/** What counts as one's own level: the block of 1,000 feet, and two on either side. */
const OWN_FEET = 2_000;

/** Reads a route: airports by their ICAO codes, positions, or a whole flight plan. `level` is that of the plan, if it
 * names one, in feet; `leftOut` are words that no server could know as places.
 * @param {string} text */
export function readPlan(text) {
    /** @type {string[]} */
    const waypoints = [];
    /** @type {string[]} */
    const leftOut = [];
    /** @type {number | null} */
    let level = null;
    for (const word of text.toUpperCase().replace(/[()]/g, " ").split(/\s+/).filter(Boolean)) {
        // EGLL0915 and 4430N05000W/M084F370 are waypoints with a time, or with a change of level.
        const [place, change = ""] = word.split("/");
        const [, planned] = /F(\d{3})$/.exec(PASSED_OVER.test(word) ? word : change) ?? [];
        if (planned) level ??= Number(planned) * FEET_PER_LEVEL;
        const waypoint = place.replace(/^([A-Z]{4})\d{4}$/, "$1").replace(/^(\d{2}[NS])0?(\d{3}[EW])$/, "$1$2");
        if (WAYPOINT.test(waypoint)) {
            if (waypoints[waypoints.length - 1] !== waypoint) waypoints.push(waypoint);
        } else if (!PASSED_OVER.test(word)) leftOut.push(word);
    }
    return { route: waypoints.join(" "), count: waypoints.length, level, leftOut };
}

/** @typedef {{
 *     severity: number, from: number, to: number, etaFrom: number | null, etaTo: number | null, low: number,
 *     high: number, cells: number, ownSeverity: number | null,
 * }} Stretch */

/** Hexagons along a route as stretches, in the order in which one flies them. `level` is one's own, in feet.
 * @param {Billow.Feature[]} features
 * @param {number | null} level
 * @returns {Stretch[]} */
export function stretchesOf(features, level) {
    const along = features.map(({ properties }) => properties).sort((a, b) => a.distanceAlong - b.distanceAlong);
    /** @type {Stretch[]} */
    const found = [];
    for (const { severity, distanceAlong, eta, altitude, altitudeMin, altitudeMax } of along) {
        const low = altitudeMin ?? altitude;
        const high = altitudeMax ?? low;
        const instant = instantOf(eta);
        const isOwn = level !== null && low <= level + OWN_FEET && high >= level - OWN_FEET;
        const last = found[found.length - 1];
        if (!last || distanceAlong - last.to > GAP_NAUTICAL_MILES) {
            found.push({
                severity, from: distanceAlong, to: distanceAlong, etaFrom: instant, etaTo: instant, low, high, cells: 1,
                ownSeverity: isOwn ? severity : null,
            });
            continue;
        }
        Object.assign(last, {
            severity: Math.max(last.severity, severity), to: distanceAlong, etaTo: instant, cells: last.cells + 1,
            low: Math.min(last.low, low), high: Math.max(last.high, high),
            ownSeverity: isOwn ? Math.max(last.ownSeverity ?? 0, severity) : last.ownSeverity,
        });
    }
    return found;
}

/** What a profile knows of the levels around one's own: the worst of each, on how many stretches that is, and on how
 * many there is a report at all.
 * @param {{ altitudes: number[], severities: (number | null)[][] }} profile
 * @param {number} level  feet
 * @param {number} reach  feet above and below */
export function levelsAround({ altitudes, severities }, level, reach) {
    return altitudes.flatMap((altitude, index) => {
        if (Math.abs(altitude - level) > reach || altitude % 2_000 !== level % 2_000) return [];
        const known = severities[index].flatMap((severity) => severity ?? []);
        const worst = known.length ? Math.max(...known) : null;
        return [{ altitude, worst, count: known.filter((severity) => severity === worst).length, known: known.length }];
    });
}
