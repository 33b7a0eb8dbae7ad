/** Frames on a MapLibre GL map. Each has a raster source and layer, and only one frame is visible. */
export class MapLibreFrames {
    /** Frames lie below the layer `before`. `opacity` applies to the visible frame. `address` may change a frame's
     * template, for example for @2x tiles. `parts` may split it into several rasters, the lowest first. The map shows
     * `attribution` as the frames' origin. The ids of sources and layers begin with `prefix`; its default is unique.
     * @param {MapLibreMap} map
     * @param {{
     *     before?: string, opacity?: number, address?: (url: string) => string, prefix?: string, maxzoom?: number,
     *     attribution?: string, parts?: (url: string) => { url: string, opacity: number }[],
     * }} options */
    constructor(map: MapLibreMap, options?: {
        before?: string | undefined;
        opacity?: number | undefined;
        address?: ((url: string) => string) | undefined;
        prefix?: string | undefined;
        maxzoom?: number | undefined;
        attribution?: string | undefined;
        parts?: ((url: string) => {
            url: string;
            opacity: number;
        }[]) | undefined;
    });
    /** @param {string} url */
    add(url: string): string;
    /** @param {string} id */
    isReady(id: string): boolean;
    /** @param {string} id */
    hasFailed(id: string): boolean;
    /** The tiles of the visible frame by "z/x/y", and their states. A failed one is requested again after a while.
     * @returns {ReadonlyMap<string, import("./tile-states.js").TileState>} */
    get states(): ReadonlyMap<string, import("./tile-states.js").TileState>;
    /** Shows a frame and hides the previous one in the same frame of the map.
     * @param {string} id
     * @param {string | null} previous */
    show(id: string, previous: string | null): void;
    /** @param {string} id */
    remove(id: string): void;
    #private;
}
/** Points on a MapLibre GL map: one source and layer, filtered by time. */
export class MapLibrePoints {
    /** `paint` and `before` apply to the circle layer. The ids of source and layer begin with `prefix`.
     * @param {MapLibreMap} map
     * @param {{ paint?: object, before?: string, prefix?: string }} options */
    constructor(map: MapLibreMap, options?: {
        paint?: object | undefined;
        before?: string | undefined;
        prefix?: string | undefined;
    });
    /** @param {TimedFeature[]} points */
    add(points: TimedFeature[]): string;
    /** Shows the points with times in (after, until].
     * @param {string} id
     * @param {number} after
     * @param {number} until */
    show(id: string, after: number, until: number): void;
    /** @param {string} id */
    remove(id: string): void;
    #private;
}
export type TimedFeature = import("./points.js").TimedFeature;
/**
 * The methods of a map that frames and points use. A `maplibregl.Map` has them.
 */
export type MapLibreMap = {
    on(name: "error" | "sourcedataloading" | "sourcedata" | "sourcedataabort", listener: (event: any) => void): unknown;
    addLayer(layer: any, before?: string): unknown;
    addSource(id: string, source: any): unknown;
    getLayer(id: string): unknown;
    getSource(id: string): unknown;
    isSourceLoaded(id: string): boolean;
    areTilesLoaded(): boolean;
    removeLayer(id: string): unknown;
    removeSource(id: string): unknown;
    setFilter(id: string, filter: any): unknown;
    setPaintProperty(id: string, name: any, value: any): unknown;
};
/**
 * An event of a tile of a source. `key` differs between repetitions of the world.
 */
export type TileEvent = {
    sourceId?: string | undefined;
    tile?: {
        tileID?: {
            key: string;
            canonical: {
                z: number;
                x: number;
                y: number;
            };
        } | undefined;
        registerFadeDuration?: ((milliseconds: number) => void) | undefined;
    } | undefined;
};
