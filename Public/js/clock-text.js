// @ts-check
// The times of cards. The page loads this module with the first card.
import { clockTime, dateTime } from "./format.js";

/** "20:00", or "21 Jul 20:00" if `near` has another UTC day.
 * @param {number} instant
 * @param {number} near */
export function clockText(instant, near) {
    const [day, month] = dateTime(instant).split(" ");
    const isNear = dateTime(near).startsWith(`${day} ${month} `);
    return `${isNear ? "" : `${day} ${month} `}${clockTime(instant).slice(0, 5)}`;
}
