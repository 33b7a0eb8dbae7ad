/** @typedef {import("./clock.js").ClockOptions} ClockOptions */
/** Returns further headers of the requests.
 * @typedef {() => Record<string, string>} Headers */
/** Filters and style of the requests.
 * @typedef {Record<string, string | number | boolean | null | undefined>} Parameters */
/** A part of a timeline: it has a clock and dispatches events. */
export class TimelinePart extends EventTarget {
    /** @param {ClockOptions & { clock?: TimelineClock }} options  a clock to share, or the options of a new one */
    constructor(options: ClockOptions & {
        clock?: TimelineClock;
    });
    /** The clock that drives the part, either shared or its own. */
    get clock(): TimelineClock;
    /** @param {object} detail */
    [DISPATCH_STATE](detail: object): void;
    /** @param {string} name
     * @param {unknown} detail */
    [DISPATCH](name: string, detail: unknown): void;
    #private;
}
export type ClockOptions = import("./clock.js").ClockOptions;
/**
 * Returns further headers of the requests.
 */
export type Headers = () => Record<string, string>;
/**
 * Filters and style of the requests.
 */
export type Parameters = Record<string, string | number | boolean | null | undefined>;
import { TimelineClock } from "./clock.js";
import { DISPATCH_STATE } from "./protocol.js";
import { DISPATCH } from "./protocol.js";
