// @ts-check
// Formats times, ages and levels. Instants are milliseconds since 1970 UTC, altitudes are feet.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** @param {number} number */
const twoDigits = (number) => String(number).padStart(2, "0");

/** "20:00:05Z"
 * @param {number} instant */
export function clockTime(instant) {
    const date = new Date(instant);
    return `${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}:${twoDigits(date.getUTCSeconds())}Z`;
}

/** "21 Jul 2026 20:00Z"; with seconds only if they are not 0.
 * @param {number} instant */
export function dateTime(instant) {
    const date = new Date(instant);
    const time = clockTime(instant).replace(/:00Z$/, "Z");
    return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()} ${time}`;
}

/** "16:00" in the device's time zone, or "20 Jul 23:30" where its date is not that of UTC.
 * @param {number} instant
 * @param {number} [offset]  minutes from UTC to the time zone, as of `getTimezoneOffset` */
export function localTime(instant, offset = new Date(instant).getTimezoneOffset()) {
    const date = new Date(instant - offset * 60_000);
    const day = date.getUTCDate() === new Date(instant).getUTCDate() ? ""
        : `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} `;
    return `${day}${clockTime(date.getTime()).slice(0, 5)}`;
}

/** The time alone if `now` has the same UTC day, otherwise with the date.
 * @param {number} instant
 * @param {number} now */
export function shortTime(instant, now) {
    const day = 86_400_000;
    return Math.floor(instant / day) === Math.floor(now / day)
        ? clockTime(instant)
        : dateTime(instant);
}

/** "19 s", "4 min 05 s", "2 h 05 min", "3 d 4 h". A negative age, from clocks that differ, counts as 0.
 * @param {number} milliseconds */
export function age(milliseconds) {
    const seconds = Math.max(0, Math.round(milliseconds / 1000));
    if (seconds < 60) return `${seconds} s`;
    if (seconds < 600) return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`;
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60) return `${minutes} min`;
    if (minutes < 2880) return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
    return `${Math.floor(minutes / 1440)} d ${Math.floor((minutes % 1440) / 60)} h`;
}

/** The instant of an ISO 8601 text with a time zone, otherwise null.
 * @param {unknown} text */
export function instantOf(text) {
    if (typeof text !== "string" || !/(Z|[+-]\d\d:?\d\d)$/.test(text)) return null;
    const milliseconds = Date.parse(text);
    return Number.isNaN(milliseconds) ? null : milliseconds;
}

/** "20260721T200000Z", the form in paths.
 * @param {number} instant */
export function compactTime(instant) {
    return new Date(instant).toISOString().replace(/\.\d+Z$/, "Z").replace(/[-:]/g, "");
}

/** The instant of the compact form, otherwise null. Dates such as 30 February are invalid.
 * @param {string} text */
export function parseCompactTime(text) {
    const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
    if (!parts) return null;
    const [, year, month, day, hour, minute, second] = parts;
    const instant = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    return !Number.isNaN(instant) && compactTime(instant) === text ? instant : null;
}

/** The instant of the compact form or of RFC 3339, "2026-07-21T20:00:00Z", otherwise null. Fractions of a second are
 * cut.
 * @param {string} text */
export function parseInstant(text) {
    // In a query a plus sign stands for a blank.
    const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|([-+ ])(\d\d):(\d\d))$/i.exec(text);
    if (!parts) return parseCompactTime(text);
    const [, clock, sign = "+", hours = "0", minutes = "0"] = parts;
    const instant = parseCompactTime(`${clock.toUpperCase().replace(/[-:]/g, "")}Z`);
    if (instant === null || Number(hours) > 23 || Number(minutes) > 59) return null;
    return instant - (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** "2026-07-21 20:00", the form of the input field; with seconds only if they are not 0.
 * @param {number} instant */
export function inputText(instant) {
    return new Date(instant).toISOString().replace("T", " ").replace(/(:00)?\.\d+Z$/, "");
}

/** The instant of a typed UTC date and 24-hour time, otherwise null. The page does not use the browser's own field,
 * because that would show a.m. and p.m. and no time zone.
 * @param {string} text */
export function parseInput(text) {
    const parts = /^\s*(\d{4})-(\d\d)-(\d\d)[ T](\d\d):?(\d\d)(?::?(\d\d))?\s*Z?\s*$/i.exec(text);
    if (!parts) return null;
    const [, year, month, day, hour, minute, second = "00"] = parts;
    return parseCompactTime(`${year}${month}${day}T${hour}${minute}${second}Z`);
}

/** "FL380" for 38,000 feet; "SFC" for 0.
 * @param {number} feet */
export function flightLevel(feet) {
    return feet === 0 ? "SFC" : `FL${String(Math.round(feet / 100)).padStart(3, "0")}`;
}

/** The text of a band; null is an open end.
 * @param {number | null} minAltitude
 * @param {number | null} maxAltitude */
export function bandText(minAltitude, maxAltitude) {
    if (minAltitude === null) return maxAltitude === null ? "All levels" : `Below ${flightLevel(maxAltitude)}`;
    if (maxAltitude === null) return `${flightLevel(minAltitude)} and above`;
    return `${flightLevel(minAltitude)} – ${flightLevel(maxAltitude)}`;
}

/** "½ h", "2 h"
 * @param {number} hours */
export function hoursText(hours) {
    return hours === 0.5 ? "½ h" : `${hours} h`;
}
