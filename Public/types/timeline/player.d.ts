/** Plays the frames of a layer, or of several layers in one picture. */
export class TimelinePlayer extends TimelinePart {
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
    constructor(adapter: FrameAdapter, options?: PlayerOptions);
    /** The layer's part of the manifest, or null before the first. */
    get manifest(): ManifestLayer | null;
    /** The instants of the frames, oldest first. */
    get times(): number[];
    /** The instant of the frame on the map; null before the first. Read only: see `goTo`. */
    get currentTime(): number | null;
    /** The frame on the map with its template of tiles; null before the first. While the requested frame loads, this
     * is the previous one. */
    get shown(): {
        time: number;
        live: boolean;
        forecast: boolean;
        incomplete: boolean;
        url: string;
        ready: boolean;
    } | null;
    get isPlaying(): boolean;
    set speed(arg: number);
    get speed(): number;
    /** Requests the manifest, and resolves when it has arrived. Shows the newest frame, unless the clock already has an
     * instant. */
    load(): Promise<void>;
    /** Requests the manifest now, for pages that receive the server's events themselves. */
    refresh(): Promise<void>;
    /** Plays from the current frame, or from the frame at `from`. After the last frame it starts again at the first.
     * @param {{ from?: number | null }} options */
    play(options?: {
        from?: number | null;
    }): void;
    pause(): void;
    /** Shows the newest frame at or before an instant. Outside the timeline it shows the nearer end.
     * @param {number} instant */
    goTo(instant: number): void;
    /** Shows the frame at an index.
     * @param {number} index */
    goToFrame(index: number): void;
    /** Changes {start, end, intervals, anchor, parameters, layer}. Stops playing, and loads only changed frames.
     * @param {PlayerChange} difference */
    change(difference: PlayerChange): Promise<void>;
    /** Removes every frame from the map, and ends all requests and timers. */
    destroy(): void;
    [LIVE_TIME](): number | null;
    /** @param {number} instant */
    [SEEK](instant: number): void;
    [PREPARE](_moment: number): void;
    /** The readiness at an instant. A player without frames is always ready, so that it never delays others.
     * @param {number} instant
     * @returns {Readiness} */
    [STATE_AT](instant: number): Readiness;
    [IS_SETTLED](): boolean;
    #private;
}
/**
 * A layer of the manifest.
 */
export type ManifestLayer = {
    id: string;
    frames: {
        time: string;
        tiles: string;
        forecast?: boolean;
        incomplete?: boolean;
    }[];
};
/**
 * A frame by its template of tiles.
 */
export type Frame = {
    time: number;
    url: string;
    forecast: boolean;
    incomplete: boolean;
    live: boolean;
};
/**
 * The detail of the event `frame`. `ready` is false while the map still shows the previous frame.
 */
export type FrameDetail = {
    time: number;
    index: number;
    live: boolean;
    forecast: boolean;
    incomplete: boolean;
    ready: boolean;
};
/**
 * The detail of the event `state`.
 */
export type StateDetail = {
    playing: boolean;
    waiting: boolean;
};
/**
 * Draws frames on a map. `add` returns the handle of a frame.
 */
export type FrameAdapter = {
    add(url: string, manifest: ManifestLayer | null): any;
    isReady(handle: any): boolean;
    hasFailed(handle: any): boolean;
    show(handle: any, previous: any): void;
    remove(handle: any): void;
};
/**
 * The options that a page may change while the player runs.
 */
export type PlayerChange = {
    layer?: string;
    start?: string | null;
    end?: string | null;
    intervals?: number | null;
    anchor?: boolean | null;
    parameters?: import("./part.js").Parameters;
};
/**
 * The options of a player; its constructor describes them.
 */
export type PlayerOptions = PlayerChange & import("./clock.js").ClockOptions & {
    url?: string;
    clock?: import("./clock.js").TimelineClock;
    ahead?: number;
    keep?: number;
    headers?: import("./part.js").Headers;
    events?: string | null;
};
export type Readiness = import("./protocol.js").Readiness;
import { TimelinePart } from "./part.js";
import { LIVE_TIME } from "./protocol.js";
import { SEEK } from "./protocol.js";
import { PREPARE } from "./protocol.js";
import { STATE_AT } from "./protocol.js";
import { IS_SETTLED } from "./protocol.js";
