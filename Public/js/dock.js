// The timeline at the lower edge of the map: play, a scrubber with a mark for every frame, the time, the speed and the span.
// While it is in use its player owns the picture; `changed` is called whenever what it shows or does has changed.
import { MapLibreFrames, TimelinePlayer } from "../timeline.js";
import { keyHeaders } from "./key.js";
import { FIRST_LINE_LAYER } from "./basemap.js";
import { element } from "./dom.js";
import { age, dateTime } from "./format.js";
import { now } from "./server.js";
import { filters } from "./view.js";

/** How far back, in words, and how many frames that gives: 5, 10, 20 and 120 minutes apart; and the timeline that the server's
 * settings name. */
const SPANS = [["-1h", "1 h", 13], ["-2h", "2 h", 13], ["-6h", "6 h", 19], ["-24h", "24 h", 13], ["", "server's", null]];
const DEFAULT_SPAN = "-2h";
const SPEEDS = [0.5, 1, 2, 4];
const byId = (id) => document.getElementById(id);

export class Dock {
    #map;
    #view;
    #changed;
    #player = null;
    #frame = null; // what the player last said of its frame
    #waiting = false;
    #problem = null;
    #span = DEFAULT_SPAN;
    #speed = 1;
    #scrubbing = false;

    /** `view` gives the present view. */
    constructor(map, view, changed) {
        this.#map = map;
        this.#view = view;
        this.#changed = changed;
        byId("span").append(...SPANS.map(([value, text]) => element("option", { value }, text)));
        byId("span").value = DEFAULT_SPAN;
        byId("speed").append(...SPEEDS.map((value) => element("option", { value }, `${value}×`)));
        byId("speed").value = 1;
        byId("play").addEventListener("click", () => (this.#player?.isPlaying ? this.#player.pause() : this.#play()));
        byId("scrubber").addEventListener("input", () => this.#scrub(Number(byId("scrubber").value)));
        byId("span").addEventListener("change", () => this.#chooseSpan(byId("span").value));
        byId("speed").addEventListener("change", () => {
            this.#speed = Number(byId("speed").value);
            if (this.#player) this.#player.speed = this.#speed;
        });
        byId("to-live").addEventListener("click", () => this.close());
        addEventListener("keydown", (event) => this.#key(event));
        this.#draw();
    }

    /** What is on the map: {time, live, forecast, playing}, or null where the timeline is not in use. */
    get shown() {
        if (!this.#player || this.#player.currentTime === null) return null;
        const { live, forecast, incomplete } = this.#frame;
        return { time: this.#player.currentTime, live, forecast, incomplete, playing: this.#player.isPlaying };
    }

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
        this.#draw();
        this.#changed();
    }

    #layers() { return this.#view().layers.join(); }

    #parameters() {
        const { hours = null, minAltitude = null, maxAltitude = null, minSeverity = null } = Object.fromEntries(filters(this.#view()));
        return { hours, minAltitude, maxAltitude, minSeverity };
    }

    /** The player, made when it is first wanted: no frame is loaded before. */
    async #open() {
        if (this.#player) return this.#player;
        const scale = devicePixelRatio > 1 ? "@2x.png" : ".png";
        const adapter = new MapLibreFrames(this.#map, { before: FIRST_LINE_LAYER, address: (url) => url.replace(".png", scale) });
        const player = (this.#player = new TimelinePlayer(adapter, {
            layer: this.#layers(), parameters: this.#parameters(), speed: this.#speed, anchor: true,
            headers: keyHeaders, ...this.#range(),
        }));
        for (const name of ["manifest", "frame", "state", "progress", "problem"]) {
            player.addEventListener(name, ({ detail }) => player === this.#player && this.#hear(name, detail));
        }
        await player.load();
        return this.#player;
    }

    #range() {
        if (this.#span === "") return { start: null, end: null, intervals: null };
        return { start: this.#span, end: "now", intervals: SPANS.find(([value]) => value === this.#span)[2] };
    }

    #hear(name, detail) {
        if (name === "frame") this.#frame = detail;
        if (name === "state") this.#waiting = detail.waiting;
        if (name === "problem") this.#problem = detail;
        if (name === "manifest") this.#makeMarks(detail.frames.length);
        if (name === "progress") for (const [place, ready] of detail.ready.entries()) byId("marks").children[place]?.toggleAttribute("data-ready", ready);
        this.#draw();
        this.#changed();
    }

    async #play() {
        const player = await this.#open();
        // From the live frame there is only the beginning to go on to.
        if (player && player.times.length && this.#frame?.live) player.play({ from: player.times[0] });
        else player?.play();
    }

    async #scrub(place) {
        this.#scrubbing = true;
        this.#player?.pause();
        const player = await this.#open();
        const count = player?.times.length ?? 0;
        // Before the first manifest the scrubber has no frames of its own: what was meant is a share of the span.
        if (count) player.goToFrame(Number(byId("scrubber").max) === count - 1 ? place : Math.round((place / Number(byId("scrubber").max)) * (count - 1)));
        this.#scrubbing = false;
        this.#draw();
    }

    #chooseSpan(span) {
        this.#span = span;
        this.#player?.change(this.#range());
    }

    #key(event) {
        if (event.target.closest("input, select, textarea, button, [role=dialog]") && event.target.id !== "scrubber") return;
        if (event.key === " ") {
            event.preventDefault();
            byId("play").click();
        }
    }

    #makeMarks(count) {
        const scrubber = byId("scrubber");
        scrubber.max = Math.max(count - 1, 1);
        if (byId("marks").children.length !== count) byId("marks").replaceChildren(...Array.from({ length: count }, () => element("span")));
    }

    #draw() {
        const player = this.#player;
        const playing = player?.isPlaying ?? false;
        const play = byId("play");
        play.dataset.playing = playing;
        play.setAttribute("aria-label", playing ? "Pause" : "Play");
        byId("dock").dataset.waiting = this.#waiting;
        byId("to-live").hidden = player === null;
        const scrubber = byId("scrubber");
        if (!player || !this.#frame) {
            byId("frame-time").textContent = "Live";
            const words = SPANS.find(([value]) => value === this.#span)[1];
            byId("frame-age").textContent = this.#span === "" ? "play the server's timeline" : `play the last ${words}`;
            if (!this.#scrubbing) scrubber.value = scrubber.max;
            scrubber.setAttribute("aria-valuetext", "Live");
            return;
        }
        const { time, index, live, forecast, incomplete } = this.#frame;
        if (!this.#scrubbing) scrubber.value = index;
        const difference = now() - time;
        const place = live ? "newest frame" : forecast ? `in ${age(-difference)}, forecast` : `${age(difference)} ago`;
        const words = incomplete ? `${place}, incomplete` : place;
        const [day, month, , clock] = dateTime(time).split(" ");
        byId("frame-time").textContent = clock;
        byId("frame-age").textContent = `${day} ${month} · ${this.#waiting ? "loading…" : words}`;
        scrubber.setAttribute("aria-valuetext", `${dateTime(time)}, ${words}`);
    }
}
