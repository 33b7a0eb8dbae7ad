// @ts-check
// Plays the frames of a manifest.

import { TimelinePart } from "./part.js";
import { CHANGED, DISPATCH, indexAt, IS_SETTLED, JOIN, LEAVE, LIVE_TIME, PREPARE, SEEK, STATE_AT } from "./protocol.js";
import { errorText, limited } from "./request.js";

/** A layer of the manifest.
 * @typedef {{
 *     id: string, frames: { time: string, tiles: string, forecast?: boolean, incomplete?: boolean }[],
 * }} ManifestLayer */

/** A frame by its template of tiles.
 * @typedef {{ time: number, url: string, forecast: boolean, incomplete: boolean, live: boolean }} Frame */

/** The detail of the event `frame`. `ready` is false while the map still shows the previous frame.
 * @typedef {{
 *     time: number, index: number, live: boolean, forecast: boolean, incomplete: boolean, ready: boolean,
 * }} FrameDetail */

/** The detail of the event `state`.
 * @typedef {{ playing: boolean, waiting: boolean }} StateDetail */

/** Draws frames on a map. `add` returns the handle of a frame.
 * @typedef {{
 *     add(url: string, manifest: ManifestLayer | null): any, isReady(handle: any): boolean,
 *     hasFailed(handle: any): boolean, show(handle: any, previous: any): void, remove(handle: any): void,
 * }} FrameAdapter */

/** The options that a page may change while the player runs.
 * @typedef {{
 *     layer?: string, start?: string | null, end?: string | null, intervals?: number | null, anchor?: boolean | null,
 *     parameters?: import("./part.js").Parameters,
 * }} PlayerChange */

/** The options of a player; its constructor describes them.
 * @typedef {PlayerChange & import("./clock.js").ClockOptions & {
 *     url?: string, clock?: import("./clock.js").TimelineClock, ahead?: number, keep?: number,
 *     headers?: import("./part.js").Headers, events?: string | null,
 * }} PlayerOptions */

/** @typedef {import("./protocol.js").Readiness} Readiness */

/** The interval between requests of the manifest, if no event arrives earlier. */
const POLL_MILLISECONDS = 15_000;
/** Events arrive in bursts, and one new manifest per second suffices. */
const EVENT_PAUSE_MILLISECONDS = 1_000;

/** Plays the frames of a layer, or of several layers in one picture. */
export class TimelinePlayer extends TimelinePart {
    #adapter;
    #options;
    /** @type {ManifestLayer | null} */
    #manifest = null;
    /** Oldest first.
     * @type {Frame[]} */
    #frames = [];
    /** The address of a frame → its slot.
     * @type {Map<string, { handle: any }>} */
    #slots = new Map();
    /** @type {{ frame: Frame, slot: { handle: any } } | null} */
    #shown = null;
    #index = -1; // the requested frame
    /** @type {number | undefined} */
    #poller;
    /** @type {EventSource | null} */
    #events = null;
    /** @type {AbortController | null} */
    #request = null;
    #progress = "";
    #ended = false;

    /** `adapter` draws frames on a map: MapLibreFrames, LeafletFrames, or any object with their five methods.
     *
     *   url            the manifest's address, "timeline.json"
     *   layer          the layer's id, "hexagons"; or several layers over each other, the lowest first:
     *                  "hexagons,traffic"
     *   start, end     offsets ("-2h", "now") or ISO 8601 instants; without both: round UTC times and a live frame
     *   intervals      the maximum number of frames
     *   anchor         true places frames at round UTC times between start, now and end, so that most of them stay the
     *                  same from minute to minute
     *   parameters     filters and style of the pictures: {hours: 2, minSeverity: 3}; with {size: 512} a quarter of the
     *                  requests load the same pixels
     *   clock          a TimelineClock to share with other parts; it then defines these four:
     *   frameMilliseconds, hold, loops, speed   as in a TimelineClock
     *   ahead          the number of frames that load at once, 4
     *   keep           the maximum number of frames whose tiles are cached, 60
     *   headers        a function that returns further headers for the manifest: () => ({ "X-API-Key": key })
     *   events         the address of the server's events, to follow the live edge at once; null polls every 15 s
     * @param {FrameAdapter} adapter
     * @param {PlayerOptions} options */
    constructor(adapter, options = {}) {
        super(options);
        this.#adapter = adapter;
        /** @type {Required<Omit<PlayerOptions, "clock" | keyof import("./clock.js").ClockOptions>>} */
        this.#options = {
            url: "timeline.json", layer: "hexagons", start: null, end: null, intervals: null, anchor: null,
            parameters: {},
            ahead: 4, keep: 60, headers: () => ({}), events: null, ...options,
        };
        this.clock[JOIN](this);
    }

    // State

    /** The layer's part of the manifest, or null before the first. */
    get manifest() { return this.#manifest; }
    /** The instants of the frames, oldest first. */
    get times() { return this.#frames.map((frame) => frame.time); }
    /** The instant of the frame on the map; null before the first. Read only: see `goTo`. */
    get currentTime() { return this.#shown?.frame.time ?? null; }
    /** The frame on the map with its template of tiles; null before the first. While the requested frame loads, this
     * is the previous one. */
    get shown() {
        if (!this.#shown) return null;
        const { time, live, forecast, incomplete, url } = this.#shown.frame;
        return { time, live, forecast, incomplete, url, ready: url === this.#wanted?.url };
    }
    get isPlaying() { return this.clock.isPlaying; }
    get speed() { return this.clock.speed; }
    set speed(speed) { this.clock.speed = speed; }

    // Control

    /** Requests the manifest, and resolves when it has arrived. Shows the newest frame, unless the clock already has an
     * instant. */
    async load() {
        await this.#refresh();
        this.#follow();
    }

    /** Requests the manifest now, for pages that receive the server's events themselves. */
    async refresh() { await this.#refresh(); }

    /** Plays from the current frame, or from the frame at `from`. After the last frame it starts again at the first.
     * @param {{ from?: number | null }} options */
    play(options = {}) { this.clock.play(options); }

    pause() { this.clock.pause(); }

    /** Shows the newest frame at or before an instant. Outside the timeline it shows the nearer end.
     * @param {number} instant */
    goTo(instant) { this.clock.goTo(instant); }

    /** Shows the frame at an index.
     * @param {number} index */
    goToFrame(index) {
        const frame = this.#frames[Math.min(Math.max(index, 0), this.#frames.length - 1)];
        if (frame) this.goTo(frame.time);
    }

    /** Changes {start, end, intervals, anchor, parameters, layer}. Stops playing, and loads only changed frames.
     * @param {PlayerChange} difference */
    async change(difference) {
        this.pause();
        Object.assign(this.#options, difference);
        await this.#refresh();
    }

    /** Removes every frame from the map, and ends all requests and timers. */
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

    // Calls from its clock

    [LIVE_TIME]() { return this.#frames.find(({ live }) => live)?.time ?? null; }

    /** @param {number} instant */
    [SEEK](instant) {
        if (!this.#frames.length) return;
        this.#index = indexAt(this.times, instant);
        this[DISPATCH]("frame", this.#detail());
    }

    [PREPARE](/** @type {number} */ _moment) {
        const wanted = this.#wanted;
        if (this.#ended || !wanted) return;
        this.#preload();
        const slot = this.#slots.get(wanted.url);
        if (slot && slot !== this.#shown?.slot && this.#isReady(slot)) this.#show(slot);
        this.#reportProgress();
    }

    /** The readiness at an instant. A player without frames is always ready, so that it never delays others.
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
            // Several layers form one picture, and the server provides composed frames.
            if (layer.includes(",")) address.searchParams.set("composed", "true");
            for (const [name, value] of Object.entries({ start, end, intervals, anchor, ...parameters })) {
                if (value !== null && value !== undefined) address.searchParams.set(name, String(value));
            }
            const { response, body } = await limited(abort.signal, async (signal) => {
                const response = await fetch(address, { signal, cache: "no-cache", headers: headers() });
                return { response, body: await response.json() };
            });
            // The options may be others meanwhile.
            if (abort !== this.#request || this.#ended) return;
            if (!response.ok) throw new Error(body.detail ?? `${response.status}`);
            /** @type {ManifestLayer[]} */
            const layers = body.layers;
            const found = layers.find(({ id }) => id === layer);
            if (!found) throw new Error(`the manifest has no layer ${layer}`);
            this.#applyManifest(found);
            this[DISPATCH]("problem", null);
        } catch (error) {
            // A newer request superseded this one, or the player ended.
            if (abort !== this.#request || this.#ended) return;
            this[DISPATCH]("problem", errorText(error));
        }
    }

    /** @param {ManifestLayer} layer */
    #applyManifest(layer) {
        this.#manifest = layer;
        // The live frame is the last one that is not a forecast.
        const last = layer.frames.findLastIndex(({ forecast }) => forecast !== true);
        this.#frames = layer.frames.map((frame, index) => ({
            time: Date.parse(frame.time), url: frame.tiles, forecast: frame.forecast === true,
            incomplete: frame.incomplete === true, live: index === last,
        }));
        const urls = new Set(this.#frames.map(({ url }) => url));
        // The members of the same frame may have changed; for example, it is no longer live.
        const same = this.#frames.find(({ url }) => url === this.#shown?.frame.url);
        if (this.#shown && same) this.#shown.frame = same;
        for (const [url, slot] of this.#slots) {
            // The frame on the map stays until another replaces it. A failed frame is dropped, so that it is retried.
            if ((!urls.has(url) || this.#hasFailed(url)) && slot !== this.#shown?.slot) this.#drop(url);
        }
        this[DISPATCH]("manifest", layer);
        this.clock[CHANGED]();
    }

    #follow() {
        if (this.#ended) return;
        /** @param {number} milliseconds */
        const schedule = (milliseconds) => {
            clearTimeout(this.#poller);
            this.#poller = setTimeout(async () => {
                // A hidden page sends no requests.
                try {
                    if (document.visibilityState !== "hidden") await this.#refresh();
                } finally {
                    if (!this.#ended) schedule(POLL_MILLISECONDS);
                }
            }, milliseconds);
        };
        schedule(POLL_MILLISECONDS);
        if (!this.#options.events) return;
        this.#events = new EventSource(new URL(this.#options.events, document.baseURI));
        this.#events.addEventListener("data", () => schedule(EVENT_PAUSE_MILLISECONDS));
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
        this[DISPATCH]("frame", this.#detail());
    }

    /** Starts loading a few frames: first the requested one, then the following ones, around the loop. */
    #preload() {
        const count = this.#frames.length;
        let loading = [...this.#slots.values()].filter(
            (slot) => !this.#isReady(slot) && !this.#adapter.hasFailed(slot.handle)
        ).length;
        for (let step = 0; step < Math.min(count, this.#options.keep) && loading < this.#options.ahead; step += 1) {
            const { url } = /** @type {Frame} */ (this.#frames[(this.#index + step) % count]);
            if (this.#slots.has(url)) continue;
            this.#evict();
            this.#slots.set(url, { handle: this.#adapter.add(url, this.#manifest) });
            loading += 1;
        }
    }

    /** If there are too many frames, evicts the frame that would play last. */
    #evict() {
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
        this[DISPATCH]("progress", { ready });
    }

    /** @returns {FrameDetail} */
    #detail() {
        const { time, live, forecast, incomplete, url } = /** @type {Frame} */ (this.#wanted);
        return { time, index: this.#index, live, forecast, incomplete, ready: this.#shown?.frame.url === url };
    }
}
