// @ts-check
// The timeline at the lower edge of the map: play, a scrubber with a mark for every frame, the time, the speed and the
// span. While it is in use its player owns the picture; `changed` is called whenever what it shows or does has changed.
import { MapLibreFrames, TimelinePlayer } from "../timeline.js";
import { keyHeaders } from "./key.js";
import { FIRST_LINE_LAYER } from "./basemap.js";
import { byId, element } from "./dom.js";
import { age, dateTime } from "./format.js";
import { now } from "./server.js";
import { filters } from "./view.js";

/** How far back, in words, and how many frames that gives: 5, 10, 20 and 120 minutes apart; and the timeline that the
 * server's settings name.
 * @type {[value: string, text: string, frames: number | null][]} */
const SPANS = [
    ["-1h", "1 h", 13], ["-2h", "2 h", 13], ["-6h", "6 h", 19], ["-24h", "24 h", 13], ["", "server's", null],
];
const DEFAULT_SPAN = "-2h";
const SPEEDS = [0.5, 1, 2, 4];
const scrubber = byId("scrubber", HTMLInputElement);
const span = byId("span", HTMLSelectElement);
const speed = byId("speed", HTMLSelectElement);
const play = byId("play");

/** What a player says of its frame.
 * @typedef {{
 *     time: number, index: number, live: boolean, forecast: boolean, incomplete: boolean, ready: boolean,
 * }} PlayerFrame */

export class Dock {
    #map;
    #view;
    #changed;
    /** @type {TimelinePlayer | null} */
    #player = null;
    /** What the player last said of its frame.
     * @type {PlayerFrame | null} */
    #frame = null;
    #waiting = false;
    /** @type {string | null} */
    #problem = null;
    #span = DEFAULT_SPAN;
    #speed = 1;
    /** A place that was scrubbed to before there were frames, as a share of the span.
     * @type {number | null} */
    #sought = null;
    #scrubbing = false;

    /** `view` gives the present view.
     * @param {maplibregl.Map} map
     * @param {() => Billow.View} view
     * @param {() => void} changed */
    constructor(map, view, changed) {
        this.#map = map;
        this.#view = view;
        this.#changed = changed;
        span.append(...SPANS.map(([value, text]) => element("option", { value }, text)));
        span.value = DEFAULT_SPAN;
        speed.append(...SPEEDS.map((value) => element("option", { value }, `${value}×`)));
        speed.value = "1";
        play.addEventListener("click", () => (this.#player?.isPlaying ? this.#player.pause() : this.#play()));
        scrubber.addEventListener("input", () => this.#scrub(Number(scrubber.value)));
        span.addEventListener("change", () => this.#chooseSpan(span.value));
        speed.addEventListener("change", () => {
            this.#speed = Number(speed.value);
            if (this.#player) this.#player.speed = this.#speed;
        });
        byId("to-live").addEventListener("click", () => this.close());
        addEventListener("keydown", (event) => this.#key(event));
        this.#draw();
    }

    /** What is on the map, or null where the timeline is not in use.
     * @returns {Billow.Frame | null} */
    get shown() {
        if (!this.#player || !this.#frame || this.#player.currentTime === null) return null;
        const { live, forecast, incomplete } = this.#frame;
        return { time: this.#player.currentTime, live, forecast, incomplete, playing: this.#player.isPlaying };
    }

    /** True while the frame that is wanted is not on the map yet. */
    get isBusy() { return this.#player !== null && this.#frame?.ready !== true; }
    get isOpen() { return this.#player !== null; }
    get problem() { return this.#problem; }

    /** Takes in new filters and layers. */
    refilter() {
        this.#player?.change({ layer: this.#layers(), parameters: this.#parameters() }).then(() => this.#draw());
    }

    /** Asks for new frames. */
    refresh() { this.#player?.refresh(); }

    /** Gives the map back. */
    close() {
        if (!this.#player) return;
        this.#player.destroy();
        this.#player = null;
        this.#frame = null;
        this.#problem = null;
        this.#waiting = false;
        this.#sought = null;
        this.#draw();
        this.#changed();
    }

    #layers() { return this.#view().layers.join(); }

    #parameters() {
        const given = filters(this.#view());
        const names = ["hours", "minAltitude", "maxAltitude", "minSeverity"];
        return Object.fromEntries(names.map((name) => [name, given.get(name)]));
    }

    /** The player, made when it is first wanted: no frame is loaded before. */
    async #open() {
        if (this.#player) return this.#player;
        const scale = devicePixelRatio > 1 ? "@2x.png" : ".png";
        const adapter = new MapLibreFrames(
            this.#map, { before: FIRST_LINE_LAYER, address: (url) => url.replace(".png", scale) },
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
        await player.load();
        return this.#player;
    }

    #range() {
        if (this.#span === "") return { start: null, end: null, intervals: null };
        return { start: this.#span, end: "now", intervals: SPANS.find(([value]) => value === this.#span)?.[2] ?? null };
    }

    /** @param {string} name
     * @param {any} detail */
    #hear(name, detail) {
        if (name === "frame") this.#frame = detail;
        if (name === "state") this.#waiting = detail.waiting;
        if (name === "problem") this.#problem = detail;
        if (name === "manifest") this.#makeMarks(detail.frames.length);
        if (name === "manifest" && this.#sought !== null && detail.frames.length) {
            this.#player?.goToFrame(Math.round(this.#sought * (detail.frames.length - 1)));
            this.#sought = null;
        }
        if (name === "progress") this.#markReady(detail.ready);
        this.#draw();
        this.#changed();
    }

    /** @param {boolean[]} ready  one flag a frame */
    #markReady(ready) {
        for (const [place, isReady] of ready.entries()) {
            byId("marks").children[place]?.toggleAttribute("data-ready", isReady);
        }
    }

    async #play() {
        const player = await this.#open();
        // From the live frame there is only the beginning to go on to.
        if (player && player.times.length && this.#frame?.live) player.play({ from: player.times[0] ?? null });
        else player?.play();
    }

    /** @param {number} place */
    async #scrub(place) {
        this.#scrubbing = true;
        this.#player?.pause();
        const player = await this.#open();
        const count = player?.times.length ?? 0;
        // Before the first manifest the scrubber has no frames of its own: what was meant is a share of the span. Where
        // a newer request has ended the one for the first manifest, the share waits for that one's answer.
        if (player && !count) this.#sought = place / Number(scrubber.max);
        if (player && count) player.goToFrame(
            Number(scrubber.max) === count - 1 ? place : Math.round((place / Number(scrubber.max)) * (count - 1))
        );
        this.#scrubbing = false;
        this.#draw();
    }

    /** @param {string} chosen */
    #chooseSpan(chosen) {
        this.#span = chosen;
        this.#player?.change(this.#range());
    }

    /** @param {KeyboardEvent} event */
    #key(event) {
        const target = /** @type {Element} */ (event.target);
        if (target.closest("input, select, textarea, button, [role=dialog]") && target !== scrubber) return;
        if (event.key === " ") {
            event.preventDefault();
            play.click();
        }
    }

    /** @param {number} count */
    #makeMarks(count) {
        scrubber.max = String(Math.max(count - 1, 1));
        if (byId("marks").children.length !== count) byId("marks").replaceChildren(
            ...Array.from({ length: count }, () => element("span"))
        );
    }

    #draw() {
        const player = this.#player;
        const playing = player?.isPlaying ?? false;
        play.dataset.playing = String(playing);
        play.setAttribute("aria-label", playing ? "Pause" : "Play");
        byId("dock").dataset.waiting = String(this.#waiting);
        byId("to-live").hidden = player === null;
        if (!player || !this.#frame) {
            byId("frame-time").textContent = "Live";
            const words = SPANS.find(([value]) => value === this.#span)?.[1];
            byId("frame-age").textContent = this.#span === "" ? "play the server's timeline" : `play the last ${words}`;
            if (!this.#scrubbing) scrubber.value = scrubber.max;
            scrubber.setAttribute("aria-valuetext", "Live");
            return;
        }
        const { time, index, live, forecast, incomplete } = this.#frame;
        if (!this.#scrubbing) scrubber.value = String(index);
        const difference = now() - time;
        const place = live ? "newest frame" : forecast ? `in ${age(-difference)}, forecast` : `${age(difference)} ago`;
        const words = incomplete ? `${place}, incomplete` : place;
        const [day, month, , clock] = dateTime(time).split(" ");
        byId("frame-time").textContent = clock ?? "";
        byId("frame-age").textContent = `${day} ${month} · ${this.#waiting ? "loading…" : words}`;
        scrubber.setAttribute("aria-valuetext", `${dateTime(time)}, ${words}`);
    }
}
