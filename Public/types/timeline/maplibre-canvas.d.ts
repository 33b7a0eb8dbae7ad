/** Frames on a MapLibre GL map. This loads their tiles itself, and draws those of the visible frame on one canvas. A
 * loading frame therefore does not redraw the map, and a step redraws it once. `MapLibreFrames` has a source of the map
 * for each frame instead, and suits maps that tilt. */
export class MapLibreCanvasFrames {
    /** Frames lie below the layer `before`. `opacity` applies to the visible frame. `address` may change a frame's
     * template, for example for @2x tiles. `parts` may split it into several rasters, the lowest first. The map shows
     * `attribution` as the frames' origin. `prefix` is the id of source and layer; its default is unique. `headers`
     * returns further headers for the request of a tile.
     * @param {CanvasMap} map
     * @param {{
     *     before?: string, opacity?: number, address?: (url: string) => string, prefix?: string, maxzoom?: number,
     *     attribution?: string, parts?: (url: string) => { url: string, opacity: number }[],
     *     headers?: (url: string) => Record<string, string>,
     * }} options */
    constructor(map: CanvasMap, options?: {
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
        headers?: ((url: string) => Record<string, string>) | undefined;
    });
    /** @param {string} url */
    add(url: string): CanvasFrame;
    /** @param {CanvasFrame} frame */
    isReady(frame: CanvasFrame): boolean;
    /** @param {CanvasFrame} frame */
    hasFailed(frame: CanvasFrame): boolean;
    /** The tiles that the canvas shows by "z/x/y", and those of them that could not be loaded. A page can mark all
     * other places, because they look like smooth air.
     * @returns {ReadonlyMap<string, "loaded" | "failed">} */
    get states(): ReadonlyMap<string, "loaded" | "failed">;
    /** Shows a frame in place of the previous one.
     * @param {CanvasFrame} frame */
    show(frame: CanvasFrame): void;
    /** @param {CanvasFrame} frame */
    remove(frame: CanvasFrame): void;
    #private;
}
export type Bounds = import("./tile-grid.js").Bounds;
export type Grid = import("./tile-grid.js").Grid;
export type Place = import("./tile-grid.js").Place;
/**
 * The methods of a map that these frames use. A `maplibregl.Map` has them.
 */
export type CanvasMap = {
    on(name: any, listener: () => void): unknown;
    off(name: any, listener: () => void): unknown;
    addLayer(layer: any, before?: string): unknown;
    addSource(id: string, source: any): unknown;
    getLayer(id: string): unknown;
    getSource(id: string): any;
    getZoom(): number;
    getBounds(): Bounds;
    getCanvas?(): HTMLCanvasElement;
    removeLayer(id: string): unknown;
    removeSource(id: string): unknown;
};
/**
 * A tile of a part of a frame.
 */
export type PartPlace = Place & {
    part: number;
};
export type Tile = HTMLImageElement | ImageBitmap;
/** A frame: its parts, the lowest first, and its tiles in memory. */
declare class CanvasFrame {
    /** @param {{ url: string, opacity: number }[]} parts */
    constructor(parts: {
        url: string;
        opacity: number;
    }[]);
    /** The loaded tiles by their keys.
     * @type {Map<string, Tile>} */
    tiles: Map<string, Tile>;
    /** The tiles to request.
     * @type {PartPlace[]} */
    missing: PartPlace[];
    /** The requests in progress by their keys.
     * @type {Map<string, AbortController>} */
    requests: Map<string, AbortController>;
    /** The keys of tiles that could not be loaded.
     * @type {Set<string>} */
    failed: Set<string>;
    parts: {
        url: string;
        opacity: number;
    }[];
    get hasFailed(): boolean;
    /** Whether no tile is left to load. */
    get isSettled(): boolean;
    get isReady(): boolean;
    /** Changes the tiles that the frame needs, and drops all others.
     * @param {PartPlace[]} places */
    need(places: PartPlace[]): void;
}
export {};
