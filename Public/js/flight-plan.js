// @ts-check
// Parses a typed or pasted route, and lists the turbulence along it. This module sends no requests.
import { flightLevel, instantOf } from "./format.js";
import { joinPositions, normalisePosition, pairText, parsePosition } from "./position.js";
import { isPlannedLevel } from "./view.js";

/** The words of a flight plan that are no waypoints: speeds and levels, DCT for a direct leg, airways, brackets. */
const IGNORED =
    /^(DCT|IFR|VFR|SID|STAR|-|\/|[NKM]\d{3,4}(F|A|S|M)\d{3,4}|FL?\d{3}|(?!FL?\d)[A-Z]{1,2}\d{1,4}[A-Z]?|UM\d+)$/;
const PLANNED_LEVEL = /FL?(\d{3})$/;
const INDICATOR = /^[A-Z]{4}$/;
/** A complete flight plan message: departure, route and destination.
 * Source: ICAO Doc 4444, appendix 2, items 13, 15 and 16 */
const MESSAGE = /^\(?FPL-.*?-([A-Z]{4})\d{4}\s*-(.*?)-([A-Z]{4})\d{4}[\s\S]*$/;
/** A level of a plan in feet or metres: "N0140A045" is 4,500 feet. */
const OTHER_LEVEL = /(?:^|[\s-])[NKM]\d{3,4}([ASM]\d{3,4})\b/;
const FIRST_LEVEL = /(?:^|[\s/-])(?:[NKM]\d{3,4}F|FL?)\d{3}\b/;
/** A change of speed and level at a waypoint. */
const CHANGED_LEVEL = /\/[NKM]\d{3,4}([FASM]\d{3,4})\b/g;
/** The maximum gap between neighbouring cells of one stretch. */
const GAP_NAUTICAL_MILES = 30;
const FEET_PER_LEVEL = 100;
/** The user's own level includes its block of 1,000 feet and two blocks on either side. */
export const OWN_FEET = 2_000;
/** The lowest and the highest altitude that count as the user's own level, around its block of 1,000 feet.
 * @param {number} level  feet
 * @returns {[low: number, high: number]} */
export const ownLevels = (level) => [level - OWN_FEET, level + 1_000 + OWN_FEET];
/** A level of the table includes its block of 1,000 feet and one block on either side. */
export const BESIDE_FEET = 1_000;

/** What people write between waypoints. */
const BETWEEN = /[–—→>]|,(?=\s)/g;
/** A hyphen or comma joins codes of letters only, because in a flight plan and in positions it has other meanings. */
const JOINED_CODES = /\b([A-Z]{3,4})[-,](?=[A-Z]{3,4}\b)/g;

/** Words between the names of airports. */
const CONNECTING = /^(TO|FROM|VIA)$/;
const LEVEL = /^FL?\d{3}$/;
const LONGEST_NAME_WORDS = 4;

/** @typedef {Pick<import("./airports.js").Airports, "find" | "named" | "count">} Codes */

/** Parses a route: airport codes or names, positions, or a complete flight plan. `level` is the plan's level in feet,
 * if it has one; NaN if that is no planned level of the page. `unknown` contains the words that are no known places.
 * `resolved` explains names and short codes. Without a list of airports, any four letters count as an airport, and the
 * server decides.
 * @param {string} text
 * @param {Codes | null} [airports] */
export function parsePlan(text, airports = null) {
    /** @type {string[]} */
    const waypoints = [];
    /** @type {string[]} */
    const unknown = [];
    /** @type {string[]} */
    const resolved = [];
    /** @type {number | null} */
    let level = null;
    const words = wordsOf(text);
    // In a plan, three letters between airports are a beacon. An airport elsewhere may have the same code.
    const isPlan = words.some((word) => IGNORED.test(word));
    // In a plan, a word is a fix or an airway, and never the name of a city.
    const hasNames = words.every((word) => !IGNORED.test(word) || LEVEL.test(word));
    for (let index = 0, next; index < words.length; index = next) {
        const word = words[index];
        next = index + 1;
        if (hasNames && CONNECTING.test(word)) continue;
        const [named, count] = hasNames ? nameAt(words, index, airports) : [null, 0];
        if (named) {
            next = index + count;
            resolved.push(`${words.slice(index, next).join(" ")} means ${named}`);
            if (waypoints[waypoints.length - 1] !== named) waypoints.push(named);
            continue;
        }
        const isEnd = index === 0 || index === words.length - 1;
        // A waypoint may have a time (EGLL0915) or a change of level (4430N05000W/M084F370).
        const [name, change = ""] = normalisePosition(word) ? [word] : word.split("/");
        const [, planned] = PLANNED_LEVEL.exec(IGNORED.test(word) ? word : change) ?? [];
        if (planned) level ??= parseLevel(planned);
        const code = name.replace(/^([A-Z]{4})\d{4}$/, "$1");
        const waypoint = IGNORED.test(word) ? null
            : normalisePosition(code) ?? codeOf(code, airports, !isPlan || isEnd);
        if (waypoint !== null) {
            const order = pairText(code);
            if (order) resolved.push(order);
            if (waypoint !== code && /^[A-Z]{3}$/.test(code)) resolved.push(`${code} means ${waypoint}`);
            if (waypoints[waypoints.length - 1] !== waypoint) waypoints.push(waypoint);
        } else if (!IGNORED.test(word)) unknown.push(word);
    }
    return { route: waypoints.join(" "), count: waypoints.length, level, unknown, resolved };
}

/** Chooses between the level of a plan and that of the form's field: the one that the user entered last. Both are in
 * feet, null without one, and NaN for other texts. `note` names the level in use, and the one that is not used.
 * @param {number | null} planned
 * @param {number | null} typed  the level of the field
 * @param {boolean} isFieldNewer  whether the user changed the field after the plan
 * @returns {{ level: number | null, note: string | null }} */
export function chooseLevel(planned, typed, isFieldNewer) {
    if (planned === null) return { level: typed, note: null };
    /** @param {number} level */
    const name = (level) => (Number.isNaN(level) ? "no planned level" : flightLevel(level));
    if (typed === null || Object.is(typed, planned)) {
        return { level: planned, note: `The level is ${name(planned)}, from the plan.` };
    }
    const [level, unused] = isFieldNewer ? [typed, planned] : [planned, typed];
    const [source, other] = isFieldNewer ? ["its field", "plan's level"] : ["the plan", "field's earlier level"];
    return { level, note: `The level is ${name(level)}, from ${source}. The ${other} is not used: ${name(unused)}.` };
}

/** Names the parts of a plan that the page does not use: changes of its level, and levels that are no flight levels;
 * null without such.
 * @param {string} text
 * @returns {string | null} */
export function unusedText(text) {
    const plan = text.trim().toUpperCase().replace(/\s+/g, " ");
    const [, other] = OTHER_LEVEL.exec(plan) ?? [];
    // Without an earlier level, the level of a change is that of the plan.
    const first = FIRST_LEVEL.exec(plan)?.index ?? -1;
    const changes = [...plan.matchAll(CHANGED_LEVEL)].flatMap(({ index, 1: level }) => (index === first ? [] : level));
    const parts = [
        other && `level ${other}`,
        changes.length > 0 && `change of level to ${changes.join(" and ")}`,
    ].filter(Boolean);
    return parts.length ? `Not used from the plan: ${parts.join(", ")}.` : null;
}

/** @param {string} text */
function wordsOf(text) {
    const [, from, route, to] = MESSAGE.exec(text.trim().toUpperCase().replace(/\s+/g, " ")) ?? [];
    const plan = from ? `${from} ${route} ${to}` : text.toUpperCase().replace(/[()]/g, " ");
    return joinPositions(plan.replace(BETWEEN, " ").replace(JOINED_CODES, "$1 ")).split(/\s+/).filter(Boolean);
}

/** The level of "FL370", "F370", "370", "37000" or "37,000 ft", in feet; NaN for other texts. A flight level has three
 * digits: "37" may mean FL370, and is never taken for 3,700 feet. A level that is not planned as such is NaN too,
 * because a rounded one would be another flight's.
 * @param {string} text */
export function parseLevel(text) {
    const [, level] = /^(?:FL?)?\s*(\d{3})$/i.exec(text.trim()) ?? [];
    const [, typed] = /^(\d{1,2}[, ]?\d{3})\s*(?:ft|feet)?$/i.exec(text.trim()) ?? [];
    const feet = level !== undefined ? Number(level) * FEET_PER_LEVEL : Number(typed?.replace(/\D/, "") ?? NaN);
    return isPlannedLevel(feet) ? feet : NaN;
}

/** The location indicator of the airport with a code, or null.
 * @param {string} code
 * @param {Codes | null} airports
 * @param {boolean} isShortCode  whether three letters are an airport code
 * @returns {string | null} */
function codeOf(code, airports, isShortCode) {
    if (!airports?.count) return INDICATOR.test(code) ? code : null;
    const airport = INDICATOR.test(code) || isShortCode ? airports.find(code) : null;
    return airport?.icao ?? null;
}

/** The airport of the longest name that starts at a word, and the number of its words. A single word that is a code or
 * a position is no name.
 * @param {string[]} words
 * @param {number} index
 * @param {Codes | null} airports
 * @returns {[icao: string | null, count: number]} */
function nameAt(words, index, airports) {
    if (!airports?.count) return [null, 0];
    const isPlace = normalisePosition(words[index]) !== null || airports.find(words[index]) !== null;
    for (let count = Math.min(LONGEST_NAME_WORDS, words.length - index); count > (isPlace ? 1 : 0); count -= 1) {
        const name = words.slice(index, index + count);
        if (name.some((word) => CONNECTING.test(word) || /\d/.test(word))) continue;
        const airport = airports.named(name.join(" "));
        if (airport) return [airport.icao, count];
    }
    return [null, 0];
}

/** @typedef {{ code: string, name: string | null, longitude: number, latitude: number }} Waypoint */

/** The positions and names of a route's waypoints. Unknown waypoints are omitted.
 * @param {string} route
 * @param {Pick<import("./airports.js").Airports, "find">} airports
 * @returns {Waypoint[]} */
export function waypointsOf(route, airports) {
    /** @type {Waypoint[]} */
    const places = [];
    for (const code of route.split(" ")) {
        const airport = airports.find(code);
        const [longitude, latitude] = airport ? [airport.longitude, airport.latitude] : parsePosition(code) ?? [];
        if (longitude === undefined || latitude === undefined) continue;
        places.push({ code, name: airport && nameOf(airport), longitude, latitude });
    }
    return places;
}

/** The airport's name: "London Heathrow Airport". The city is added if the name lacks it.
 * @param {Pick<import("./airports.js").Airport, "name" | "city">} airport */
const nameOf = ({ name, city }) => (name.includes(city) ? name : `${city}, ${name}`);

/** Replaces the airport codes of a route by positions, which every server understands.
 * @param {string} route
 * @param {Pick<import("./airports.js").Airports, "find">} airports */
export const withPositions = (route, airports) => route.split(" ").map((code) => {
    const airport = airports.find(code);
    return airport ? `${airport.longitude},${airport.latitude}` : code;
}).join(" ");

/** @typedef {{
 *     severity: number, from: number, to: number, etaFrom: number | null, etaTo: number | null, low: number,
 *     high: number, cells: number, ownSeverity: number | null, observed: number[],
 * }} Stretch  `observed` has the times of the reports */

/** Joins the hexagons along a route into stretches, in order of flight. `level` is the planned level in feet.
 * @param {Billow.Feature[]} features
 * @param {number | null} level
 * @returns {Stretch[]} */
export function stretchesOf(features, level) {
    const along = features.map(({ properties }) => properties).sort((a, b) => a.distanceAlong - b.distanceAlong);
    /** @type {Stretch[]} */
    const found = [];
    for (const { severity, distanceAlong, eta, observedAt, altitude, altitudeMin, altitudeMax } of along) {
        const low = altitudeMin ?? altitude;
        const high = altitudeMax ?? low;
        const instant = instantOf(eta);
        const observed = [instantOf(observedAt)].flatMap((each) => each ?? []);
        const isOwn = level !== null && low <= level + OWN_FEET && high >= level - OWN_FEET;
        const last = found[found.length - 1];
        if (!last || distanceAlong - last.to > GAP_NAUTICAL_MILES) {
            found.push({
                severity, from: distanceAlong, to: distanceAlong, etaFrom: instant, etaTo: instant, low, high, cells: 1,
                ownSeverity: isOwn ? severity : null, observed,
            });
            continue;
        }
        Object.assign(last, {
            severity: Math.max(last.severity, severity), to: distanceAlong, etaTo: instant, cells: last.cells + 1,
            low: Math.min(last.low, low), high: Math.max(last.high, high),
            ownSeverity: isOwn ? Math.max(last.ownSeverity ?? 0, severity) : last.ownSeverity,
            observed: [...last.observed, ...observed],
        });
    }
    return found;
}

/** Summarises every second level around the planned one from a profile. Each level has the reports of its block of
 * 1,000 feet and of the blocks beside it, so that no report lies between two levels. It has its worst severity, the
 * number of sections with that severity, and the number of sections with any report.
 * @param {{ altitudes: number[], severities: (number | null)[][] }} profile
 * @param {number} level  feet
 * @param {number} range  feet above and below */
export function levelsAround({ altitudes, severities }, level, range) {
    return altitudes.flatMap((altitude, index) => {
        if (Math.abs(altitude - level) > range || altitude % 2_000 !== level % 2_000) return [];
        const near = severities.filter((_, row) => Math.abs(altitudes[row] - altitude) <= BESIDE_FEET);
        const sections = Array.from({ length: severities[index].length }, (_, section) =>
            near.flatMap((row) => row[section] ?? []));
        const known = sections.flatMap((found) => (found.length ? [Math.max(...found)] : []));
        const worst = known.length ? Math.max(...known) : null;
        const count = known.filter((severity) => severity === worst).length;
        return [{ altitude, worst, count, known: known.length, all: sections.length }];
    });
}
