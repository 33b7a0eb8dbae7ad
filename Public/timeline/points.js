// @ts-check
// Plays features at their own times.

import { TimelinePart } from "./part.js";
import { DISPATCH, IS_SETTLED, JOIN, LEAVE, LIVE_TIME, PREPARE, SEEK, STATE_AT } from "./protocol.js";
import { errorText, limited } from "./request.js";

/** @typedef {import("./point-style.js").Geometry} Geometry */

/** A feature at its time.
 * @typedef {{ geometry: Geometry, properties: Record<string, any>, time: number }} TimedFeature */

/** Draws points on a map. `add` returns the handle of the points.
 * @typedef {{
 *     add(points: TimedFeature[]): any, show(handle: any, after: number, until: number): void,
 *     remove(handle: any): void,
 * }} PointAdapter */

/** @typedef {import("./clock.js").ClockOptions} ClockOptions */

/** The options of points; their constructor describes them.
 * @typedef {ClockOptions & {
 *     url?: string, timeProperty?: string, start?: string | null, end?: string | null,
 *     parameters?: import("./part.js").Parameters, headers?: import("./part.js").Headers, lifetime?: number,
 *     most?: number, clock?: import("./clock.js").TimelineClock,
 * }} PointsOptions */

/** @typedef {import("./protocol.js").Readiness} Readiness */

/** Plays features at their own times instead of at frames. Each appears at its time and disappears after `lifetime`. */
export class TimelinePoints extends TimelinePart {
    #adapter;
    #options;
    /** @type {any} */
    #handle = null;
    #range = "";
    /** @type {AbortController | null} */
    #request = null;

    /** `adapter` draws points on a map: MapLibrePoints, LeafletPoints, or any object with their three methods.
     *
     *   url            the features' address, "collections/pireps/items"
     *   timeProperty   the property with a feature's time, "observedAt": the manifest's `timeProperty`
     *   start, end     ISO 8601 instants; by default the first and last instant of the clock's frames
     *   parameters     filters: {minSeverity: 3}
     *   headers        a function that returns further headers for the requests: () => ({ "X-API-Key": key })
     *   lifetime       milliseconds that a feature stays, 30 min
     *   most           the maximum number of features, 20,000; a `problem` event reports that there are more
     *   clock          the TimelineClock to share
     * @param {PointAdapter} adapter
     * @param {PointsOptions} options */
    constructor(adapter, options = {}) {
        super(options);
        this.#adapter = adapter;
        /** @type {Required<Omit<PointsOptions, "clock" | keyof ClockOptions>>} */
        this.#options = {
            url: "collections/pireps/items", timeProperty: "observedAt", start: null, end: null, parameters: {},
            headers: () => ({}), lifetime: 1_800_000, most: 20_000, ...options,
        };
        this.clock[JOIN](this);
    }

    /** Always empty: points have no frames, so the clock does not stop for them.
     * @returns {number[]} */
    get times() { return []; }

    /** Loads all features of the range, and resolves when they are on the map. Call it again for newer features. */
    async load() {
        this.#request?.abort();
        const { signal } = (this.#request = new AbortController());
        const { start, end, timeProperty, lifetime, most } = this.#options;
        const times = this.clock.times;
        /** @param {string | null} text
         * @param {number | undefined} time */
        const bound = (text, time) => (text === null ? time : Date.parse(text));
        const first = bound(start, times[0]), last = bound(end, times.at(-1));
        if (first === undefined || last === undefined || !(first <= last)) throw new Error(
            "no time range: set start and end, or first load a player that shares the clock"
        );
        try {
            const features = await this.#fetch(first - lifetime, last, signal);
            const points = features.slice(0, most).map(
                (feature) => ({ ...feature, time: Date.parse(feature.properties[timeProperty]) })
            )
                .filter(({ time }) => !Number.isNaN(time)).sort((a, b) => a.time - b.time);
            if (signal.aborted) return;
            if (this.#handle !== null) this.#adapter.remove(this.#handle);
            this.#handle = this.#adapter.add(points);
            this.#range = "";
            this.#showAt(this.clock.currentTime ?? last);
            const isCut = features.length > most;
            this[DISPATCH]("problem", isCut ? `there are more than ${most}; only these are shown` : null);
        } catch (error) {
            if (!signal.aborted) this[DISPATCH]("problem", errorText(error));
        }
    }

    /** Removes all features from the map. */
    destroy() {
        this.#request?.abort();
        if (this.#handle !== null) this.#adapter.remove(this.#handle);
        this.#handle = null;
        this.clock[LEAVE](this);
    }

    // Calls from its clock

    /** @returns {number | null} */
    [LIVE_TIME]() { return null; }
    /** @param {number} instant */
    [SEEK](instant) { this.#showAt(instant); }
    /** @param {number} moment */
    [PREPARE](moment) { this.#showAt(moment); }
    /** @param {number} _instant
     * @returns {Readiness} */
    [STATE_AT](_instant) { return "ready"; }
    [IS_SETTLED]() { return true; }

    /** @param {number} moment */
    #showAt(moment) {
        const range = `${moment}`;
        if (this.#handle === null || range === this.#range) return;
        this.#range = range;
        this.#adapter.show(this.#handle, moment - this.#options.lifetime, moment);
    }

    /** Requests all pages.
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
            /** @type {URL} */
            const requested = address;
            const { response, body } = await limited(signal, async (signal) => {
                const response = await fetch(requested, { signal, headers: headers() });
                return { response, body: await response.json() };
            });
            /** @type {{
             *     features: Omit<TimedFeature, "time">[], links?: { rel: string, href: string }[], detail?: string,
             * }} */
            const page = body;
            if (!response.ok) throw new Error(page.detail ?? `${response.status}`);
            features.push(...page.features);
            /** @type {string | undefined} */
            const next = page.links?.find(({ rel }) => rel === "next")?.href;
            address = next ? new URL(next, address) : null;
        }
        return features;
    }
}
