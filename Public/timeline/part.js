// @ts-check
// The base class of players and points, which a clock drives.

import { TimelineClock } from "./clock.js";
import { DISPATCH, DISPATCH_STATE } from "./protocol.js";

/** @typedef {import("./clock.js").ClockOptions} ClockOptions */

/** Returns further headers of the requests.
 * @typedef {() => Record<string, string>} Headers */

/** Filters and style of the requests.
 * @typedef {Record<string, string | number | boolean | null | undefined>} Parameters */

/** A part of a timeline: it has a clock and dispatches events. */
export class TimelinePart extends EventTarget {
    #clock;

    /** @param {ClockOptions & { clock?: TimelineClock }} options  a clock to share, or the options of a new one */
    constructor(options) {
        super();
        this.#clock = options.clock ?? new TimelineClock(options);
    }

    /** The clock that drives the part, either shared or its own. */
    get clock() { return this.#clock; }

    /** @param {object} detail */
    [DISPATCH_STATE](detail) { this[DISPATCH]("state", detail); }

    /** @param {string} name
     * @param {unknown} detail */
    [DISPATCH](name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }
}
