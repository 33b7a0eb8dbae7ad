// @ts-check
// Plays the frames of a manifest.

import { TimelinePart } from "./part.js";
import { CHANGED, IS_SETTLED, JOIN, LEAVE, LIVE_TIME, PREPARE, SAY, STATE_AT, WANT, indexAt } from "./protocol.js";
import { limited, words } from "./request.js";

/** A layer of the manifest.
 * @typedef {{
 *     id: string, frames: { time: string, tiles: string, forecast?: boolean, incomplete?: boolean }[],
 * }} ManifestLayer
 *
 * A frame by its template of tiles.
 * @typedef {{ time: number, url: string, forecast: boolean, incomplete: boolean, live: boolean }} Frame
 *
 * What puts frames on a map. A handle is what `add` gave.
 * @typedef {{
 *     add(url: string, manifest: ManifestLayer | null): any, isReady(handle: any): boolean, hasFailed(handle: any):
 * boolean,
 *     show(handle: any, previous: any): void, remove(handle: any): void,
 * }} FrameAdapter
 *
 * What a page may change of a player while it runs.
 * @typedef {{
 *     layer?: string, start?: string | null, end?: string | null, intervals?: number | null, anchor?: boolean | null,
 *     parameters?: import("./part.js").Parameters,
 * }} PlayerChange
 *
 * @typedef {import("./clock.js").ClockOptions} ClockOptions
 * @typedef {PlayerChange & ClockOptions & {
 *     url?: string, clock?: import("./clock.js").TimelineClock, ahead?: number, keep?: number,
 *     headers?: import("./part.js").Headers, events?: string | null,
 * }} PlayerOptions
 *
 * @typedef {import("./protocol.js").Readiness} Readiness */

/** A manifest is asked for again this long after the last, where no event came sooner. */
const POLL_MILLISECONDS = 15_000;
/** Events come in bursts; one new manifest a second is enough. */
const EVENT_PAUSE_MILLISECONDS = 1_000;

/** The frames of a layer, or of several in one picture. */
export class TimelinePlayer extends TimelinePart {
    #adapter;
    #options;
    /** @type {ManifestLayer | null} */
    #manifest = null;
    /** Oldest first.
     * @type {Frame[]} */
    #frames = [];
    /** By a frame's address.
     * @type {Map<string, { handle: any }>} */
    #slots = new Map();
    /** @type {{ frame: Frame, slot: { handle: any } } | null} */
    #shown = null;
    #index = -1; // the frame that is wanted
    /** @type {number | undefined} */
    #poller;
    /** @type {EventSource | null} */
    #events = null;
    /** @type {AbortController | null} */
    #request = null;
    #progress = "";
    #ended = false;

    /** `adapter` puts frames on a map: MapLibreFrames, LeafletFrames, or anything with their five methods.
     *
     *   url            the manifest's address, "timeline.json"
     *   layer          which of its layers, "hexagons"; or several laid over each other, the lowest first:
     * "hexagons,traffic"
     *   start, end     offsets ("-2h", "now") or ISO 8601 instants; both left out: round UTC times and a live frame
     *   intervals      at most so many frames
     *   anchor         true: on round UTC times between start, now and end, so that most stay the same from minute to
     * minute
     *   parameters     filters and style of the pictures: {hours: 2, minSeverity: 3}
     *   clock          a TimelineClock, to play along with others; then it has these four:
     *   frameMilliseconds, hold, loops, speed   as of a TimelineClock
     *   ahead          how many frames load at once, 4
     *   keep           the most frames whose tiles are kept, 60
     *   headers        what requests for the manifest need besides, as a function: () => ({ "X-API-Key": key })
     *   events         the address of the server's events, to follow the live edge at once; null: ask every 15 s
     * @param {FrameAdapter} adapter
     * @param {PlayerOptions} options */
    constructor(adapter, options = {}) {
        super(options);
        this.#adapter = adapter;
        /** @type {Required<Omit<PlayerOptions, "clock" | keyof ClockOptions>>} */
        this.#options = {
            url: "timeline.json", layer: "hexagons", start: null, end: null, intervals: null, anchor: null,
            parameters: {},
            ahead: 4, keep: 60, headers: () => ({}), events: null, ...options,
        };
        this.clock[JOIN](this);
    }

    // What it knows

    /** The layer's part of the manifest, or null before the first. */
    get manifest() { return this.#manifest; }
    /** The instants of the frames, oldest first. */
    get times() { return this.#frames.map((frame) => frame.time); }
    /** The instant of the frame on the map; null before the first. Read only: see `goTo`. */
    get currentTime() { return this.#shown?.frame.time ?? null; }
    /** The frame on the map, which is not the wanted one while that one's tiles load; null before the first. */
    get shown() {
        if (!this.#shown) return null;
        const { time, live, forecast, incomplete } = this.#shown.frame;
        return { time, live, forecast, incomplete, ready: this.#shown.frame.url === this.#wanted?.url };
    }
    get isPlaying() { return this.clock.isPlaying; }
    get speed() { return this.clock.speed; }
    set speed(speed) { this.clock.speed = speed; }

    // What it is told

    /** Asks for the manifest and shows the newest frame, or stays where it is. Resolves when the manifest is in. */
    async load() {
        await this.#refresh();
        this.#follow();
    }

    /** Asks for the manifest now: for pages that hear by themselves that there is something new. */
    async refresh() { await this.#refresh(); }

    /** Plays on from where it is, or from the frame at an instant; at the end it begins again.
     * @param {{ from?: number | null }} options */
    play(options = {}) { this.clock.play(options); }

    pause() { this.clock.pause(); }

    /** Shows the newest frame at or before an instant; one outside the timeline is brought to its nearer end.
     * @param {number} instant */
    goTo(instant) { this.clock.goTo(instant); }

    /** Shows a frame by its place.
     * @param {number} index */
    goToFrame(index) {
        const frame = this.#frames[Math.min(Math.max(index, 0), this.#frames.length - 1)];
        if (frame) this.goTo(frame.time);
    }

    /** Changes {start, end, intervals, anchor, parameters, layer}: stops playing, and loads only what is not the same
     * as before.
     * @param {PlayerChange} difference */
    async change(difference) {
        this.pause();
        Object.assign(this.#options, difference);
        await this.#refresh();
    }

    /** Takes every frame off the map and lets go of everything. */
    destroy() {
        this.pause();
        this.#ended = true;
        clearTimeout(this.#poller);
        this.#events?.close();
        this.#request?.abort();
        for (const { handle } of this.#slots.values()) this.#adapter.remove(handle);
        this.#slots.clear();
        this.#shown = null;
        this.#frames = [];
        this.clock[LEAVE](this);
    }

    // What its clock asks

    [LIVE_TIME]() { return this.#frames.find(({ live }) => live)?.time ?? null; }

    /** @param {number} instant */
    [WANT](instant) {
        if (!this.#frames.length) return;
        this.#index = indexAt(this.times, instant);
        this[SAY]("frame", this.#detail());
    }

    [PREPARE](/** @type {number} */ _moment) {
        const wanted = this.#wanted;
        if (this.#ended || !wanted) return;
        this.#preload();
        const slot = this.#slots.get(wanted.url);
        if (slot && slot !== this.#shown?.slot && this.#isReady(slot)) this.#show(slot);
        this.#reportProgress();
    }

    /** A player without frames holds nobody up.
     * @param {number} instant
     * @returns {Readiness} */
    [STATE_AT](instant) {
        const frame = this.#frames[indexAt(this.times, instant)];
        if (!frame) return "ready";
        const { url } = frame;
        if (this.#hasFailed(url)) return "failed";
        const slot = this.#slots.get(url);
        return slot && this.#isReady(slot) ? "ready" : "loading";
    }

    [IS_SETTLED]() {
        const wanted = this.#wanted;
        if (this.#ended || !wanted) return true;
        const slot = this.#slots.get(wanted.url);
        return slot === this.#shown?.slot && this.#frames.every(({ url }) => this.#isSettled(url));
    }

    // The manifest

    async #refresh() {
        this.#request?.abort();
        const abort = (this.#request = new AbortController());
        try {
            const { url, layer, start, end, intervals, anchor, parameters, headers } = this.#options;
            const address = new URL(url, document.baseURI);
            address.searchParams.set("layers", layer);
            // Several are one picture, whose frames the server names.
            if (layer.includes(",")) address.searchParams.set("composed", "true");
            for (const [name, value] of Object.entries({ start, end, intervals, anchor, ...parameters })) {
                if (value !== null && value !== undefined) address.searchParams.set(name, String(value));
            }
            const { response, body } = await limited(abort.signal, async (signal) => {
                const response = await fetch(address, { signal, cache: "no-cache", headers: headers() });
                return { response, body: await response.json() };
            });
            if (!response.ok) throw new Error(body.detail ?? `${response.status}`);
            /** @type {ManifestLayer[]} */
            const layers = body.layers;
            const found = layers.find(({ id }) => id === layer);
            if (!found) throw new Error(`the manifest has no layer ${layer}`);
            this.#take(found);
            this[SAY]("problem", null);
        } catch (error) {
            // Replaced by a newer request, or ended: nobody asks any more.
            if (abort !== this.#request || this.#ended) return;
            this[SAY]("problem", words(error));
        }
    }

    /** @param {ManifestLayer} layer */
    #take(layer) {
        this.#manifest = layer;
        // Times to come follow the newest of what is known.
        const last = layer.frames.findLastIndex(({ forecast }) => forecast !== true);
        this.#frames = layer.frames.map((frame, place) => ({
            time: Date.parse(frame.time), url: frame.tiles, forecast: frame.forecast === true,
            incomplete: frame.incomplete === true, live: place === last,
        }));
        const urls = new Set(this.#frames.map(({ url }) => url));
        // The same picture may be known better now: no longer the live one, say.
        const same = this.#frames.find(({ url }) => url === this.#shown?.frame.url);
        if (this.#shown && same) this.#shown.frame = same;
        for (const [url, slot] of this.#slots) {
            // What is on the map stays there until something takes its place. What failed is tried again.
            if ((!urls.has(url) || this.#hasFailed(url)) && slot !== this.#shown?.slot) this.#drop(url);
        }
        this[SAY]("manifest", layer);
        this.clock[CHANGED]();
    }

    #follow() {
        if (this.#ended) return;
        /** @param {number} milliseconds */
        const later = (milliseconds) => {
            clearTimeout(this.#poller);
            this.#poller = setTimeout(async () => {
                // A page that nobody sees asks for nothing.
                try {
                    if (document.visibilityState !== "hidden") await this.#refresh();
                } finally {
                    if (!this.#ended) later(POLL_MILLISECONDS);
                }
            }, milliseconds);
        };
        later(POLL_MILLISECONDS);
        if (!this.#options.events) return;
        this.#events = new EventSource(new URL(this.#options.events, document.baseURI));
        this.#events.addEventListener("data", () => later(EVENT_PAUSE_MILLISECONDS));
    }

    // Frames on the map

    get #wanted() { return this.#frames[this.#index]; }

    /** @param {{ handle: any }} slot */
    #show(slot) {
        const before = this.#shown;
        const frame = this.#wanted;
        if (!frame) return;
        this.#adapter.show(slot.handle, before?.slot.handle ?? null);
        this.#shown = { frame, slot };
        if (before && !this.#frames.some(({ url }) => url === before.frame.url)) this.#drop(before.frame.url);
        this[SAY]("frame", this.#detail());
    }

    /** Begins to load what comes next, a few at a time: the wanted frame first, then those after it, around the
     * loop. */
    #preload() {
        const count = this.#frames.length;
        let loading = [...this.#slots.values()].filter(
            (slot) => !this.#isReady(slot) && !this.#adapter.hasFailed(slot.handle)
        ).length;
        for (let step = 0; step < Math.min(count, this.#options.keep) && loading < this.#options.ahead; step += 1) {
            const { url } = /** @type {Frame} */ (this.#frames[(this.#index + step) % count]);
            if (this.#slots.has(url)) continue;
            this.#makeRoom();
            this.#slots.set(url, { handle: this.#adapter.add(url, this.#manifest) });
            loading += 1;
        }
    }

    /** Lets go of the frame that is played last from here, where there are too many. */
    #makeRoom() {
        if (this.#slots.size < this.#options.keep) return;
        const count = this.#frames.length;
        for (let step = count - 1; step > 0; step -= 1) {
            const { url } = /** @type {Frame} */ (this.#frames[(this.#index + step) % count]);
            if (this.#slots.has(url) && this.#slots.get(url) !== this.#shown?.slot) return this.#drop(url);
        }
    }

    /** @param {string} url */
    #drop(url) {
        const slot = this.#slots.get(url);
        if (!slot) return;
        this.#adapter.remove(slot.handle);
        this.#slots.delete(url);
    }

    /** @param {{ handle: any } | undefined} slot */
    #isReady(slot) {
        return slot !== undefined && !this.#adapter.hasFailed(slot.handle) && this.#adapter.isReady(slot.handle);
    }

    /** @param {string} url */
    #hasFailed(url) {
        const slot = this.#slots.get(url);
        return slot !== undefined && this.#adapter.hasFailed(slot.handle);
    }

    /** @param {string} url */
    #isSettled(url) {
        return this.#hasFailed(url) || this.#isReady(this.#slots.get(url)) || this.#slots.size >= this.#options.keep;
    }

    #reportProgress() {
        const ready = this.#frames.map(({ url }) => this.#isReady(this.#slots.get(url)));
        const text = ready.join();
        if (text === this.#progress) return;
        this.#progress = text;
        this[SAY]("progress", { ready });
    }

    #detail() {
        const { time, live, forecast, incomplete, url } = /** @type {Frame} */ (this.#wanted);
        return { time, index: this.#index, live, forecast, incomplete, ready: this.#shown?.frame.url === url };
    }
}
