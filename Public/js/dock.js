// @ts-check
// The timeline at the lower edge of the map. While it is open, its player controls the map. The dock stores no time: it
// reports each new instant to `moved`, and displays the instant that `show` receives.
import { keyHeaders } from "./api-key.js";
import { ABOVE_PICTURES } from "./basemap.js";
import { byId, element, onPageKey, setText } from "./dom.js";
import { contact } from "./contact.js";
import { age, dateTime, localTime } from "./format.js";
import { showsField } from "./layers.js";
import { now } from "./server.js";
import { styleOf } from "./styles.js";
import { filters } from "./view.js";

/** The spans of SPAN_IDS: text, start, end and number of frames. A live frame within has room between the round times.
 * The last one uses the server's settings.
 * @type {[id: string, text: string, start: string | null, end: string | null, frames: number | null][]} */
const SPANS = [
    ["-1h", "last 1 h", "-1h", "now", 13], ["-2h", "last 2 h", "-2h", "now", 13],
    ["-6h", "last 6 h", "-6h", "now", 19], ["-24h", "last 24 h", "-24h", "now", 13],
    ["+2h", "± 2 h", "-2h", "+2h", 19], ["-2h+6h", "−2/+6 h", "-2h", "+6h", 19],
    ["+6h", "next 6 h", "now", "+6h", 13], ["+18h", "next 18 h", "now", "+18h", 19],
    ["server", "default", null, null, null],
];
const DEFAULT_SPAN = "-2h";
/** The default with a field, because fields are computed for hours ahead. */
const FIELD_SPAN = "-2h+6h";
const SPEEDS = [0.5, 1, 2, 4];
const scrubber = byId("scrubber", HTMLInputElement);
const span = byId("span", HTMLSelectElement);
const speed = byId("speed", HTMLSelectElement);
const play = byId("play");

/** @typedef {{
 *     changed: () => void, moved: (time: number | null) => void, toLive: () => void, attribution: () => string,
 *     chosen: (span: string) => void,
 * }} Callbacks
 * @typedef {import("./picture-state.js").PictureState} Moment */

export class Dock {
    #map;
    #view;
    #callbacks;
    /** @type {import("../timeline/player.js").TimelinePlayer | null} */
    #player = null;
    /** @type {import("../timeline/maplibre-canvas.js").MapLibreCanvasFrames | null} */
    #adapter = null;
    /** What the player's frames show.
     * @type {import("./frame-views.js").FrameViews | null} */
    #frames = null;
    /** Counts openings, so that an outdated one does not open a player. */
    #opening = 0;
    /** Chooses the first instant when frames arrive; null once the player has started.
     * @type {((times: number[]) => number) | null} */
    #start = null;
    #isWaiting = false;
    #isLeaving = false;
    /** @type {string | null} */
    #problem = null;
    /** Loaded after the first picture.
     * @type {import("./timeline-marks.js").TimelineMarks | null} */
    #marks = null;
    #speed = 1;
    #isScrubbing = false;
    /** `view` returns the current view. `moved` receives the chosen instant. `changed` is called after any change.
     * @param {maplibregl.Map} map
     * @param {() => Billow.View} view
     * @param {Callbacks} callbacks */
    constructor(map, view, callbacks) {
        this.#map = map;
        this.#view = view;
        this.#callbacks = callbacks;
        span.append(...SPANS.map(([value, text]) => element("option", { value }, text)));
        speed.append(...SPEEDS.map((value) => element("option", { value }, `${value}×`)));
        speed.value = "1";
        play.addEventListener("click", () => (this.#isRunning ? this.#player?.pause() : this.#play()));
        scrubber.addEventListener("input", () => this.#scrub());
        byId("step-back").addEventListener("click", () => this.#step(-1));
        byId("step-forward").addEventListener("click", () => this.#step(1));
        span.addEventListener("change", () => this.#callbacks.chosen(span.value));
        speed.addEventListener("change", () => {
            this.#speed = Number(speed.value);
            if (this.#player) this.#player.speed = this.#speed;
        });
        byId("to-live").addEventListener("click", () => this.#callbacks.toLive());
        onPageKey((event) => this.#key(event));
    }

    /** The frame on the map, or null if the timeline shows none.
     * @returns {Billow.Frame | null} */
    get shown() {
        const frame = this.#player?.shown;
        return frame && this.#frames ? {
            ...frame, ready: frame.ready && !this.#isLeaving, playing: this.#isRunning,
            view: this.#frames.at(frame.url),
        } : null;
    }

    /** The tiles of the frame on the map, or null if the timeline shows none.
     * @returns {import("./missing-areas.js").TileStates | null} */
    get states() { return this.#player?.shown && this.#adapter ? this.#adapter.states : null; }
    /** True while the requested frame is not on the map yet. */
    get isBusy() { return this.#player !== null && this.shown?.ready !== true; }
    /** True while the timeline controls the map. */
    get isOpen() { return this.#player !== null && !this.#isLeaving; }
    /** True while the last frame stays until a picture replaces it. */
    get isLeaving() { return this.#isLeaving; }
    /** True while a chosen frame waits for the timeline. */
    get isStarting() { return this.#start !== null; }
    get problem() { return this.#problem; }
    get #isRunning() { return (this.#player?.isPlaying ?? false) && !this.#isLeaving; }

    /** Applies the view's span, filters and layers, and continues playing. */
    refilter() {
        this.#change();
        if (this.#marks) this.describe();
    }

    refresh() {
        // A new field reaches further ahead.
        if (this.isOpen) {
            this.#frames?.loadExtents(this.#view(), 0).then(() => this.isOpen ? this.#player?.refresh() : undefined);
        }
        if (this.#marks) this.describe();
    }

    /** Draws the marks of the frames, hours and layers. */
    async describe() {
        const marks = await this.#loadMarks();
        const parameters = { ...this.#parameters(), ...this.range };
        // Without them the timeline still works, and the next refresh requests them again.
        await marks.load(this.#view().layers, parameters, () => this.isOpen).catch(() => {});
        this.#callbacks.changed();
    }

    async #loadMarks() {
        const { TimelineMarks } = await import("./timeline-marks.js");
        return (this.#marks ??= new TimelineMarks(() => this.#scrub()));
    }

    /** Stops controlling the map. The last frame stays until `end`, so that a picture can replace it. */
    leave() {
        this.#opening += 1;
        this.#start = null;
        if (!this.#player) return;
        this.#isLeaving = true;
        this.#problem = null;
        this.#player.pause();
        if (!this.#player.shown) this.end();
        this.#callbacks.changed();
    }

    /** Keeps the frame on the map instead of the chosen one. Returns false if the timeline shows none. */
    stay() {
        const { shown } = this.#player ?? {};
        if (!shown) this.leave();
        else {
            this.#isLeaving = false;
            this.#player?.goTo(shown.time);
        }
        return Boolean(shown);
    }

    end() {
        this.#player?.destroy();
        this.#player = this.#adapter = this.#frames = null;
        this.#start = null;
        this.#isLeaving = this.#isWaiting = false;
    }

    /** The options of the player for the view at this moment. */
    #request() {
        this.#frames?.request(this.#view());
        return { layer: this.#view().layers.join(), parameters: this.#parameters(), ...this.range };
    }

    #parameters() {
        const given = filters(this.#view());
        const names = ["hours", "minAltitude", "maxAltitude", "minSeverity", "severity", "category", "source"];
        return {
            ...Object.fromEntries(names.map((name) => [name, given.get(name)])), style: styleOf(this.#view()).id,
            counts: "true", size: "512",
        };
    }

    get #span() { return this.#view().span ?? (showsField(this.#view()) ? FIELD_SPAN : DEFAULT_SPAN); }

    /** The start, end and number of frames of the view's span. */
    get range() {
        const [, , start = null, end = null, intervals = null] = SPANS.find(([id]) => id === this.#span) ?? [];
        return { start, end, intervals: this.#view().frames ?? intervals };
    }

    /** Returns the player. The first call creates it; no frame is loaded before.
     * @param {(times: number[]) => number} start  chooses the first instant */
    async #open(start) {
        this.#isLeaving = false;
        if (this.#player) {
            const { times } = this.#player;
            if (times.length) this.#player.goTo(start(times));
            else this.#start = start;
            return this.#player;
        }
        this.#start = start;
        const opening = ++this.#opening;
        const [{ MapLibreCanvasFrames }, { TimelinePlayer }, { FrameViews }] = await Promise.all([
            import("../timeline/maplibre-canvas.js"), import("../timeline/player.js"), import("./frame-views.js"),
            this.#loadMarks(),
        ]);
        const frames = new FrameViews(this.#view());
        await frames.loadExtents(this.#view());
        if (opening !== this.#opening) return null;
        const scale = devicePixelRatio > 1 ? "@2x.png" : ".png";
        const adapter = new MapLibreCanvasFrames(this.#map, {
            before: ABOVE_PICTURES, address: (url) => url.replace(".png", scale),
            attribution: this.#callbacks.attribution(), parts: (url) => frames.partsOf(url), headers: keyHeaders,
        });
        if (opening !== this.#opening) return null;
        this.#adapter = adapter;
        this.#frames = frames;
        const player = (this.#player = new TimelinePlayer(adapter, {
            ...this.#request(), speed: this.#speed, anchor: true, headers: keyHeaders,
        }));
        for (const name of ["manifest", "frame", "state", "progress", "problem"]) {
            player.addEventListener(name, (event) => {
                if (player === this.#player) this.#onPlayerEvent(name, /** @type {CustomEvent} */ (event).detail);
            });
        }
        this.#callbacks.changed();
        await player.load();
        return this.#player === player ? player : null;
    }

    /** @param {string} name
     * @param {any} detail */
    #onPlayerEvent(name, detail) {
        if (name === "frame" && this.#start) {
            // The player starts at the newest frame, but the user chose another one.
            const start = this.#start;
            this.#start = null;
            return this.#player?.goTo(start(this.#player.times));
        }
        if (name === "frame" && !this.#isLeaving) this.#callbacks.moved(detail.live ? null : detail.time);
        if (name === "state") this.#isWaiting = detail.waiting;
        if (name === "state" && !detail.playing && !this.#isLeaving) this.#reportTime();
        if (name === "problem") this.#problem = detail;
        if (name === "manifest") {
            this.#frames?.note(detail, this.#player?.shown?.url);
            this.#marks?.showFrames(detail);
        }
        if (name === "progress") this.#marks?.showReady(detail.ready);
        this.#callbacks.changed();
    }

    /** Reports the instant of the frame on the map when playing pauses. */
    #reportTime() {
        const shown = this.#player?.shown;
        if (shown) this.#callbacks.moved(shown.live ? null : shown.time);
    }

    async #play() {
        const { time } = this.#view();
        const player = await this.#open((times) =>
            time !== null && time >= times[0] && time < times[times.length - 1] ? time : times[0]);
        if (player && !this.#isLeaving) player.play();
    }

    async #scrub() {
        this.#player?.pause();
        // The thumb is at that frame already.
        if (this.#marks?.choose() === false) return;
        const place = Number(scrubber.value) / Number(scrubber.max);
        this.#isScrubbing = true;
        await this.#open((times) => this.#marks?.frameNear(times, place) ?? times[0]);
        this.#isScrubbing = false;
        this.#callbacks.changed();
    }

    /** @param {number} step */
    #step(step) {
        this.#player?.pause();
        // The first frame is no step back from before it.
        if (this.#marks?.isAtEnd(step)) return;
        const { time } = this.#view();
        this.#open((times) => this.#marks?.frameBeside(times, time, step) ?? times[0]);
    }

    async #change() {
        const player = this.#player;
        if (!player || this.#isLeaving) return;
        const isPlaying = player.isPlaying;
        await this.#frames?.loadExtents(this.#view());
        if (player !== this.#player || this.#isLeaving) return;
        await player.change(this.#request());
        if (isPlaying && player === this.#player && !this.#isLeaving) player.play();
        this.#callbacks.changed();
    }

    /** @param {KeyboardEvent} event */
    #key(event) {
        const target = /** @type {Element} */ (event.target);
        const interactive = "input, select, textarea, button, summary, a, [role=dialog]";
        if (target.closest(interactive) && target !== scrubber) return;
        if (event.key === " ") {
            event.preventDefault();
            play.click();
        }
    }

    /** Shows the instant of the map, and the instant that is loading.
     * @param {Moment} state
     * @param {boolean} isRefused  whether the server has no picture at the view's instant */
    show(state, isRefused) {
        const wanted = this.#view().time;
        const { time, isLive, isForecast, isBehind, incomplete, isOld, isDue } = state;
        if (span.value !== this.#span) span.value = this.#span;
        play.dataset.playing = String(this.#isRunning);
        play.setAttribute("aria-label", this.#isRunning ? "Pause" : "Play");
        Object.assign(byId("dock").dataset, { waiting: this.#isWaiting, open: this.isOpen });
        byId("to-live").hidden = wanted === null && !this.#isRunning;
        // Without contact, the live picture is not renewed. The dock then shows its time, as for an old picture, and if
        // the picture of new settings takes long.
        const isRenewed = isLive && contact.problem === null && !contact.isSilent && !isOld && !isDue;
        const text = time === null ? (isRefused ? "no picture at this time" : "not loaded yet") : [
            isRenewed ? null : isForecast ? `forecast, in ${age(time - now())}` : `${age(now() - time)} ago`,
            incomplete ? "incomplete" : null,
        ].filter(Boolean).join(", ");
        const [day, month, , clock = ""] = time === null ? [] : dateTime(time).split(" ");
        const date = time === null ? "" : `${day} ${month}${isRenewed ? ` ${clock}` : ""} · ${localTime(time)} local`;
        setText(byId("frame-time"), isRenewed ? "Live" : clock || "–");
        setText(byId("frame-age"), [date, text].filter(Boolean).join(" · "));
        const next = wanted === null ? "live" : dateTime(wanted).split(" ")[3];
        setText(byId("frame-next"), (isBehind && time !== null) || this.#isWaiting ? `loading ${next}…` : "");
        const outside = this.#isScrubbing ? "" : this.#marks?.place(wanted) ?? "";
        const added = this.#marks?.added ?? [];
        scrubber.setAttribute(
            "aria-valuetext", [
                isRenewed ? "Live" : time === null ? "" : dateTime(time), text, outside,
                added.length && `new: ${added.join(", ")}`,
            ].filter(Boolean).join(", "),
        );
    }
}
