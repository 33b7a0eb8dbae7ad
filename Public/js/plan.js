// @ts-check
// A route as it is typed or pasted, and what lies along it, as lists. Nothing here asks a server.
import { instantOf } from "./format.js";
import { joinPositions, placeOf, positionOf } from "./position.js";

/** What is no waypoint in a flight plan: speeds and levels, the word for a straight leg, airways, brackets. */
const PASSED_OVER =
    /^(DCT|IFR|VFR|SID|STAR|-|\/|[NKM]\d{3,4}(F|A|S|M)\d{3,4}|FL?\d{3}|[A-Z]{1,2}\d{1,4}[A-Z]?|UM\d+)$/;
const PLANNED_LEVEL = /FL?(\d{3})$/;
const INDICATOR = /^[A-Z]{4}$/;
/** Of a whole plan as it is sent: departure, route and destination.
 * Source: ICAO Doc 4444, appendix 2, items 13, 15 and 16 */
const MESSAGE = /^\(?FPL-.*?-([A-Z]{4})\d{4}\s*-(.*?)-([A-Z]{4})\d{4}[\s\S]*$/;
/** Cells of one stretch lie no further apart than this. */
const GAP_NAUTICAL_MILES = 30;
const FEET_PER_LEVEL = 100;
/** What counts as one's own level: the block of 1,000 feet, and two on either side. */
const OWN_FEET = 2_000;

/** @typedef {Pick<import("./airports.js").Airports, "of" | "count">} Codes */

/** Reads a route: airports by their codes, positions, or a whole flight plan. `level` is that of the plan, if it names
 * one, in feet; `leftOut` are words that are no places known here; `read` says how codes of three letters were read.
 * Without a list of airports any four letters may be one: the server decides.
 * @param {string} text
 * @param {Codes | null} [airports] */
export function readPlan(text, airports = null) {
    /** @type {string[]} */
    const waypoints = [];
    /** @type {string[]} */
    const leftOut = [];
    /** @type {string[]} */
    const read = [];
    /** @type {number | null} */
    let level = null;
    const words = wordsOf(text);
    // In a plan, three letters between airports are a beacon, of which an airport elsewhere may have the code.
    const isPlan = words.some((word) => PASSED_OVER.test(word));
    for (const [place, word] of words.entries()) {
        const isEnd = place === 0 || place === words.length - 1;
        // EGLL0915 and 4430N05000W/M084F370 are waypoints with a time, or with a change of level.
        const [name, change = ""] = positionOf(word) ? [word] : word.split("/");
        const [, planned] = PLANNED_LEVEL.exec(PASSED_OVER.test(word) ? word : change) ?? [];
        if (planned) level ??= Number(planned) * FEET_PER_LEVEL;
        const code = name.replace(/^([A-Z]{4})\d{4}$/, "$1");
        const waypoint = PASSED_OVER.test(word) ? null
            : positionOf(code) ?? codeOf(code, airports, !isPlan || isEnd);
        if (waypoint !== null) {
            if (waypoint !== code && /^[A-Z]{3}$/.test(code)) read.push(`${code} is ${waypoint}`);
            if (waypoints[waypoints.length - 1] !== waypoint) waypoints.push(waypoint);
        } else if (!PASSED_OVER.test(word)) leftOut.push(word);
    }
    return { route: waypoints.join(" "), count: waypoints.length, level, leftOut, read };
}

/** @param {string} text */
function wordsOf(text) {
    const [, from, route, to] = MESSAGE.exec(text.trim().toUpperCase().replace(/\s+/g, " ")) ?? [];
    const plan = from ? `${from} ${route} ${to}` : text.toUpperCase().replace(/[()]/g, " ");
    return joinPositions(plan).split(/\s+/).filter(Boolean);
}

/** The airport that a code means, by its location indicator.
 * @param {string} code
 * @param {Codes | null} airports
 * @param {boolean} isShortCode  whether three letters are an airport
 * @returns {string | null} */
function codeOf(code, airports, isShortCode) {
    if (!airports?.count) return INDICATOR.test(code) ? code : null;
    const airport = INDICATOR.test(code) || isShortCode ? airports.of(code) : null;
    return airport?.icao ?? null;
}

/** @typedef {{ code: string, name: string | null, longitude: number, latitude: number }} Waypoint */

/** Where the waypoints of a route lie, and what they are called; those that are not known here are left out.
 * @param {string} route
 * @param {Pick<import("./airports.js").Airports, "of">} airports
 * @returns {Waypoint[]} */
export function placesOf(route, airports) {
    /** @type {Waypoint[]} */
    const places = [];
    for (const code of route.split(" ")) {
        const airport = airports.of(code);
        const [longitude, latitude] = airport ? [airport.longitude, airport.latitude] : placeOf(code) ?? [];
        if (longitude === undefined || latitude === undefined) continue;
        places.push({ code, name: airport && nameOf(airport), longitude, latitude });
    }
    return places;
}

/** "London Heathrow Airport", or with the city where the name lacks it.
 * @param {Pick<import("./airports.js").Airport, "name" | "city">} airport */
const nameOf = ({ name, city }) => (name.includes(city) ? name : `${city}, ${name}`);

/** A route as any server knows it: with the places of airports in place of their codes.
 * @param {string} route
 * @param {Pick<import("./airports.js").Airports, "of">} airports */
export const inPositions = (route, airports) => route.split(" ").map((code) => {
    const airport = airports.of(code);
    return airport ? `${airport.longitude},${airport.latitude}` : code;
}).join(" ");

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
