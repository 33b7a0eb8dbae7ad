// Plays a Billow timeline on a web map, in any page: one file without dependencies.
//
//     import { TimelinePlayer, MapLibreFrames } from "https://your.server/timeline.js";
//     const player = new TimelinePlayer(new MapLibreFrames(map), { url: "https://your.server/timeline.json" });
//     player.addEventListener("frame", ({ detail }) => label.textContent = new Date(detail.time).toISOString());
//     await player.load();
//     player.play();
//
// With Leaflet it is `new LeafletFrames(map, L)`. The player asks the server for a manifest, loads the frames ahead of
// time, and shows a frame only when all its tiles are in; until then the one before stays, so the map is never blank.
// Instants are milliseconds since 1970 UTC.
//
// Events: `manifest` (detail: the layer's part of the manifest), `frame` (detail: time, index, live, forecast, incomplete, ready),
// `state` (detail: playing, waiting), `progress` (detail: ready[], one flag a frame), `problem` (detail: message or null).

const LOOK_MILLISECONDS = 50;
/** A manifest is asked for again this long after the last, where no event came sooner. */
const POLL_MILLISECONDS = 15_000;
/** Events come in bursts; one new manifest a second is enough. */
const EVENT_PAUSE_MILLISECONDS = 1_000;
const TIMEOUT_MILLISECONDS = 15_000;
const SLOWEST_PACE = 4;
/** Leaflet fades tiles in for 200 ms, frame by frame of the page. */
const LEAFLET_FADE_MILLISECONDS = 250;

export class TimelinePlayer extends EventTarget {
    #adapter;
    #options;
    #manifest = null;
    #frames = []; // {time, url, live, forecast, incomplete}, oldest first
    #slots = new Map(); // url → {handle, since}
    #shown = null; // {frame, slot}
    #index = -1; // the frame that is wanted
    #playing = false;
    #waiting = false;
    #dueAt = 0;
    #pace = 1; // above 1 while frames arrive slower than they play
    #loopsLeft = 0;
    #ticker = null;
    #poller = null;
    #events = null;
    #request = null;
    #progress = "";
    #ended = false;

    /** `adapter` puts frames on a map: MapLibreFrames, LeafletFrames, or anything with their five methods.
     *
     *   url            the manifest's address, "timeline.json"
     *   layer          which of its layers, "hexagons"; or several laid over each other, the lowest first: "hexagons,traffic"
     *   start, end     offsets ("-2h", "now") or ISO 8601 instants; both left out: round UTC times and a live frame
     *   intervals      at most so many frames
     *   anchor         true: on round UTC times and one live frame, so that most stay the same from minute to minute
     *   parameters     filters and style of the pictures: {hours: 2, minSeverity: 3}
     *   frameMilliseconds  how long a frame stays at speed 1, 500
     *   hold           how many times as long the last one stays, 3
     *   loops          how often it plays before it stops, Infinity
     *   speed          1
     *   ahead          how many frames load at once, 4
     *   keep           the most frames whose tiles are kept, 60
     *   headers        what requests for the manifest need besides, as a function: () => ({ "X-API-Key": key })
     *   events         the address of the server's events, to follow the live edge at once; null: ask every 15 s */
    constructor(adapter, options = {}) {
        super();
        this.#adapter = adapter;
        this.#options = {
            url: "timeline.json", layer: "hexagons", start: null, end: null, intervals: null, anchor: null, parameters: {},
            frameMilliseconds: 500, hold: 3, loops: Infinity, speed: 1, ahead: 4, keep: 60, headers: () => ({}), events: null, ...options,
        };
    }

    // What it knows

    /** The layer's part of the manifest, or null before the first. */
    get manifest() { return this.#manifest; }
    /** The instants of the frames, oldest first. */
    get times() { return this.#frames.map((frame) => frame.time); }
    /** The instant of the frame on the map; null before the first. Read only: see `goTo`. */
    get currentTime() { return this.#shown?.frame.time ?? null; }
    get isPlaying() { return this.#playing; }
    get speed() { return this.#options.speed; }
    set speed(speed) {
        if (!(speed > 0)) throw new RangeError(`speed is ${speed}; it must be above 0`);
        this.#options.speed = speed;
    }

    // What it is told

    /** Asks for the manifest and shows the newest frame, or stays where it is. Resolves when the manifest is in. */
    async load() {
        await this.#refresh();
        this.#follow();
    }

    /** Asks for the manifest now: for pages that hear by themselves that there is something new. */
    async refresh() { await this.#refresh(); }

    /** Plays on from where it is, or from the frame at an instant; at the end it begins again. */
    play({ from = null } = {}) {
        if (from !== null) this.goTo(from);
        this.#loopsLeft = this.#options.loops;
        this.#playing = true;
        this.#pace = 1;
        this.#dueAt = performance.now() + this.#dwell();
        this.#run();
        this.#say("state", { playing: true, waiting: this.#waiting });
    }

    pause() {
        if (!this.#playing) return;
        this.#playing = false;
        this.#waiting = false;
        this.#say("state", { playing: false, waiting: false });
    }

    /** Shows the newest frame at or before an instant; one outside the timeline is brought to its nearer end. */
    goTo(instant) {
        if (!this.#frames.length) return;
        let index = this.#frames.findLastIndex((frame) => frame.time <= instant);
        if (index < 0) index = 0;
        this.#want(index);
    }

    /** Shows a frame by its place. */
    goToFrame(index) {
        if (this.#frames.length) this.#want(Math.min(Math.max(index, 0), this.#frames.length - 1));
    }

    /** Changes {start, end, intervals, anchor, parameters, layer}: stops playing, and loads only what is not the same as before. */
    async change(difference) {
        this.pause();
        Object.assign(this.#options, difference);
        await this.#refresh();
    }

    /** Takes every frame off the map and lets go of everything. */
    destroy() {
        this.#ended = true;
        this.pause();
        clearInterval(this.#ticker);
        clearTimeout(this.#poller);
        this.#events?.close();
        this.#request?.abort();
        for (const { handle } of this.#slots.values()) this.#adapter.remove(handle);
        this.#slots.clear();
        this.#shown = null;
    }

    // The manifest

    async #refresh() {
        this.#request?.abort();
        const abort = (this.#request = new AbortController());
        const limit = setTimeout(() => abort.abort(new DOMException("no answer in time", "TimeoutError")), TIMEOUT_MILLISECONDS);
        try {
            const { url, layer, start, end, intervals, anchor, parameters } = this.#options;
            const address = new URL(url, document.baseURI);
            address.searchParams.set("layers", layer);
            // Several are one picture, whose frames the server names.
            if (layer.includes(",")) address.searchParams.set("composed", "true");
            for (const [name, value] of Object.entries({ start, end, intervals, anchor, ...parameters })) {
                if (value !== null && value !== undefined) address.searchParams.set(name, value);
            }
            const response = await fetch(address, { signal: abort.signal, cache: "no-cache", headers: this.#options.headers() });
            const body = await response.json();
            if (!response.ok) throw new Error(body.detail ?? `${response.status}`);
            const found = body.layers.find(({ id }) => id === layer);
            if (!found) throw new Error(`the manifest has no layer ${layer}`);
            this.#take(found);
            this.#say("problem", null);
        } catch (error) {
            // Replaced by a newer request, or ended: nobody asks any more.
            if (abort !== this.#request || this.#ended) return;
            this.#say("problem", error.name === "TypeError" ? "the server can't be reached" : error.message);
        } finally {
            clearTimeout(limit);
        }
    }

    #take(layer) {
        const wasAtEnd = this.#index < 0 || this.#index === this.#frames.length - 1;
        const time = this.#frames[this.#index]?.time ?? null;
        this.#manifest = layer;
        this.#frames = layer.frames.map((frame, place) => ({
            time: Date.parse(frame.time), url: frame.tiles, forecast: frame.forecast === true,
            incomplete: frame.incomplete === true,
            live: place === layer.frames.length - 1 && frame.forecast !== true,
        }));
        const urls = new Set(this.#frames.map(({ url }) => url));
        for (const [url, slot] of this.#slots) {
            // What is on the map stays there until something takes its place. What failed is tried again.
            if ((!urls.has(url) || this.#hasFailed(url)) && slot !== this.#shown?.slot) this.#drop(url);
        }
        this.#say("manifest", layer);
        if (!this.#frames.length) return;
        // At the live edge it moves along; elsewhere it stays at its instant.
        if (time === null || (wasAtEnd && !this.#playing)) this.#index = this.#frames.length - 1;
        else this.#index = Math.max(this.#frames.findLastIndex((frame) => frame.time <= time), 0);
        this.#run();
        this.#say("frame", this.#detail());
    }

    #follow() {
        if (this.#ended) return;
        const later = (milliseconds) => {
            clearTimeout(this.#poller);
            this.#poller = setTimeout(() => this.#refresh().finally(() => !this.#ended && later(POLL_MILLISECONDS)), milliseconds);
        };
        later(POLL_MILLISECONDS);
        if (!this.#options.events) return;
        this.#events = new EventSource(new URL(this.#options.events, document.baseURI));
        this.#events.addEventListener("data", () => later(EVENT_PAUSE_MILLISECONDS));
    }

    // Frames on the map

    #want(index) {
        this.#index = index;
        this.#dueAt = performance.now() + this.#dwell();
        this.#run();
        this.#say("frame", this.#detail());
    }

    /** Looks many times a second while anything is to be done, and not at all otherwise. */
    #run() {
        this.#look();
        this.#ticker ??= setInterval(() => this.#look(), LOOK_MILLISECONDS);
    }

    #look() {
        if (this.#ended || !this.#frames.length) return;
        this.#preload();
        const slot = this.#slots.get(this.#frames[this.#index].url);
        if (slot && slot !== this.#shown?.slot && this.#isReady(slot)) this.#show(slot);
        this.#reportProgress();
        if (this.#playing) this.#advance();
        else if (slot === this.#shown?.slot && this.#frames.every(({ url }) => this.#isSettled(url))) {
            clearInterval(this.#ticker);
            this.#ticker = null;
        }
    }

    #advance() {
        if (performance.now() < this.#dueAt) return;
        let next = (this.#index + 1) % this.#frames.length;
        // A frame that can't be had is passed over; the manifest to come may have another in its place.
        for (let tries = 0; tries < this.#frames.length && this.#hasFailed(this.#frames[next].url); tries += 1) {
            next = (next + 1) % this.#frames.length;
        }
        const slot = this.#slots.get(this.#frames[next].url);
        if (!slot || !this.#isReady(slot)) {
            if (!this.#waiting) {
                this.#waiting = true;
                this.#pace = Math.min(this.#pace * 1.5, SLOWEST_PACE);
                this.#say("state", { playing: true, waiting: true });
            }
            return;
        }
        if (next < this.#index) {
            this.#loopsLeft -= 1;
            if (this.#loopsLeft <= 0) return this.pause();
        }
        if (this.#waiting) {
            this.#waiting = false;
            this.#say("state", { playing: true, waiting: false });
        } else {
            this.#pace = Math.max(1, this.#pace * 0.95);
        }
        this.#index = next;
        this.#show(slot);
        this.#dueAt = performance.now() + this.#dwell();
    }

    #dwell() {
        const { frameMilliseconds, speed, hold } = this.#options;
        const isLast = this.#index === this.#frames.length - 1;
        return ((frameMilliseconds * this.#pace) / speed) * (isLast ? hold : 1);
    }

    #show(slot) {
        const before = this.#shown;
        const frame = this.#frames[this.#index];
        this.#adapter.show(slot.handle, before?.slot.handle ?? null);
        this.#shown = { frame, slot };
        if (before && !this.#frames.some(({ url }) => url === before.frame.url)) this.#drop(before.frame.url);
        this.#say("frame", this.#detail());
    }

    /** Begins to load what comes next, a few at a time: the wanted frame first, then those after it, around the loop. */
    #preload() {
        const count = this.#frames.length;
        let loading = [...this.#slots.values()].filter((slot) => !this.#isReady(slot) && !this.#adapter.hasFailed(slot.handle)).length;
        for (let step = 0; step < Math.min(count, this.#options.keep) && loading < this.#options.ahead; step += 1) {
            const { url } = this.#frames[(this.#index + step) % count];
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
            const { url } = this.#frames[(this.#index + step) % count];
            if (this.#slots.has(url) && this.#slots.get(url) !== this.#shown?.slot) return this.#drop(url);
        }
    }

    #drop(url) {
        const slot = this.#slots.get(url);
        if (!slot) return;
        this.#adapter.remove(slot.handle);
        this.#slots.delete(url);
    }

    #isReady(slot) { return !this.#adapter.hasFailed(slot.handle) && this.#adapter.isReady(slot.handle); }
    #hasFailed(url) { return this.#slots.has(url) && this.#adapter.hasFailed(this.#slots.get(url).handle); }
    #isSettled(url) { return this.#hasFailed(url) || (this.#slots.has(url) && this.#isReady(this.#slots.get(url))) || this.#slots.size >= this.#options.keep; }

    #reportProgress() {
        const ready = this.#frames.map(({ url }) => this.#slots.has(url) && this.#isReady(this.#slots.get(url)));
        const text = ready.join();
        if (text === this.#progress) return;
        this.#progress = text;
        this.#say("progress", { ready });
    }

    #detail() {
        const { time, live, forecast, incomplete, url } = this.#frames[this.#index];
        return { time, index: this.#index, live, forecast, incomplete, ready: this.#shown?.frame.url === url };
    }

    #say(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }
}

/** Frames on a MapLibre GL map: a raster source and layer for each, of which one is opaque. */
export class MapLibreFrames {
    #map;
    #options;
    #number = 0;
    #failed = new Set();
    #onError = ({ sourceId }) => sourceId && this.#failed.add(sourceId);

    /** `before`: the layer under which frames go; `opacity` of the frame that is shown; `address` may change a frame's
     * template, for @2x tiles say; `prefix` of the ids of sources and layers. */
    constructor(map, options = {}) {
        this.#map = map;
        this.#options = { before: undefined, opacity: 1, address: (url) => url, prefix: "timeline", maxzoom: 14, ...options };
        map.on("error", this.#onError);
    }

    add(url) {
        const { before, address, prefix, maxzoom } = this.#options;
        const id = `${prefix}-${(this.#number += 1)}`;
        this.#map.addSource(id, { type: "raster", tiles: [address(url)], tileSize: 256, maxzoom });
        // Opacity 0 loads the tiles; visibility none would not. Frames that fade would show colours that mean nothing.
        const paint = { "raster-opacity": 0, "raster-fade-duration": 0, "raster-opacity-transition": { duration: 0, delay: 0 } };
        this.#map.addLayer({ id, type: "raster", source: id, paint }, before && this.#map.getLayer(before) ? before : undefined);
        return id;
    }

    isReady(id) { return Boolean(this.#map.getSource(id)) && this.#map.isSourceLoaded(id); }
    hasFailed(id) { return this.#failed.has(id); }

    /** Both in one frame of the map. */
    show(id, previous) {
        this.#map.setPaintProperty(id, "raster-opacity", this.#options.opacity);
        if (previous && previous !== id && this.#map.getLayer(previous)) this.#map.setPaintProperty(previous, "raster-opacity", 0);
    }

    remove(id) {
        this.#failed.delete(id);
        if (this.#map.getLayer(id)) this.#map.removeLayer(id);
        if (this.#map.getSource(id)) this.#map.removeSource(id);
    }
}

/** Frames on a Leaflet map: a tile layer for each, of which one is opaque. */
export class LeafletFrames {
    #map;
    #leaflet;
    #options;

    /** `leaflet` is the library's `L`; `options` go to its tile layers, `opacity` is that of the frame that is shown. */
    constructor(map, leaflet, options = {}) {
        this.#map = map;
        this.#leaflet = leaflet;
        this.#options = { opacity: 1, maxNativeZoom: 14, ...options };
    }

    add(url) {
        const frame = { layer: this.#leaflet.tileLayer(url, { ...this.#options, opacity: 0 }), ready: false, failed: false, timer: null };
        frame.layer.on("loading", () => {
            clearTimeout(frame.timer);
            frame.ready = false;
        });
        // It fades a tile in after it has loaded: until that is over the frame is not whole.
        frame.layer.on("load", () => {
            clearTimeout(frame.timer);
            frame.timer = setTimeout(() => { frame.ready = true; }, LEAFLET_FADE_MILLISECONDS);
        });
        frame.layer.on("tileerror", () => { frame.failed = true; });
        frame.layer.addTo(this.#map);
        return frame;
    }

    isReady(frame) { return frame.ready; }
    hasFailed(frame) { return frame.failed; }

    show(frame, previous) {
        frame.layer.setOpacity(this.#options.opacity);
        if (previous && previous !== frame) previous.layer.setOpacity(0);
    }

    remove(frame) {
        clearTimeout(frame.timer);
        frame.layer.remove();
    }
}
