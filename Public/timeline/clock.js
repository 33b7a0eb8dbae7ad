// @ts-check
// The clock of a playing timeline.

import {
    CHANGED, IS_SETTLED, JOIN, LEAVE, LIVE_TIME, PREPARE, DISPATCH_STATE, STATE_AT, SEEK, indexAt,
} from "./protocol.js";

/** The options of a clock; its constructor describes them.
 * @typedef {{ frameMilliseconds?: number, hold?: number, loops?: number, speed?: number }} ClockOptions */

/** The detail of the event `time`.
 * @typedef {{ time: number | null, index: number, live: boolean }} TimeDetail */

/** A player or points that a clock drives.
 * @typedef {import("./player.js").TimelinePlayer | import("./points.js").TimelinePoints} Part */

const TICK_MILLISECONDS = 50;
const SLOWEST_PACE = 4;

/** Drives the players and points that share it. It steps through the instants of all their frames. */
export class TimelineClock extends EventTarget {
    #options;
    /** @type {Set<Part>} */
    #parts = new Set();
    /** @type {number[]} */
    #times = [];
    /** The requested instant.
     * @type {number | null} */
    #instant = null;
    /** @type {number | null} */
    #live = null;
    #playing = false;
    #waiting = false;
    #dueAt = 0;
    #dwelling = 0; // milliseconds that the current instant stays
    #pace = 1; // above 1 while frames arrive more slowly than they play
    #loopsLeft = 0;
    /** @type {number | null} */
    #ticker = null;

    /**   frameMilliseconds  the time that an instant stays at speed 1, 500
     *   hold           the factor for the time of the last instant, 3
     *   loops          the number of loops before it stops, Infinity
     *   speed          the speed of the play, 1
     * @param {ClockOptions} options */
    constructor(options = {}) {
        super();
        const { frameMilliseconds = 500, hold = 3, loops = Infinity, speed = 1 } = options;
        this.#options = { frameMilliseconds, hold, loops, speed };
        this.speed = speed;
    }

    /** The instants of all frames, oldest first. */
    get times() { return [...this.#times]; }
    /** The instant that is shown or loading; null before the first manifest. Read only: see `goTo`. */
    get currentTime() { return this.#instant; }
    get isPlaying() { return this.#playing; }
    get isWaiting() { return this.#waiting; }
    get speed() { return this.#options.speed; }
    set speed(speed) {
        if (!(speed > 0)) throw new RangeError(`speed is ${speed}; it must be above 0`);
        this.#options.speed = speed;
    }

    /** Plays from the current instant, or from the instant `from`. After the last instant it starts again at the first.
     * @param {{ from?: number | null }} options */
    play({ from = null } = {}) {
        if (from !== null) this.goTo(from);
        this.#loopsLeft = this.#options.loops;
        this.#playing = true;
        this.#pace = 1;
        this.#dwell();
        this.#run();
        this.#dispatchState();
    }

    pause() {
        if (!this.#playing) return;
        this.#playing = false;
        this.#waiting = false;
        this.#dispatchState();
    }

    /** Shows the newest instant at or before the given one. Outside the timeline it shows the nearer end.
     * @param {number} instant */
    goTo(instant) {
        const found = this.#times[indexAt(this.#times, instant)];
        if (found !== undefined) this.#seek(found);
    }

    // Calls from its parts

    /** @param {Part} part */
    [JOIN](part) { this.#parts.add(part); }

    /** @param {Part} part */
    [LEAVE](part) {
        this.#parts.delete(part);
        this.#collectTimes();
        if (!this.#parts.size) {
            this.#playing = false;
            this.#waiting = false;
            this.#stop();
        }
    }

    /** Applies changed instants. At the live edge the clock moves to the new live instant; elsewhere it stays. */
    [CHANGED]() {
        const wasLive = this.#instant === null || (this.#instant === this.#live && !this.#playing);
        this.#collectTimes();
        if (!this.#times.length) return;
        const instant = wasLive ? this.#live : this.#times[indexAt(this.#times, this.#instant ?? 0)];
        if (instant === null || instant === undefined) return;
        this.#instant = instant;
        for (const part of this.#parts) part[SEEK](instant);
        this.#run();
        this.#dispatchTime();
    }

    #collectTimes() {
        const parts = [...this.#parts];
        this.#times = [...new Set(parts.flatMap(({ times }) => times))].sort((a, b) => a - b);
        const live = parts.flatMap((part) => part[LIVE_TIME]() ?? []);
        this.#live = live.length ? Math.max(...live) : this.#times.at(-1) ?? null;
    }

    // Playing

    /** @param {number} instant */
    #seek(instant) {
        this.#instant = instant;
        this.#dwell();
        for (const part of this.#parts) part[SEEK](instant);
        this.#run();
        this.#dispatchTime();
    }

    /** Starts a timer that ticks many times a second while there is work to do, and then stops. */
    #run() {
        this.#tick();
        this.#ticker ??= setInterval(() => this.#tick(), TICK_MILLISECONDS);
    }

    #tick() {
        if (this.#instant === null || !this.#times.length) return;
        const moment = this.#moment(this.#instant);
        for (const part of this.#parts) part[PREPARE](moment);
        if (this.#playing) this.#advance();
        else if ([...this.#parts].every((part) => part[IS_SETTLED]())) {
            this.#stop();
        }
    }

    #stop() {
        clearInterval(this.#ticker ?? undefined);
        this.#ticker = null;
    }

    /** Interpolates between two instants, in proportion to the time that the first has stayed. */
    #moment(/** @type {number} */ instant) {
        const next = this.#times[this.#times.indexOf(instant) + 1];
        if (!this.#playing || next === undefined || !this.#dwelling) return instant;
        const share = 1 - Math.max(this.#dueAt - performance.now(), 0) / this.#dwelling;
        return instant + share * (next - instant);
    }

    #advance() {
        if (performance.now() < this.#dueAt) return;
        const times = this.#times;
        const count = times.length;
        const index = times.findIndex((time) => time === this.#instant);
        let next = (index + 1) % count;
        /** @param {number} index */
        const stateOf = (index) => {
            const instant = /** @type {number} */ (times[index]);
            const states = [...this.#parts].map((part) => part[STATE_AT](instant));
            return states.includes("failed") ? "failed" : states.every(
                (state) => state === "ready"
            ) ? "ready" : "loading";
        };
        // Skips an instant that a part can't show. The next manifest may have another frame for it.
        for (let tries = 0; tries < count && stateOf(next) === "failed"; tries += 1) next = (next + 1) % count;
        if (stateOf(next) !== "ready") {
            if (!this.#waiting) {
                this.#waiting = true;
                this.#pace = Math.min(this.#pace * 1.5, SLOWEST_PACE);
                this.#dispatchState();
            }
            return;
        }
        if (next < index) {
            this.#loopsLeft -= 1;
            if (this.#loopsLeft <= 0) return this.pause();
        }
        if (this.#waiting) {
            this.#waiting = false;
            this.#dispatchState();
        } else {
            this.#pace = Math.max(1, this.#pace * 0.95);
        }
        const instant = /** @type {number} */ (times[next]);
        this.#instant = instant;
        this.#dwell();
        for (const part of this.#parts) {
            part[SEEK](instant);
            part[PREPARE](instant);
        }
        this.#dispatchTime();
    }

    #dwell() {
        const { frameMilliseconds, speed, hold } = this.#options;
        const isLast = this.#instant === this.#times.at(-1);
        this.#dwelling = ((frameMilliseconds * this.#pace) / speed) * (isLast ? hold : 1);
        this.#dueAt = performance.now() + this.#dwelling;
    }

    #dispatchTime() {
        /** @type {TimeDetail} */
        const detail = {
            time: this.#instant, index: this.#times.findIndex((time) => time === this.#instant),
            live: this.#instant === this.#live,
        };
        this.dispatchEvent(new CustomEvent("time", { detail }));
    }

    #dispatchState() {
        const detail = { playing: this.#playing, waiting: this.#waiting };
        for (const part of this.#parts) part[DISPATCH_STATE](detail);
        this.dispatchEvent(new CustomEvent("state", { detail }));
    }
}
