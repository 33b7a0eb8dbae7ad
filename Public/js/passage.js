// @ts-check
// When and how fast a route is flown: the departure time and the speed of a flight plan, or those that the user typed.
// The view has them as a text such as "plan,480kt,20260721T143000Z".
import { clockText } from "./clock-text.js";
import { age, compactTime, parseCompactTime, parseInput } from "./format.js";

/** The speed of a route without another one, in knots. */
export const SPEED_KNOTS = 450;
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
/** The range of the view's speeds, in knots. */
const [MIN_KNOTS, MAX_KNOTS] = [10, 1_999];
const KILOMETRES = 1.852;
/** A plan without a date is for its next departure, or for one of so long ago: such a flight is on its way. */
const LATE_HOURS = 3;
/** The time in a plan's first place, or in item 13 of a message. Source: ICAO Doc 4444, appendix 2 */
const DEPARTURE = /^(?:\(?FPL-.*?-)?[A-Z]{4}([01]\d|2[0-3])([0-5]\d)\b/;
const SPEED = /(?:^|[\s-])([NKM])(\d{3,4})[FASM]\d{3,4}\b/;
/** The date of a flight, in item 18 of a message. */
const DATE = /\bDOF\/(\d\d)(\d\d)(\d\d)\b/;

/** `speed` is in knots. Null is the page's own.
 * @typedef {{ isPlanned: boolean, speed: number | null, departure: number | null }} Passage */

/** @param {string | null} text  of the view
 * @returns {Passage} */
export function parsePassage(text) {
    const [source, ...parts] = (text ?? "").split(",");
    const [, knots] = /^(\d+)kt$/.exec(parts[0] ?? "") ?? [];
    return {
        isPlanned: source === "plan", speed: knots ? Number(knots) : null,
        departure: parseCompactTime(parts[parts.length - 1] ?? ""),
    };
}

/** The text for the view; null if nothing differs from the page's own.
 * @param {Passage} passage */
export const passageText = ({ isPlanned, speed, departure }) => (speed === null && departure === null ? null : [
    isPlanned ? "plan" : "typed", ...(speed === null ? [] : [`${speed}kt`]),
    ...(departure === null ? [] : [compactTime(departure)]),
].join());

/** The departure time and the speed of a pasted plan, with notes on how they were read. Both are null without such.
 * @param {string} text
 * @param {number | null} level  the planned level in feet
 * @param {number} at  the present time
 * @returns {Passage & { notes: string[] }} */
export function passageOfPlan(text, level, at) {
    const plan = text.trim().toUpperCase().replace(/\s+/g, " ");
    const [, hour, minute] = DEPARTURE.exec(plan) ?? [];
    const [, year, month, day] = DATE.exec(plan) ?? [];
    /** @type {string[]} */
    const notes = [];
    /** @type {number | null} */
    let departure = null;
    if (hour) {
        departure = year ? parseCompactTime(`20${year}${month}${day}T${hour}${minute}00Z`)
            : nextClock(Number(hour) * HOUR + Number(minute) * MINUTE, at);
        if (departure === null) notes.push(`The plan's date ${year}${month}${day} is none.`);
        else if (!year) notes.push(`The plan has no date, so it departs at ${clockText(departure, at)}Z.`);
    }
    const [, unit, digits = ""] = SPEED.exec(plan) ?? [];
    if (!unit) return { isPlanned: true, speed: null, departure, notes };
    const exact = unit === "M" ? (Number(digits) / 100) * speedOfSound(level ?? 36_000)
        : Number(digits) / (unit === "K" ? KILOMETRES : 1);
    const speed = Math.round(exact);
    if (speed < MIN_KNOTS || speed > MAX_KNOTS) {
        notes.push(`The plan's speed ${unit}${digits} is not used.`);
        return { isPlanned: true, speed: null, departure, notes };
    }
    if (unit === "M") notes.push(`Mach ${(Number(digits) / 100).toFixed(2)} is ${speed} kt in standard air.`);
    if (unit === "K") notes.push(`${Number(digits)} km/h is ${speed} kt.`);
    return { isPlanned: true, speed, departure, notes };
}

/** The speed of sound in knots in the standard atmosphere. Source: ICAO Doc 7488
 * @param {number} feet */
const speedOfSound = (feet) => 661.47 * Math.sqrt(Math.max(288.15 - 0.0019812 * feet, 216.65) / 288.15);

/** The instant of a UTC clock that is the next one, or not long ago.
 * @param {number} clock  milliseconds since midnight
 * @param {number} at */
function nextClock(clock, at) {
    const earliest = at - LATE_HOURS * HOUR;
    const instant = Math.floor(earliest / DAY) * DAY + clock;
    return instant < earliest ? instant + DAY : instant;
}

/** The instant of a typed departure, "14:30" or "2026-07-21 14:30", or NaN; null for an empty text.
 * @param {string} text
 * @param {number} at  the present time */
export function parseDeparture(text, at) {
    if (text.trim() === "") return null;
    const [, hour, minute] = /^\s*([01]?\d|2[0-3]):?([0-5]\d)\s*Z?\s*$/i.exec(text) ?? [];
    return hour ? nextClock(Number(hour) * HOUR + Number(minute) * MINUTE, at) : parseInput(text) ?? NaN;
}

/** The typed speed in knots, or NaN; null for an empty text.
 * @param {string} text */
export function parseSpeed(text) {
    if (text.trim() === "") return null;
    const [, digits = NaN] = /^\s*(\d{2,4})\s*(?:kt|kts|knots)?\s*$/i.exec(text) ?? [];
    const speed = Number(digits);
    return speed >= MIN_KNOTS && speed <= MAX_KNOTS ? speed : NaN;
}

/** Where the times of a route come from: "From the plan: 450 kt, departing 14:30Z."; null if all is the page's own.
 * @param {Passage} passage
 * @param {number} at  the present time */
export function sourceText({ isPlanned, speed, departure }, at) {
    const parts = [
        speed === null ? null : `${speed} kt`, departure === null ? null : `departing ${clockText(departure, at)}Z`,
    ].filter(Boolean);
    if (!parts.length) return null;
    const rest = speed === null ? ` The speed of ${SPEED_KNOTS} kt is the page's.`
        : departure === null ? " The departure is the time of the map." : "";
    return `${isPlanned ? "From the plan" : "As entered"}: ${parts.join(", ")}.${rest} The times are without wind.`;
}

/** Says that a departure of its own is past; null otherwise.
 * @param {Passage} passage
 * @param {number} at  the present time
 * @param {number} arrival */
export function pastText({ departure }, at, arrival) {
    if (departure === null || departure > at - MINUTE) return null;
    return arrival < at ? `This flight is over: it departed ${age(at - departure)} ago and arrived ${
        age(at - arrival)} ago.` : `The departure was ${age(at - departure)} ago, so a part of the route is flown.`;
}
