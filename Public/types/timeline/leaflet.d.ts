/** An event of a tile: its place by Leaflet's count of zooms, and its image.
 * @typedef {{ coords: { x: number, y: number, z: number }, tile: HTMLImageElement }} LeafletTileEvent */
/** The methods of a tile layer of Leaflet that frames use.
 * @typedef {{
 *     on(name: "loading" | "load", listener: () => void): unknown,
 *     on(name: "tileloadstart" | "tileload" | "tileerror" | "tileunload", listener: (event: any) => void): unknown,
 *     addTo(map: any): unknown, setOpacity(opacity: number): unknown, remove(): unknown,
 * }} LeafletTileLayer */
/** The methods of a marker of Leaflet that points use.
 * @typedef {{ addTo(map: any): unknown, remove(): unknown }} LeafletMarker */
/** The functions of Leaflet's `L` that frames and points use.
 * @typedef {{
 *     tileLayer(template: string, options: any): LeafletTileLayer,
 *     circleMarker(place: any, options: any): LeafletMarker,
 * }} Leaflet */
/** A tile layer of Leaflet, and the addresses and states of its tiles by their images.
 * @typedef {{
 *     layer: LeafletTileLayer, ready: boolean, timer: number | undefined,
 *     tiles: Map<HTMLImageElement, [key: string, state: import("./tile-states.js").TileState]>,
 * }} LeafletFrame */
/** Frames on a Leaflet map. Each has a tile layer, and only one layer is visible. */
export class LeafletFrames {
    /** `leaflet` is the library's `L`; `options` go to its tile layers; `opacity` applies to the visible frame.
     * `address` may change a frame's template; without it, fine screens get tiles of twice the pixels.
     * @param {object} map  an `L.Map`
     * @param {Leaflet} leaflet
     * @param {{
     *     opacity?: number, maxNativeZoom?: number, address?: (url: string) => string, [option: string]: unknown,
     * }} options */
    constructor(map: object, leaflet: Leaflet, { address, ...options }?: {
        [option: string]: unknown;
        opacity?: number | undefined;
        maxNativeZoom?: number | undefined;
        address?: ((url: string) => string) | undefined;
    });
    /** @param {string} url
     * @returns {LeafletFrame} */
    add(url: string): LeafletFrame;
    /** @param {LeafletFrame} frame */
    isReady(frame: LeafletFrame): boolean;
    /** @param {LeafletFrame} frame */
    hasFailed(frame: LeafletFrame): boolean;
    /** The tiles of the visible frame by "z/x/y", and their states. A failed one is requested again after a while.
     * @returns {ReadonlyMap<string, import("./tile-states.js").TileState>} */
    get states(): ReadonlyMap<string, import("./tile-states.js").TileState>;
    /** @param {LeafletFrame} frame
     * @param {LeafletFrame | null} previous */
    show(frame: LeafletFrame, previous: LeafletFrame | null): void;
    /** @param {LeafletFrame} frame */
    remove(frame: LeafletFrame): void;
    #private;
}
/** A circle marker of Leaflet at its time.
 * @typedef {{ time: number, shown: boolean, marker: LeafletMarker }} LeafletPoint */
/** Points on a Leaflet map. Each has a circle marker. */
export class LeafletPoints {
    /** `leaflet` is the library's `L`; `options` go to its circle markers.
     * @param {object} map  an `L.Map`
     * @param {Leaflet} leaflet
     * @param {object} options */
    constructor(map: object, leaflet: Leaflet, options?: object);
    /** @param {TimedFeature[]} points
     * @returns {LeafletPoint[]} */
    add(points: TimedFeature[]): LeafletPoint[];
    /** Shows the points with times in (after, until].
     * @param {LeafletPoint[]} points
     * @param {number} after
     * @param {number} until */
    show(points: LeafletPoint[], after: number, until: number): void;
    /** @param {LeafletPoint[]} points */
    remove(points: LeafletPoint[]): void;
    #private;
}
export type TimedFeature = import("./points.js").TimedFeature;
/**
 * An event of a tile: its place by Leaflet's count of zooms, and its image.
 */
export type LeafletTileEvent = {
    coords: {
        x: number;
        y: number;
        z: number;
    };
    tile: HTMLImageElement;
};
/**
 * The methods of a tile layer of Leaflet that frames use.
 */
export type LeafletTileLayer = {
    on(name: "loading" | "load", listener: () => void): unknown;
    on(name: "tileloadstart" | "tileload" | "tileerror" | "tileunload", listener: (event: any) => void): unknown;
    addTo(map: any): unknown;
    setOpacity(opacity: number): unknown;
    remove(): unknown;
};
/**
 * The methods of a marker of Leaflet that points use.
 */
export type LeafletMarker = {
    addTo(map: any): unknown;
    remove(): unknown;
};
/**
 * The functions of Leaflet's `L` that frames and points use.
 */
export type Leaflet = {
    tileLayer(template: string, options: any): LeafletTileLayer;
    circleMarker(place: any, options: any): LeafletMarker;
};
/**
 * A tile layer of Leaflet, and the addresses and states of its tiles by their images.
 */
export type LeafletFrame = {
    layer: LeafletTileLayer;
    ready: boolean;
    timer: number | undefined;
    tiles: Map<HTMLImageElement, [key: string, state: import("./tile-states.js").TileState]>;
};
/**
 * A circle marker of Leaflet at its time.
 */
export type LeafletPoint = {
    time: number;
    shown: boolean;
    marker: LeafletMarker;
};
