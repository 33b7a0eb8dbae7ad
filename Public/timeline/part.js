// @ts-check
// What plays by a clock.

import { TimelineClock } from "./clock.js";
import { SAY, SAY_STATE } from "./protocol.js";

/** @typedef {import("./clock.js").ClockOptions} ClockOptions
 * @typedef {() => Record<string, string>} Headers
 * @typedef {Record<string, string | number | boolean | null | undefined>} Parameters */

/** The clock of a part, and its events. */
export class TimelinePart extends EventTarget {
    #clock;

    /** @param {ClockOptions & { clock?: TimelineClock }} options with a clock to play along with, or for one of its
     * own */
    constructor(options) {
        super();
        this.#clock = options.clock ?? new TimelineClock(options);
    }

    /** The clock that it plays by: its own, or the one that it was given. */
    get clock() { return this.#clock; }

    /** @param {object} detail */
    [SAY_STATE](detail) { this[SAY]("state", detail); }

    /** @param {string} name
     * @param {unknown} detail */
    [SAY](name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }
}
