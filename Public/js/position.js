// @ts-check
// Parses positions as people and flight plans write them. Units are degrees; longitude comes before latitude.

/** "4038N", "40.64N" or "40°38′N"; the letter may also come first. */
const LATITUDE = halfOf("NS");
const LONGITUDE = halfOf("EW");
const SIGNED = /^([+-]?\d{1,2}(?:\.\d+)?)\/([+-]?\d{1,3}(?:\.\d+)?)$/;
const PAIR = /^[+-]?\d{1,3}(\.\d+)?,[+-]?\d{1,2}(\.\d+)?$/;
/** The forms that the server reads unchanged. */
const PLAIN = /^(\d{2}[NS]\d{3}|\d{4}[NS]\d{5}|\d{6}[NS]\d{7})[EW]$/;
/** A position this near to a whole minute is written without seconds, in minutes. */
const ALMOST_WHOLE = 0.05;

/** @param {string} letters */
function halfOf(letters) {
    const number = "\\d+(?:\\.\\d+)?(?:°(?:\\d+(?:\\.\\d+)?['′’](?:\\d+(?:\\.\\d+)?[\"″”])?)?)?";
    return `(?:[${letters}]${number}|${number}[${letters}])`;
}

const BOTH = new RegExp(`^(${LATITUDE})[,/;]?(${LONGITUDE})$`);
const APART = new RegExp(`(^|\\s)(${LATITUDE})\\s*[,/;]?\\s*(${LONGITUDE})(?=$|[\\s/])`, "g");

/** Joins positions of two words into one word.
 * @param {string} text  in upper case */
export const joinPositions = (text) => text.replace(APART, "$1$2$3");

/** Converts a position to the form of flight plans, "4038N07347W", which names its directions; null for other texts.
 * @param {string} text  in upper case
 * @returns {string | null} */
export function normalisePosition(text) {
    if (PAIR.test(text)) {
        const [longitude, latitude] = text.split(",").map(Number);
        return formatPosition(longitude, latitude);
    }
    const [, up, along] = SIGNED.exec(text) ?? [];
    // On the Atlantic, 50/30 is short for 50N030W. So a pair of numbers needs a point or a sign.
    if (up !== undefined && /[.-]/.test(text)) return formatPosition(Number(along), Number(up));
    const [, north, east] = BOTH.exec(text) ?? [];
    if (north === undefined) return null;
    const [latitude, longitude] = [degreesOf(north, 2), degreesOf(east, 3)];
    if (latitude === null || longitude === null) return null;
    return PLAIN.test(text) ? text : formatPosition(longitude, latitude);
}

/** Formats a position as in flight plans: to the minute if that is exact enough, otherwise to the second. Returns null
 * if the position is invalid.
 * @param {number} longitude
 * @param {number} latitude
 * @param {boolean} [isRough]  whether the minute is exact enough
 * @returns {string | null} */
export function formatPosition(longitude, latitude, isRough = false) {
    if (!(Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90)) return null;
    const isByMinute = isRough || [longitude, latitude].every((degrees) =>
        Math.abs(degrees * 60 - Math.round(degrees * 60)) < ALMOST_WHOLE);
    /** @type {(degrees: number, digits: number) => string} */
    const half = (degrees, digits) => {
        const seconds = Math.round(Math.abs(degrees) * 60) * 60;
        const exact = isByMinute ? seconds : Math.round(Math.abs(degrees) * 3600);
        const parts = [Math.floor(exact / 3600), Math.floor(exact / 60) % 60, exact % 60];
        return parts.slice(0, isByMinute ? 2 : 3).map((part, index) =>
            String(part).padStart(index ? 2 : digits, "0")).join("");
    };
    return `${half(latitude, 2)}${latitude < 0 ? "S" : "N"}${half(longitude, 3)}${longitude < 0 ? "W" : "E"}`;
}

/** Says how a pair of numbers is read: "40,-70 was read as 70 S 40 E (longitude first)". Null for other texts.
 * @param {string} text
 * @returns {string | null} */
export function pairText(text) {
    if (!PAIR.test(text)) return null;
    const [longitude, latitude] = text.split(",").map(Number);
    return `${text} was read as ${Math.abs(latitude)} ${latitude < 0 ? "S" : "N"} ${Math.abs(longitude)} ${
        longitude < 0 ? "W" : "E"} (longitude first)`;
}

/** The coordinates of a position in the server's form; null for other texts.
 * @param {string} text
 * @returns {[longitude: number, latitude: number] | null} */
export function parsePosition(text) {
    if (PAIR.test(text)) return /** @type {[number, number]} */ (text.split(",").map(Number));
    const [, north, east] = BOTH.exec(text) ?? [];
    if (north === undefined) return null;
    const [latitude, longitude] = [degreesOf(north, 2), degreesOf(east, 3)];
    return latitude === null || longitude === null ? null : [longitude, latitude];
}

/** The degrees of a latitude or a longitude; null if the text is invalid.
 * @param {string} text
 * @param {number} digits  the number of digits of whole degrees
 * @returns {number | null} */
function degreesOf(text, digits) {
    const sign = /[SW]/.test(text) ? -1 : 1;
    const number = text.replace(/[NSEW]/, "");
    const [degrees, minutes, seconds] = number.includes("°") ? number.split(/[°'′’"″”]/).map(Number)
        : number.includes(".") ? [Number(number)] : packed(number, digits);
    const most = digits === 2 ? 90 : 180;
    if ((minutes ?? 0) >= 60 || (seconds ?? 0) >= 60) return null;
    const value = degrees + (minutes || 0) / 60 + (seconds || 0) / 3600;
    return Number.isFinite(value) && value <= most ? sign * value : null;
}

/** Splits digits into degrees, then minutes and seconds of two digits each.
 * @param {string} number
 * @param {number} digits
 * @returns {number[]} */
function packed(number, digits) {
    // The longitude of 50N030W has three digits, the longitude of 50N30W has two.
    if (number.length <= 3) return [number.length <= digits ? Number(number) : NaN];
    const rest = number.slice(digits);
    if (rest.length % 2) return [NaN];
    return [number.slice(0, digits), rest.slice(0, 2), rest.slice(2) || "0"].map(Number);
}
