/** Drives the players and points that share it. It steps through the instants of all their frames. */
export class TimelineClock extends EventTarget {
    /**   frameMilliseconds  the time that an instant stays at speed 1, 500
     *   hold           the factor for the time of the last instant, 3
     *   loops          the number of loops before it stops, Infinity
     *   speed          the speed of the play, 1
     * @param {ClockOptions} options */
    constructor(options?: ClockOptions);
    set speed(arg: number);
    get speed(): number;
    /** The instants of all frames, oldest first. */
    get times(): number[];
    /** The instant that is shown or loading; null before the first manifest. Read only: see `goTo`. */
    get currentTime(): number | null;
    get isPlaying(): boolean;
    get isWaiting(): boolean;
    /** Plays from the current instant, or from the instant `from`. After the last instant it starts again at the first.
     * @param {{ from?: number | null }} options */
    play({ from }?: {
        from?: number | null;
    }): void;
    pause(): void;
    /** Shows the newest instant at or before the given one. Outside the timeline it shows the nearer end.
     * @param {number} instant */
    goTo(instant: number): void;
    /** @param {Part} part */
    [JOIN](part: Part): void;
    /** @param {Part} part */
    [LEAVE](part: Part): void;
    /** Applies changed instants. At the live edge the clock moves to the new live instant; elsewhere it stays. */
    [CHANGED](): void;
    #private;
}
/**
 * The options of a clock; its constructor describes them.
 */
export type ClockOptions = {
    frameMilliseconds?: number;
    hold?: number;
    loops?: number;
    speed?: number;
};
/**
 * The detail of the event `time`.
 */
export type TimeDetail = {
    time: number | null;
    index: number;
    live: boolean;
};
/**
 * A player or points that a clock drives.
 */
export type Part = import("./player.js").TimelinePlayer | import("./points.js").TimelinePoints;
import { JOIN } from "./protocol.js";
import { LEAVE } from "./protocol.js";
import { CHANGED } from "./protocol.js";
