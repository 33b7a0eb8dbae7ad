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
    constructor(adapter: PointAdapter, options?: PointsOptions);
    /** Always empty: points have no frames, so the clock does not stop for them.
     * @returns {number[]} */
    get times(): number[];
    /** Loads all features of the range, and resolves when they are on the map. Call it again for newer features. */
    load(): Promise<void>;
    /** Removes all features from the map. */
    destroy(): void;
    /** @returns {number | null} */
    [LIVE_TIME](): number | null;
    /** @param {number} instant */
    [SEEK](instant: number): void;
    /** @param {number} moment */
    [PREPARE](moment: number): void;
    /** @param {number} _instant
     * @returns {Readiness} */
    [STATE_AT](_instant: number): Readiness;
    [IS_SETTLED](): boolean;
    #private;
}
export type Geometry = import("./point-style.js").Geometry;
/**
 * A feature at its time.
 */
export type TimedFeature = {
    geometry: Geometry;
    properties: Record<string, any>;
    time: number;
};
/**
 * Draws points on a map. `add` returns the handle of the points.
 */
export type PointAdapter = {
    add(points: TimedFeature[]): any;
    show(handle: any, after: number, until: number): void;
    remove(handle: any): void;
};
export type ClockOptions = import("./clock.js").ClockOptions;
/**
 * The options of points; their constructor describes them.
 */
export type PointsOptions = ClockOptions & {
    url?: string;
    timeProperty?: string;
    start?: string | null;
    end?: string | null;
    parameters?: import("./part.js").Parameters;
    headers?: import("./part.js").Headers;
    lifetime?: number;
    most?: number;
    clock?: import("./clock.js").TimelineClock;
};
export type Readiness = import("./protocol.js").Readiness;
import { TimelinePart } from "./part.js";
import { LIVE_TIME } from "./protocol.js";
import { SEEK } from "./protocol.js";
import { PREPARE } from "./protocol.js";
import { STATE_AT } from "./protocol.js";
import { IS_SETTLED } from "./protocol.js";
