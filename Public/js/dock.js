// @ts-check
// The timeline at the lower edge of the map. While it is in use its player owns the map. It keeps no time of its own:
// what it goes to it tells `moved`, and what it shows it is told by `show`.
import { MapLibreFrames, TimelinePlayer } from "../timeline.js";
import { keyHeaders } from "./key.js";
import { FIRST_NAME_LAYER } from "./basemap.js";
import { byId, element, setText } from "./dom.js";
import { age, dateTime, localTime } from "./format.js";
import { now } from "./server.js";
import { styleOf } from "./styles.js";
import { filters } from "./view.js";

/** From when to when, in words, and how many frames that gives; at last the timeline that the server's settings name.
 * @type {[id: string, text: string, start: string | null, end: string | null, frames: number | null][]} */
const SPANS = [
    ["-1h", "last 1 h", "-1h", "now", 13], ["-2h", "last 2 h", "-2h", "now", 13],
    ["-6h", "last 6 h", "-6h", "now", 19], ["-24h", "last 24 h", "-24h", "now", 13],
    ["+2h", "± 2 h", "-2h", "+2h", 17], ["+6h", "next 6 h", "now", "+6h", 13], ["", "server's", null, null, null],
];
const DEFAULT_SPAN = "-2h";
const SPEEDS = [0.5, 1, 2, 4];
const scrubber = byId("scrubber", HTMLInputElement);
const span = byId("span", HTMLSelectElement);
const speed = byId("speed", HTMLSelectElement);
const play = byId("play");

/** @typedef {{ changed: () => void, moved: (time: number | null) => void, toLive: () => void }} Told
 * @typedef {import("./moment.js").Moment} Moment */

export class Dock {
    #map;
    #view;
    #told;
    /** @type {TimelinePlayer | null} */
    #player = null;
    /** Where to begin once there are frames; null where it has begun.
     * @type {((times: number[]) => number) | null} */
    #start = null;
    #isWaiting = false;
    #isLeaving = false;
    /** @type {string | null} */
    #problem = null;
    #span = DEFAULT_SPAN;
    #speed = 1;
    #isScrubbing = false;

    /** `view` gives the present view. `moved` hears which instant is wanted, `changed` that anything has changed.
     * @param {maplibregl.Map} map
     * @param {() => Billow.View} view
     * @param {Told} told */
    constructor(map, view, told) {
        this.#map = map;
        this.#view = view;
        this.#told = told;
        span.append(...SPANS.map(([value, text]) => element("option", { value }, text)));
        span.value = DEFAULT_SPAN;
        speed.append(...SPEEDS.map((value) => element("option", { value }, `${value}×`)));
        speed.value = "1";
        play.addEventListener("click", () => (this.#isRunning ? this.#player?.pause() : this.#play()));
        scrubber.addEventListener("input", () => this.#scrub(Number(scrubber.value) / Number(scrubber.max)));
        byId("step-back").addEventListener("click", () => this.#step(-1));
        byId("step-forward").addEventListener("click", () => this.#step(1));
        span.addEventListener("change", () => this.#chooseSpan(span.value));
        speed.addEventListener("change", () => {
            this.#speed = Number(speed.value);
            if (this.#player) this.#player.speed = this.#speed;
        });
        byId("to-live").addEventListener("click", () => this.#told.toLive());
        addEventListener("keydown", (event) => this.#key(event));
    }

    /** The frame on the map, or null where the timeline shows none.
     * @returns {Billow.Frame | null} */
    get shown() {
        const frame = this.#player?.shown;
        return frame ? { ...frame, ready: frame.ready && !this.#isLeaving, playing: this.#isRunning } : null;
    }

    /** True while the frame that is wanted is not on the map yet. */
    get isBusy() { return this.#player !== null && this.shown?.ready !== true; }
    /** True while the map is the timeline's. */
    get isOpen() { return this.#player !== null && !this.#isLeaving; }
    /** True while its frame only waits for the picture that takes its place. */
    get isLeaving() { return this.#isLeaving; }
    get problem() { return this.#problem; }
    get #isRunning() { return (this.#player?.isPlaying ?? false) && !this.#isLeaving; }

    /** Takes in new filters and layers, and goes on playing. */
    refilter() { this.#change({ layer: this.#layers(), parameters: this.#parameters() }); }

    /** Asks for new frames. */
    refresh() {
        if (this.isOpen) this.#player?.refresh();
    }

    /** Gives the map back. What it shows stays until `end`, when there is something to take its place. */
    leave() {
        if (!this.#player) return;
        this.#isLeaving = true;
        this.#start = null;
        this.#problem = null;
        this.#player.pause();
        if (!this.#player.shown) this.end();
        this.#told.changed();
    }

    /** Takes its frames off the map. */
    end() {
        this.#player?.destroy();
        this.#player = null;
        this.#start = null;
        this.#isLeaving = this.#isWaiting = false;
    }

    #layers() { return this.#view().layers.join(); }

    #parameters() {
        const given = filters(this.#view());
        const names = ["hours", "minAltitude", "maxAltitude", "minSeverity", "severity"];
        return {
            ...Object.fromEntries(names.map((name) => [name, given.get(name)])), style: styleOf(this.#view()).id,
        };
    }

    #range() {
        const [, , start = null, end = null, intervals = null] = SPANS.find(([id]) => id === this.#span) ?? [];
        return { start, end, intervals };
    }

    /** The player, made when it is first wanted: no frame is loaded before.
     * @param {(times: number[]) => number} start  where to begin */
    async #open(start) {
        this.#isLeaving = false;
        if (this.#player) {
            const { times } = this.#player;
            if (times.length) this.#player.goTo(start(times));
            else this.#start = start;
            return this.#player;
        }
        this.#start = start;
        const scale = devicePixelRatio > 1 ? "@2x.png" : ".png";
        const adapter = new MapLibreFrames(
            this.#map, { before: FIRST_NAME_LAYER, address: (url) => url.replace(".png", scale) },
        );
        const player = (this.#player = new TimelinePlayer(adapter, {
            layer: this.#layers(), parameters: this.#parameters(), speed: this.#speed, anchor: true,
            headers: keyHeaders, ...this.#range(),
        }));
        for (const name of ["manifest", "frame", "state", "progress", "problem"]) {
            player.addEventListener(name, (event) => {
                if (player === this.#player) this.#hear(name, /** @type {CustomEvent} */ (event).detail);
            });
        }
        this.#told.changed();
        await player.load();
        return this.#player === player ? player : null;
    }

    /** @param {string} name
     * @param {any} detail */
    #hear(name, detail) {
        if (name === "frame" && this.#start) {
            // The first frames are there. The player begins at the newest; the reader meant another place.
            const start = this.#start;
            this.#start = null;
            return this.#player?.goTo(start(this.#player.times));
        }
        if (name === "frame" && !this.#isLeaving) this.#told.moved(detail.live ? null : detail.time);
        if (name === "state") this.#isWaiting = detail.waiting;
        if (name === "state" && !detail.playing && !this.#isLeaving) this.#tellPlace();
        if (name === "problem") this.#problem = detail;
        if (name === "manifest") this.#makeMarks(detail.frames);
        if (name === "progress") this.#markReady(detail.ready);
        this.#told.changed();
    }

    /** Paused: the instant that is looked at from now on is that of the frame on the map. */
    #tellPlace() {
        const shown = this.#player?.shown;
        if (shown) this.#told.moved(shown.live ? null : shown.time);
    }

    async #play() {
        const { time } = this.#view();
        // From the live frame there is only the beginning to go on to.
        const player = await this.#open((times) =>
            time !== null && time >= times[0] && time < times[times.length - 1] ? time : times[0]);
        if (player && !this.#isLeaving) player.play();
    }

    /** @param {number} share  of the span */
    async #scrub(share) {
        this.#isScrubbing = true;
        this.#player?.pause();
        await this.#open((times) => times[Math.round(share * (times.length - 1))]);
        this.#isScrubbing = false;
        this.#told.changed();
    }

    /** @param {number} step */
    #step(step) {
        this.#player?.pause();
        const time = this.#view().time ?? Infinity;
        this.#open((times) => {
            const index = times.findLastIndex((each) => each <= time);
            // Between two frames the earlier one is a step back already.
            const isBetween = times[index] !== time && Number.isFinite(time);
            return times[Math.min(Math.max(index + step + (isBetween && step < 0 ? 1 : 0), 0), times.length - 1)];
        });
    }

    /** @param {string} chosen */
    #chooseSpan(chosen) {
        this.#span = chosen;
        this.#change(this.#range());
        this.#told.changed();
    }

    /** @param {import("../timeline/player.js").PlayerChange} difference */
    async #change(difference) {
        const player = this.#player;
        if (!player || this.#isLeaving) return;
        const isPlaying = player.isPlaying;
        await player.change(difference);
        if (isPlaying && player === this.#player && !this.#isLeaving) player.play();
        this.#told.changed();
    }

    /** @param {KeyboardEvent} event */
    #key(event) {
        const target = /** @type {Element} */ (event.target);
        const means = "input, select, textarea, button, summary, a, [role=dialog]";
        if (target.closest(means) && target !== scrubber) return;
        if (event.key === " ") {
            event.preventDefault();
            play.click();
        }
    }

    /** @param {{ time: string, forecast?: boolean, incomplete?: boolean }[]} frames */
    #makeMarks(frames) {
        scrubber.max = String(Math.max(frames.length - 1, 1));
        byId("marks").replaceChildren(...frames.map(({ forecast, incomplete }) => {
            const mark = element("span");
            mark.toggleAttribute("data-forecast", forecast === true);
            mark.toggleAttribute("data-incomplete", incomplete === true);
            return mark;
        }));
    }

    /** @param {boolean[]} ready  one flag a frame */
    #markReady(ready) {
        for (const [place, isReady] of ready.entries()) {
            byId("marks").children[place]?.toggleAttribute("data-ready", isReady);
        }
    }

    /** Where in the span an instant is, or now: from 0 to 1.
     * @param {number | null} time */
    #shareOf(time) {
        const [start, end] = [this.#range().start, this.#range().end].map((text) => parseInt(text ?? "") || 0);
        if (start === end) return 1;
        const hours = time === null ? 0 : (time - now()) / 3_600_000;
        return Math.min(Math.max((hours - start) / (end - start), 0), 1);
    }

    /** Shows the instant of the map, and what is on its way.
     * @param {Moment} moment */
    show(moment) {
        const wanted = this.#view().time;
        const { time, isLive, isForecast, isBehind, incomplete } = moment;
        play.dataset.playing = String(this.#isRunning);
        play.setAttribute("aria-label", this.#isRunning ? "Pause" : "Play");
        byId("dock").dataset.waiting = String(this.#isWaiting);
        byId("to-live").hidden = wanted === null && !this.#isRunning;
        const words = time === null ? "no picture yet" : [
            isLive ? null : isForecast ? `forecast, in ${age(time - now())}` : `${age(now() - time)} ago`,
            incomplete ? "incomplete" : null,
        ].filter(Boolean).join(", ");
        const [day, month, , clock = ""] = time === null ? [] : dateTime(time).split(" ");
        const place = time === null ? "" : `${day} ${month}${isLive ? ` ${clock}` : ""} · ${localTime(time)} local`;
        setText(byId("frame-time"), isLive ? "Live" : clock || "–");
        setText(byId("frame-age"), [place, words].filter(Boolean).join(" · "));
        const next = wanted === null ? "live" : dateTime(wanted).split(" ")[3];
        setText(byId("frame-next"), (isBehind && time !== null) || this.#isWaiting ? `loading ${next}…` : "");
        const times = this.#player?.times ?? [];
        if (!this.#isScrubbing && times.length) {
            const at = wanted === null && !this.#isRunning ? Infinity : wanted ?? time ?? Infinity;
            scrubber.value = String(Math.max(0, times.findLastIndex((each) => each <= at)));
            if (isLive && !isBehind) scrubber.value = String(times.indexOf(time ?? 0));
        } else if (!this.#isScrubbing) {
            scrubber.value = String(Math.round(this.#shareOf(wanted) * Number(scrubber.max)));
        }
        scrubber.setAttribute(
            "aria-valuetext", [isLive ? "Live" : time === null ? "" : dateTime(time), words].filter(Boolean).join(", "),
        );
    }
}
