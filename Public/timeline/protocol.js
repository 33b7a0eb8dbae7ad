// @ts-check
// The methods by which a clock and its parts call each other. They are symbols, so that pages can't call them.

/** A clock calls these methods of its parts. */
export const SEEK = Symbol("show the state at an instant");
export const PREPARE = Symbol("load the next frames, and show the requested one");
export const STATE_AT = Symbol("ready, failed or loading, at an instant");
export const IS_SETTLED = Symbol("whether there is nothing left to load");
export const DISPATCH_STATE = Symbol("report whether it plays");
export const LIVE_TIME = Symbol("the newest instant that is no forecast");
/** A part calls these methods of its clock. */
export const JOIN = Symbol("join");
export const LEAVE = Symbol("leave");
export const CHANGED = Symbol("its instants have changed");
/** A part dispatches an event to its listeners. */
export const DISPATCH = Symbol("dispatch an event");

/** @typedef {"ready" | "failed" | "loading"} Readiness */

/** The index of the newest instant at or before the given one, or 0 if all are later. `times` must be in rising order.
 * @param {number[]} times
 * @param {number} instant */
export const indexAt = (times, instant) => Math.max(times.findLastIndex((time) => time <= instant), 0);
