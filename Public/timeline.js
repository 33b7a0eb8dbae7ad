// @ts-check
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
//
// Several layers with intervals of their own share one clock. Each shows its newest frame at or before the clock's instant,
// and the clock moves on when all of them can. Points appear at their own times, between frames too:
//
//     const clock = new TimelineClock({ speed: 2 });
//     const hexagons = new TimelinePlayer(new MapLibreFrames(map), { layer: "hexagons", clock });
//     const traffic = new TimelinePlayer(new MapLibreFrames(map), { layer: "traffic", clock });
//     const reports = new TimelinePoints(new MapLibrePoints(map), { url: "collections/pireps/items", clock });
//     clock.addEventListener("time", ({ detail }) => label.textContent = new Date(detail.time).toISOString());
//     await Promise.all([hexagons.load(), traffic.load()]);
//     await reports.load();
//     clock.play();
//
// Events of a clock: `time` (detail: time, index, live), `state` (detail: playing, waiting).

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
 *     add(url: string, manifest: ManifestLayer | null): any, isReady(handle: any): boolean, hasFailed(handle: any): boolean,
 *     show(handle: any, previous: any): void, remove(handle: any): void,
 * }} FrameAdapter
 *
 * A feature at its time.
 * @typedef {{
 *     geometry: { type: string, coordinates: any }, properties: Record<string, any>, time: number,
 * }} TimedFeature
 *
 * What puts points on a map.
 * @typedef {{
 *     add(points: TimedFeature[]): any, show(handle: any, after: number, until: number): void, remove(handle: any): void,
 * }} PointAdapter
 *
 * @typedef {{ frameMilliseconds?: number, hold?: number, loops?: number, speed?: number }} ClockOptions
 * @typedef {() => Record<string, string>} Headers
 * @typedef {Record<string, string | number | boolean | null | undefined>} Parameters
 *
 * What a page may change of a player while it runs.
 * @typedef {{
 *     layer?: string, start?: string | null, end?: string | null, intervals?: number | null, anchor?: boolean | null,
 *     parameters?: Parameters,
 * }} PlayerChange
 * @typedef {PlayerChange & ClockOptions & {
 *     url?: string, clock?: TimelineClock, ahead?: number, keep?: number, headers?: Headers, events?: string | null,
 * }} PlayerOptions
 * @typedef {ClockOptions & {
 *     url?: string, timeProperty?: string, start?: string | null, end?: string | null, parameters?: Parameters,
 *     headers?: Headers, lifetime?: number, most?: number, clock?: TimelineClock,
 * }} PointsOptions
 *
 * What plays by a clock.
 * @typedef {TimelinePlayer | TimelinePoints} Part
 * @typedef {"ready" | "failed" | "loading"} Readiness */

const LOOK_MILLISECONDS = 50;
/** A manifest is asked for again this long after the last, where no event came sooner. */
const POLL_MILLISECONDS = 15_000;
/** Events come in bursts; one new manifest a second is enough. */
const EVENT_PAUSE_MILLISECONDS = 1_000;
const TIMEOUT_MILLISECONDS = 15_000;
const SLOWEST_PACE = 4;
/** Leaflet fades tiles in for 200 ms, frame by frame of the page. */
const LEAFLET_FADE_MILLISECONDS = 250;

/** What a clock asks of each of its parts; nobody else does. */
const WANT = Symbol("show what holds at an instant");
const PREPARE = Symbol("load what comes next, and show what is wanted");
const STATE_AT = Symbol("ready, failed or loading, at an instant");
const IS_SETTLED = Symbol("whether there is nothing left to load");
const SAY_STATE = Symbol("tell listeners whether it plays");
const LIVE_TIME = Symbol("the newest instant that is not ahead");
/** What a part tells its clock. */
const JOIN = Symbol("join");
const LEAVE = Symbol("leave");
const CHANGED = Symbol("its instants have changed");

/** The newest of some instants in rising order at or before one; the first where all are later.
 * @param {number[]} times
 * @param {number} instant */
const indexAt = (times, instant) => Math.max(times.findLastIndex((time) => time <= instant), 0);

/** Time as it plays, for all players and points that are given it. It stops at every instant that any of them has a frame of. */
export class TimelineClock extends EventTarget {
    #options;
    /** @type {Set<Part>} */
    #parts = new Set();
    /** @type {number[]} */
    #times = [];
    /** The one that is wanted.
     * @type {number | null} */
    #instant = null;
    /** @type {number | null} */
    #live = null;
    #playing = false;
    #waiting = false;
    #dueAt = 0;
    #dwelling = 0; // how long the present instant stays
    #pace = 1; // above 1 while frames arrive slower than they play
    #loopsLeft = 0;
    /** @type {number | null} */
    #ticker = null;

    /**   frameMilliseconds  how long an instant stays at speed 1, 500
     *   hold           how many times as long the last one stays, 3
     *   loops          how often it plays before it stops, Infinity
     *   speed          1
     * @param {ClockOptions} options */
    constructor(options = {}) {
        super();
        const { frameMilliseconds = 500, hold = 3, loops = Infinity, speed = 1 } = options;
        this.#options = { frameMilliseconds, hold, loops, speed };
        this.speed = speed;
    }

    /** The instants of all frames, oldest first. */
    get times() { return [...this.#times]; }
    /** The instant that is shown, or about to be; null before the first manifest. Read only: see `goTo`. */
    get currentTime() { return this.#instant; }
    get isPlaying() { return this.#playing; }
    get isWaiting() { return this.#waiting; }
    get speed() { return this.#options.speed; }
    set speed(speed) {
        if (!(speed > 0)) throw new RangeError(`speed is ${speed}; it must be above 0`);
        this.#options.speed = speed;
    }

    /** Plays on from where it is, or from the frame at an instant; at the end it begins again.
     * @param {{ from?: number | null }} options */
    play({ from = null } = {}) {
        if (from !== null) this.goTo(from);
        this.#loopsLeft = this.#options.loops;
        this.#playing = true;
        this.#pace = 1;
        this.#dwell();
        this.#run();
        this.#sayState();
    }

    pause() {
        if (!this.#playing) return;
        this.#playing = false;
        this.#waiting = false;
        this.#sayState();
    }

    /** Shows the newest instant at or before one; outside the timeline its nearer end.
     * @param {number} instant */
    goTo(instant) {
        const found = this.#times[indexAt(this.#times, instant)];
        if (found !== undefined) this.#want(found);
    }

    // What its parts tell it

    /** @param {Part} part */
    [JOIN](part) { this.#parts.add(part); }

    /** @param {Part} part */
    [LEAVE](part) {
        this.#parts.delete(part);
        this.#gather();
        if (!this.#parts.size) {
            this.#playing = false;
            this.#waiting = false;
            this.#stop();
        }
    }

    /** At the live edge it moves along; elsewhere it stays at its instant. */
    [CHANGED]() {
        const wasLive = this.#instant === null || (this.#instant === this.#live && !this.#playing);
        this.#gather();
        if (!this.#times.length) return;
        const instant = wasLive ? this.#live : this.#times[indexAt(this.#times, this.#instant ?? 0)];
        if (instant === null || instant === undefined) return;
        this.#instant = instant;
        for (const part of this.#parts) part[WANT](instant);
        this.#run();
        this.#sayTime();
    }

    #gather() {
        const parts = [...this.#parts];
        this.#times = [...new Set(parts.flatMap(({ times }) => times))].sort((a, b) => a - b);
        const live = parts.flatMap((part) => part[LIVE_TIME]() ?? []);
        this.#live = live.length ? Math.max(...live) : this.#times.at(-1) ?? null;
    }

    // Playing

    /** @param {number} instant */
    #want(instant) {
        this.#instant = instant;
        this.#dwell();
        for (const part of this.#parts) part[WANT](instant);
        this.#run();
        this.#sayTime();
    }

    /** Looks many times a second while anything is to be done, and not at all otherwise. */
    #run() {
        this.#look();
        this.#ticker ??= setInterval(() => this.#look(), LOOK_MILLISECONDS);
    }

    #look() {
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

    /** The time between two instants, in proportion to how long the first has stayed. */
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
        /** @param {number} place */
        const stateOf = (place) => {
            const instant = /** @type {number} */ (times[place]);
            const states = [...this.#parts].map((part) => part[STATE_AT](instant));
            return states.includes("failed") ? "failed" : states.every((state) => state === "ready") ? "ready" : "loading";
        };
        // An instant that a part can't show is passed over; the manifest to come may have another frame in its place.
        for (let tries = 0; tries < count && stateOf(next) === "failed"; tries += 1) next = (next + 1) % count;
        if (stateOf(next) !== "ready") {
            if (!this.#waiting) {
                this.#waiting = true;
                this.#pace = Math.min(this.#pace * 1.5, SLOWEST_PACE);
                this.#sayState();
            }
            return;
        }
        if (next < index) {
            this.#loopsLeft -= 1;
            if (this.#loopsLeft <= 0) return this.pause();
        }
        if (this.#waiting) {
            this.#waiting = false;
            this.#sayState();
        } else {
            this.#pace = Math.max(1, this.#pace * 0.95);
        }
        const instant = /** @type {number} */ (times[next]);
        this.#instant = instant;
        this.#dwell();
        for (const part of this.#parts) {
            part[WANT](instant);
            part[PREPARE](instant);
        }
        this.#sayTime();
    }

    #dwell() {
        const { frameMilliseconds, speed, hold } = this.#options;
        const isLast = this.#instant === this.#times.at(-1);
        this.#dwelling = ((frameMilliseconds * this.#pace) / speed) * (isLast ? hold : 1);
        this.#dueAt = performance.now() + this.#dwelling;
    }

    #sayTime() {
        const detail = { time: this.#instant, index: this.#times.findIndex((time) => time === this.#instant), live: this.#instant === this.#live };
        this.dispatchEvent(new CustomEvent("time", { detail }));
    }

    #sayState() {
        const detail = { playing: this.#playing, waiting: this.#waiting };
        for (const part of this.#parts) part[SAY_STATE](detail);
        this.dispatchEvent(new CustomEvent("state", { detail }));
    }
}

export class TimelinePlayer extends EventTarget {
    #adapter;
    #options;
    #clock;
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
     *   layer          which of its layers, "hexagons"; or several laid over each other, the lowest first: "hexagons,traffic"
     *   start, end     offsets ("-2h", "now") or ISO 8601 instants; both left out: round UTC times and a live frame
     *   intervals      at most so many frames
     *   anchor         true: on round UTC times between start, now and end, so that most stay the same from minute to minute
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
        super();
        this.#adapter = adapter;
        /** @type {Required<Omit<PlayerOptions, "clock" | keyof ClockOptions>>} */
        this.#options = {
            url: "timeline.json", layer: "hexagons", start: null, end: null, intervals: null, anchor: null, parameters: {},
            ahead: 4, keep: 60, headers: () => ({}), events: null, ...options,
        };
        this.#clock = options.clock ?? new TimelineClock(options);
        this.#clock[JOIN](this);
    }

    // What it knows

    /** The clock that it plays by: its own, or the one that it was given. */
    get clock() { return this.#clock; }
    /** The layer's part of the manifest, or null before the first. */
    get manifest() { return this.#manifest; }
    /** The instants of the frames, oldest first. */
    get times() { return this.#frames.map((frame) => frame.time); }
    /** The instant of the frame on the map; null before the first. Read only: see `goTo`. */
    get currentTime() { return this.#shown?.frame.time ?? null; }
    get isPlaying() { return this.#clock.isPlaying; }
    get speed() { return this.#clock.speed; }
    set speed(speed) { this.#clock.speed = speed; }

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
    play(options = {}) { this.#clock.play(options); }

    pause() { this.#clock.pause(); }

    /** Shows the newest frame at or before an instant; one outside the timeline is brought to its nearer end.
     * @param {number} instant */
    goTo(instant) { this.#clock.goTo(instant); }

    /** Shows a frame by its place.
     * @param {number} index */
    goToFrame(index) {
        const frame = this.#frames[Math.min(Math.max(index, 0), this.#frames.length - 1)];
        if (frame) this.goTo(frame.time);
    }

    /** Changes {start, end, intervals, anchor, parameters, layer}: stops playing, and loads only what is not the same as before.
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
        this.#clock[LEAVE](this);
    }

    // What its clock asks

    [LIVE_TIME]() { return this.#frames.find(({ live }) => live)?.time ?? null; }

    /** @param {number} instant */
    [WANT](instant) {
        if (!this.#frames.length) return;
        this.#index = indexAt(this.times, instant);
        this.#say("frame", this.#detail());
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

    /** @param {object} detail */
    [SAY_STATE](detail) { this.#say("state", detail); }

    // The manifest

    async #refresh() {
        this.#request?.abort();
        const abort = (this.#request = new AbortController());
        const limit = setTimeout(() => abort.abort(new DOMException("no answer in time", "TimeoutError")), TIMEOUT_MILLISECONDS);
        try {
            const { url, layer, start, end, intervals, anchor, parameters, headers } = this.#options;
            const address = new URL(url, document.baseURI);
            address.searchParams.set("layers", layer);
            // Several are one picture, whose frames the server names.
            if (layer.includes(",")) address.searchParams.set("composed", "true");
            for (const [name, value] of Object.entries({ start, end, intervals, anchor, ...parameters })) {
                if (value !== null && value !== undefined) address.searchParams.set(name, String(value));
            }
            const response = await fetch(address, { signal: abort.signal, cache: "no-cache", headers: headers() });
            const body = await response.json();
            if (!response.ok) throw new Error(body.detail ?? `${response.status}`);
            /** @type {ManifestLayer[]} */
            const layers = body.layers;
            const found = layers.find(({ id }) => id === layer);
            if (!found) throw new Error(`the manifest has no layer ${layer}`);
            this.#take(found);
            this.#say("problem", null);
        } catch (error) {
            // Replaced by a newer request, or ended: nobody asks any more.
            if (abort !== this.#request || this.#ended) return;
            this.#say("problem", words(error));
        } finally {
            clearTimeout(limit);
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
        for (const [url, slot] of this.#slots) {
            // What is on the map stays there until something takes its place. What failed is tried again.
            if ((!urls.has(url) || this.#hasFailed(url)) && slot !== this.#shown?.slot) this.#drop(url);
        }
        this.#say("manifest", layer);
        this.#clock[CHANGED]();
    }

    #follow() {
        if (this.#ended) return;
        /** @param {number} milliseconds */
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

    get #wanted() { return this.#frames[this.#index]; }

    /** @param {{ handle: any }} slot */
    #show(slot) {
        const before = this.#shown;
        const frame = this.#wanted;
        if (!frame) return;
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
    #isReady(slot) { return slot !== undefined && !this.#adapter.hasFailed(slot.handle) && this.#adapter.isReady(slot.handle); }

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
        this.#say("progress", { ready });
    }

    #detail() {
        const { time, live, forecast, incomplete, url } = /** @type {Frame} */ (this.#wanted);
        return { time, index: this.#index, live, forecast, incomplete, ready: this.#shown?.frame.url === url };
    }

    /** @param {string} name
     * @param {unknown} detail */
    #say(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }
}

/** Features at their own times, instead of at frames: each from its own time on, for `lifetime`. Nothing of it is shown before. */
export class TimelinePoints extends EventTarget {
    #adapter;
    #options;
    #clock;
    /** @type {any} */
    #handle = null;
    #range = "";
    /** @type {AbortController | null} */
    #request = null;

    /** `adapter` puts points on a map: MapLibrePoints, LeafletPoints, or anything with their three methods.
     *
     *   url            the features' address, "collections/pireps/items"
     *   timeProperty   which of their properties is their time, "observedAt": the manifest's `timeProperty`
     *   start, end     ISO 8601 instants; left out, those of the clock's frames
     *   parameters     filters: {minSeverity: 3}
     *   headers        what the requests need besides, as a function: () => ({ "X-API-Key": key })
     *   lifetime       milliseconds that a feature stays, 30 min
     *   most           features at most, 20,000; a `problem` says when there are more
     *   clock          the TimelineClock to play along with
     * @param {PointAdapter} adapter
     * @param {PointsOptions} options */
    constructor(adapter, options = {}) {
        super();
        this.#adapter = adapter;
        /** @type {Required<Omit<PointsOptions, "clock" | keyof ClockOptions>>} */
        this.#options = {
            url: "collections/pireps/items", timeProperty: "observedAt", start: null, end: null, parameters: {},
            headers: () => ({}), lifetime: 1_800_000, most: 20_000, ...options,
        };
        this.#clock = options.clock ?? new TimelineClock(options);
        this.#clock[JOIN](this);
    }

    get clock() { return this.#clock; }
    /** It has no frames: the clock doesn't stop for it.
     * @returns {number[]} */
    get times() { return []; }

    /** Loads all features of the range. Call it again for newer ones. Resolves when they are on the map. */
    async load() {
        this.#request?.abort();
        const { signal } = (this.#request = new AbortController());
        const { start, end, timeProperty, lifetime, most } = this.#options;
        const times = this.#clock.times;
        /** @param {string | null} text
         * @param {number | undefined} time */
        const bound = (text, time) => (text === null ? time : Date.parse(text));
        const first = bound(start, times[0]), last = bound(end, times.at(-1));
        if (first === undefined || last === undefined || !(first <= last)) throw new Error("there is no range: give start and end, or load a player of the same clock before");
        try {
            const features = await this.#fetch(first - lifetime, last, signal);
            const points = features.slice(0, most).map((feature) => ({ ...feature, time: Date.parse(feature.properties[timeProperty]) }))
                .filter(({ time }) => !Number.isNaN(time)).sort((a, b) => a.time - b.time);
            if (signal.aborted) return;
            if (this.#handle !== null) this.#adapter.remove(this.#handle);
            this.#handle = this.#adapter.add(points);
            this.#range = "";
            this.#showAt(this.#clock.currentTime ?? last);
            this.#say("problem", features.length > most ? `there are more than ${most}; only these are shown` : null);
        } catch (error) {
            if (!signal.aborted) this.#say("problem", words(error));
        }
    }

    /** Takes all features off the map. */
    destroy() {
        this.#request?.abort();
        if (this.#handle !== null) this.#adapter.remove(this.#handle);
        this.#handle = null;
        this.#clock[LEAVE](this);
    }

    // What its clock asks

    /** @returns {number | null} */
    [LIVE_TIME]() { return null; }
    /** @param {number} instant */
    [WANT](instant) { this.#showAt(instant); }
    /** @param {number} moment */
    [PREPARE](moment) { this.#showAt(moment); }
    /** @param {number} _instant
     * @returns {Readiness} */
    [STATE_AT](_instant) { return "ready"; }
    [IS_SETTLED]() { return true; }
    /** @param {object} detail */
    [SAY_STATE](detail) { this.#say("state", detail); }

    /** @param {number} moment */
    #showAt(moment) {
        const range = `${moment}`;
        if (this.#handle === null || range === this.#range) return;
        this.#range = range;
        this.#adapter.show(this.#handle, moment - this.#options.lifetime, moment);
    }

    /** All pages.
     * @param {number} first
     * @param {number} last
     * @param {AbortSignal} signal
     * @returns {Promise<Omit<TimedFeature, "time">[]>} */
    async #fetch(first, last, signal) {
        const { url, parameters, headers, most } = this.#options;
        /** @param {number} time */
        const text = (time) => new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
        const start = new URL(url, document.baseURI);
        start.searchParams.set("datetime", `${text(first)}/${text(last)}`);
        start.searchParams.set("limit", "10000");
        for (const [name, value] of Object.entries(parameters)) {
            if (value !== null && value !== undefined) start.searchParams.set(name, String(value));
        }
        /** @type {Omit<TimedFeature, "time">[]} */
        const features = [];
        /** @type {URL | null} */
        let address = start;
        while (address && features.length <= most) {
            const response = await fetch(address, { signal: limited(signal), headers: headers() });
            /** @type {{ features: Omit<TimedFeature, "time">[], links?: { rel: string, href: string }[], detail?: string }} */
            const page = await response.json();
            if (!response.ok) throw new Error(page.detail ?? `${response.status}`);
            features.push(...page.features);
            /** @type {string | undefined} */
            const next = page.links?.find(({ rel }) => rel === "next")?.href;
            address = next ? new URL(next, address) : null;
        }
        return features;
    }

    /** @param {string} name
     * @param {unknown} detail */
    #say(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }
}

/** A signal that aborts with another, and after a while: `AbortSignal.any` is not in every browser.
 * @param {AbortSignal} signal */
function limited(signal) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException("no answer in time", "TimeoutError")), TIMEOUT_MILLISECONDS);
    signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
    return controller.signal;
}

/** Why a request failed.
 * @param {unknown} error */
function words(error) {
    if (!(error instanceof Error)) return String(error);
    return error.name === "TypeError" ? "the server can't be reached" : error.message;
}

/** Frames on a MapLibre GL map: a raster source and layer for each, of which one is opaque. */
export class MapLibreFrames {
    static #made = 0;
    #map;
    #options;
    #number = 0;
    /** @type {Set<string>} */
    #failed = new Set();
    /** @param {{ sourceId?: string }} event */
    #onError = ({ sourceId }) => {
        if (sourceId) this.#failed.add(sourceId);
    };

    /** `before`: the layer under which frames go; `opacity` of the frame that is shown; `address` may change a frame's
     * template, for @2x tiles say; `prefix` of the ids of sources and layers, another for each unless it is given.
     * @param {maplibregl.Map} map
     * @param {{ before?: string, opacity?: number, address?: (url: string) => string, prefix?: string, maxzoom?: number }} options */
    constructor(map, options = {}) {
        this.#map = map;
        const prefix = `timeline-${(MapLibreFrames.#made += 1)}`;
        /** @type {{ before?: string, opacity: number, address: (url: string) => string, prefix: string, maxzoom: number }} */
        this.#options = { opacity: 1, address: String, prefix, maxzoom: 14, ...options };
        map.on("error", this.#onError);
    }

    /** @param {string} url */
    add(url) {
        const { before, address, prefix, maxzoom } = this.#options;
        const id = `${prefix}-${(this.#number += 1)}`;
        this.#map.addSource(id, { type: "raster", tiles: [address(url)], tileSize: 256, maxzoom });
        // Opacity 0 loads the tiles; visibility none would not. Frames that fade would show colours that mean nothing.
        const paint = { "raster-opacity": 0, "raster-fade-duration": 0, "raster-opacity-transition": { duration: 0, delay: 0 } };
        this.#map.addLayer({ id, type: "raster", source: id, paint }, before && this.#map.getLayer(before) ? before : undefined);
        return id;
    }

    /** @param {string} id */
    isReady(id) { return Boolean(this.#map.getSource(id)) && this.#map.isSourceLoaded(id); }
    /** @param {string} id */
    hasFailed(id) { return this.#failed.has(id); }

    /** Both in one frame of the map.
     * @param {string} id
     * @param {string | null} previous */
    show(id, previous) {
        this.#map.setPaintProperty(id, "raster-opacity", this.#options.opacity);
        if (previous && previous !== id && this.#map.getLayer(previous)) this.#map.setPaintProperty(previous, "raster-opacity", 0);
    }

    /** @param {string} id */
    remove(id) {
        this.#failed.delete(id);
        if (this.#map.getLayer(id)) this.#map.removeLayer(id);
        if (this.#map.getSource(id)) this.#map.removeSource(id);
    }
}

/** A tile layer of Leaflet.
 * @typedef {{ layer: leaflet.TileLayer, ready: boolean, failed: boolean, timer: number | undefined }} LeafletFrame */

/** Frames on a Leaflet map: a tile layer for each, of which one is opaque. */
export class LeafletFrames {
    #map;
    #leaflet;
    #options;

    /** `leaflet` is the library's `L`; `options` go to its tile layers, `opacity` is that of the frame that is shown.
     * @param {leaflet.Map} map
     * @param {leaflet.Library} leaflet
     * @param {{ opacity?: number, maxNativeZoom?: number, [option: string]: unknown }} options */
    constructor(map, leaflet, options = {}) {
        this.#map = map;
        this.#leaflet = leaflet;
        this.#options = { opacity: 1, maxNativeZoom: 14, ...options };
    }

    /** @param {string} url
     * @returns {LeafletFrame} */
    add(url) {
        /** @type {LeafletFrame} */
        const frame = { layer: this.#leaflet.tileLayer(url, { ...this.#options, opacity: 0 }), ready: false, failed: false, timer: undefined };
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

    /** @param {LeafletFrame} frame */
    isReady(frame) { return frame.ready; }
    /** @param {LeafletFrame} frame */
    hasFailed(frame) { return frame.failed; }

    /** @param {LeafletFrame} frame
     * @param {LeafletFrame | null} previous */
    show(frame, previous) {
        frame.layer.setOpacity(this.#options.opacity);
        if (previous && previous !== frame) previous.layer.setOpacity(0);
    }

    /** @param {LeafletFrame} frame */
    remove(frame) {
        clearTimeout(frame.timer);
        frame.layer.remove();
    }
}

/** The middle of a feature: its place, or the mean of its outline.
 * @param {TimedFeature["geometry"]} geometry
 * @returns {[longitude: number, latitude: number]} */
export function middle({ type, coordinates }) {
    if (type === "Point") return coordinates;
    /** @type {[number, number][]} */
    const ring = (type === "MultiPolygon" ? coordinates[0][0] : type === "Polygon" ? coordinates[0] : coordinates).slice(0, -1);
    const west = ring[0]?.[0] ?? 0;
    // On the way from the first corner, so that the antimeridian doesn't matter.
    const turns = ring.map(([longitude]) => longitude - west - Math.round((longitude - west) / 360) * 360);
    /** @param {number[]} values */
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return [west + mean(turns), mean(ring.map(([, latitude]) => latitude))];
}

/** Of severities 0 to 4, and of what says nothing on turbulence. */
const POINT_COLOURS = ["#FFFFFF", "#FFF04C", "#FFBC09", "#FF7100", "#FF0000"];
const SILENT_COLOUR = "#898989";

/** Points on a MapLibre GL map: one source and layer, filtered by time. */
export class MapLibrePoints {
    static #made = 0;
    #map;
    #options;
    #number = 0;

    /** `paint` and `before` of the circle layer; `prefix` of the ids of source and layer.
     * @param {maplibregl.Map} map
     * @param {{ paint?: object, before?: string, prefix?: string }} options */
    constructor(map, options = {}) {
        this.#map = map;
        const prefix = `points-${(MapLibrePoints.#made += 1)}`;
        const colour = ["match", ["get", "severity"], ...POINT_COLOURS.flatMap((colour, severity) => [severity, colour]), SILENT_COLOUR];
        const paint = { "circle-radius": 6, "circle-color": colour, "circle-stroke-color": "#14181D", "circle-stroke-width": 1.5 };
        /** @type {{ prefix: string, before?: string, paint: object }} */
        this.#options = { prefix, ...options, paint: { ...paint, ...options.paint } };
    }

    /** @param {TimedFeature[]} points */
    add(points) {
        const { prefix, before, paint } = this.#options;
        const id = `${prefix}-${(this.#number += 1)}`;
        const features = points.map(({ geometry, properties, time }) => ({
            type: "Feature", geometry: { type: "Point", coordinates: middle(geometry) }, properties: { ...properties, "billow:time": time },
        }));
        this.#map.addSource(id, { type: "geojson", data: { type: "FeatureCollection", features } });
        const layer = { id, type: "circle", source: id, paint, filter: ["literal", false] };
        this.#map.addLayer(layer, before && this.#map.getLayer(before) ? before : undefined);
        return id;
    }

    /** Those of times in (after, until].
     * @param {string} id
     * @param {number} after
     * @param {number} until */
    show(id, after, until) {
        const time = ["get", "billow:time"];
        this.#map.setFilter(id, ["all", [">", time, after], ["<=", time, until]]);
    }

    /** @param {string} id */
    remove(id) {
        if (this.#map.getLayer(id)) this.#map.removeLayer(id);
        if (this.#map.getSource(id)) this.#map.removeSource(id);
    }
}

/** A circle marker of Leaflet at its time.
 * @typedef {{ time: number, shown: boolean, marker: leaflet.Marker }} LeafletPoint */

/** Points on a Leaflet map: a circle marker for each. */
export class LeafletPoints {
    #map;
    #leaflet;
    #options;

    /** `leaflet` is the library's `L`; `options` go to its circle markers.
     * @param {leaflet.Map} map
     * @param {leaflet.Library} leaflet
     * @param {object} options */
    constructor(map, leaflet, options = {}) {
        this.#map = map;
        this.#leaflet = leaflet;
        this.#options = { radius: 6, weight: 1.5, color: "#14181D", fillOpacity: 1, ...options };
    }

    /** @param {TimedFeature[]} points
     * @returns {LeafletPoint[]} */
    add(points) {
        return points.map(({ geometry, properties, time }) => {
            const [longitude, latitude] = middle(geometry);
            const fillColor = POINT_COLOURS[properties.severity] ?? SILENT_COLOUR;
            return { time, shown: false, marker: this.#leaflet.circleMarker([latitude, longitude], { fillColor, ...this.#options }) };
        });
    }

    /** Those of times in (after, until].
     * @param {LeafletPoint[]} points
     * @param {number} after
     * @param {number} until */
    show(points, after, until) {
        for (const point of points) {
            const shown = point.time > after && point.time <= until;
            if (shown === point.shown) continue;
            point.shown = shown;
            if (shown) point.marker.addTo(this.#map);
            else point.marker.remove();
        }
    }

    /** @param {LeafletPoint[]} points */
    remove(points) { for (const { marker } of points) marker.remove(); }
}
