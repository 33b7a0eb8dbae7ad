// @ts-check
// What a clock and its parts ask and tell each other; nobody else does.

/** What a clock asks of each of its parts. */
export const WANT = Symbol("show what holds at an instant");
export const PREPARE = Symbol("load what comes next, and show what is wanted");
export const STATE_AT = Symbol("ready, failed or loading, at an instant");
export const IS_SETTLED = Symbol("whether there is nothing left to load");
export const SAY_STATE = Symbol("tell listeners whether it plays");
export const LIVE_TIME = Symbol("the newest instant that is not ahead");
/** What a part tells its clock. */
export const JOIN = Symbol("join");
export const LEAVE = Symbol("leave");
export const CHANGED = Symbol("its instants have changed");
/** What a part tells its listeners. */
export const SAY = Symbol("dispatch an event");

/** @typedef {"ready" | "failed" | "loading"} Readiness */

/** The newest of some instants in rising order at or before one; the first where all are later.
 * @param {number[]} times
 * @param {number} instant */
export const indexAt = (times, instant) => Math.max(times.findLastIndex((time) => time <= instant), 0);
