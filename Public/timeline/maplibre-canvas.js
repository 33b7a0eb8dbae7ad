// @ts-check
// Frames on a MapLibre GL map as one canvas.

import { limited } from "./request.js";
import { cornersOf, gridOf, placesOf, tileSizeOf } from "./tile-grid.js";
import { RETRY_MILLISECONDS } from "./tile-states.js";

/** @typedef {import("./tile-grid.js").Bounds} Bounds */
/** @typedef {import("./tile-grid.js").Grid} Grid */
/** @typedef {import("./tile-grid.js").Place} Place */

/** The methods of a map that these frames use. A `maplibregl.Map` has them.
 * @typedef {{
 *     on(name: any, listener: () => void): unknown, off(name: any, listener: () => void): unknown,
 *     addLayer(layer: any, before?: string): unknown, addSource(id: string, source: any): unknown,
 *     getLayer(id: string): unknown, getSource(id: string): any, getZoom(): number, getBounds(): Bounds,
 *     getCanvas?(): HTMLCanvasElement,
 *     removeLayer(id: string): unknown, removeSource(id: string): unknown,
 * }} CanvasMap */

/** A tile of a part of a frame.
 * @typedef {Place & { part: number }} PartPlace */

/** @typedef {HTMLImageElement | ImageBitmap} Tile */

/** More than the browser sends at once. So it never waits for a page that draws the map. */
const MAX_REQUESTS = 24;
/** A larger canvas needs too much memory. */
const MAX_SIDE_PIXELS = 8_192;
/** The addresses of tiles that never change: those with a version, as the manifest has them. */
const NEVER_CHANGES = /^data:|[?&]v=/;
/** The least time between two changes of the tiles while the map moves. */
const MOVE_MILLISECONDS = 150;

/** The number of objects made so far, for the ids of their sources. */
let made = 0;

/** A frame: its parts, the lowest first, and its tiles in memory. */
class CanvasFrame {
    /** The loaded tiles by their keys.
     * @type {Map<string, Tile>} */
    tiles = new Map();
    /** The tiles to request.
     * @type {PartPlace[]} */
    missing = [];
    /** The requests in progress by their keys.
     * @type {Map<string, AbortController>} */
    requests = new Map();
    /** The keys of tiles that could not be loaded.
     * @type {Set<string>} */
    failed = new Set();

    /** @param {{ url: string, opacity: number }[]} parts */
    constructor(parts) { this.parts = parts; }

    get hasFailed() { return this.failed.size > 0; }
    /** Whether no tile is left to load. */
    get isSettled() { return !this.missing.length && !this.requests.size; }
    get isReady() { return !this.hasFailed && this.isSettled; }

    /** Changes the tiles that the frame needs, and drops all others.
     * @param {PartPlace[]} places */
    need(places) {
        const keys = new Set(places.map(({ key }) => key));
        for (const [key, abort] of this.requests) {
            if (keys.has(key)) continue;
            this.requests.delete(key);
            abort.abort();
        }
        for (const key of this.tiles.keys()) if (!keys.has(key)) this.tiles.delete(key);
        this.missing = places.filter(({ key }) => !this.tiles.has(key) && !this.requests.has(key));
        this.failed.clear();
    }
}

/** Loads a tile. An image element costs the browser half of what `fetch` and an ImageBitmap cost, and keeps the
 * compressed bytes only. But it sends no headers.
 * @param {string} url
 * @param {Record<string, string>} headers
 * @param {AbortSignal} signal */
async function loadTile(url, headers, signal) {
    // A new image element may get the pixels of an earlier one, without a request.
    const mayChange = !NEVER_CHANGES.test(url);
    if (Object.keys(headers).length) {
        return fetchTile(url, { headers, cache: mayChange ? "no-cache" : "default" }, signal);
    }
    try {
        if (mayChange) return await fetchTile(url, { cache: "no-cache" }, signal);
        return await limited(signal, (limit) => loadImage(url, limit));
    } catch (error) {
        const isAnswer = mayChange && !(error instanceof TypeError);
        if (signal.aborted || isAnswer) throw error;
        // Without the server, the browser may still have the tile.
        return fetchTile(url, { cache: "force-cache" }, signal);
    }
}

/** @param {string} url
 * @param {AbortSignal} signal
 * @returns {Promise<HTMLImageElement>} */
const loadImage = (url, signal) => new Promise((resolve, reject) => {
    const image = new Image();
    // The map refuses another origin's pixels otherwise.
    image.crossOrigin = "anonymous";
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error(`${url} can not be loaded`));
    signal.addEventListener("abort", () => {
        image.src = "";
        reject(signal.reason);
    });
    image.src = url;
});

/** @param {string} url
 * @param {RequestInit} request
 * @param {AbortSignal} abort */
const fetchTile = (url, request, abort) => limited(abort, async (signal) => {
    const response = await fetch(url, { ...request, signal });
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    return createImageBitmap(await response.blob());
});

/** The number of pixel rows to add below the tiles. MapLibre 5.9 and earlier releases draw a canvas in black if it is a
 * square whose side is a power of two. Source: https://github.com/maplibre/maplibre-gl-js/issues/6607
 * @param {number} width
 * @param {number} height */
const transparentRows = (width, height) => (width === height && Number.isInteger(Math.log2(width)) ? 1 : 0);

/** The side of the largest canvas that a map can draw: a larger one would be black. Old tablets have 4,096 pixels.
 * @param {CanvasMap} map */
function maxSideOf(map) {
    const canvas = map.getCanvas?.();
    const context = canvas?.getContext("webgl2") ?? canvas?.getContext("webgl");
    return Math.min(context?.getParameter(context.MAX_TEXTURE_SIZE) || MAX_SIDE_PIXELS, MAX_SIDE_PIXELS);
}

/** Frames on a MapLibre GL map. This loads their tiles itself, and draws those of the visible frame on one canvas. A
 * loading frame therefore does not redraw the map, and a step redraws it once. `MapLibreFrames` has a source of the map
 * for each frame instead, and suits maps that tilt. */
export class MapLibreCanvasFrames {
    #map;
    #options;
    /** The id of the source and of its layer. */
    #id;
    /** @type {Set<CanvasFrame>} */
    #frames = new Set();
    /** @type {CanvasFrame | null} */
    #shown = null;
    /** @type {Grid | null} */
    #grid = null;
    /** The tiles of the grid.
     * @type {Place[]} */
    #places = [];
    /** The side of the tiles in points. */
    #tileSize = 256;
    #requests = 0;
    #canvas = document.createElement("canvas");
    /** The grid of the canvas. Its tiles may lie elsewhere than the map, until those of the map have arrived.
     * @type {Grid | null} */
    #drawn = null;
    /** The corners of the map's source. */
    #corners = "";
    /** @type {number | undefined} */
    #maxSide;
    /** @type {Map<string, "loaded" | "failed">} */
    #states = new Map();
    /** Whether the failed tiles of the visible frame are requested again. */
    #isRetried = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #retry;
    #movedAt = 0;
    #move = () => {
        // A zoom has many steps, and the tiles of its last one suffice.
        const grid = this.#gridNow();
        if (grid.z !== this.#grid?.z || performance.now() - this.#movedAt < MOVE_MILLISECONDS) return;
        this.#movedAt = performance.now();
        this.#follow(grid);
    };
    #end = () => this.#follow(this.#gridNow());

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
    constructor(map, options = {}) {
        this.#map = map;
        this.#id = options.prefix ?? `timeline-canvas-${(made += 1)}`;
        /** @type {{
         *     before?: string, opacity: number, address: (url: string) => string, maxzoom: number,
         *     attribution: string, parts: (url: string) => { url: string, opacity: number }[],
         *     headers: (url: string) => Record<string, string>,
         * }} */
        this.#options = {
            opacity: 1, address: String, maxzoom: 14, attribution: "", headers: () => ({}),
            parts: (/** @type {string} */ url) => [{ url, opacity: 1 }],
            ...options,
        };
    }

    /** @param {string} url */
    add(url) {
        const { address, parts } = this.#options;
        const frame = new CanvasFrame(parts(url).map((part) => ({ ...part, url: address(part.url) })));
        const tileSize = tileSizeOf(frame.parts[0]?.url ?? "");
        const isOther = tileSize !== this.#tileSize;
        this.#tileSize = tileSize;
        if (!this.#frames.size) this.#listen();
        else if (isOther) this.#end();
        this.#frames.add(frame);
        frame.need(this.#placesOf(frame));
        this.#load();
        return frame;
    }

    /** @param {CanvasFrame} frame */
    isReady(frame) { return frame.isReady; }

    /** @param {CanvasFrame} frame */
    hasFailed(frame) { return frame.hasFailed; }

    /** The tiles that the canvas shows by "z/x/y", and those of them that could not be loaded. A page can mark all
     * other places, because they look like smooth air.
     * @returns {ReadonlyMap<string, "loaded" | "failed">} */
    get states() { return this.#states; }

    /** Shows a frame in place of the previous one.
     * @param {CanvasFrame} frame */
    show(frame) {
        this.#shown = frame;
        this.#draw(frame);
    }

    /** @param {CanvasFrame} frame */
    remove(frame) {
        if (!this.#frames.delete(frame)) return;
        frame.need([]);
        if (this.#shown === frame) {
            this.#shown = null;
            this.#states = new Map();
            clearTimeout(this.#retry);
            if (this.#map.getLayer(this.#id)) this.#map.removeLayer(this.#id);
            if (this.#map.getSource(this.#id)) this.#map.removeSource(this.#id);
        }
        if (this.#frames.size) return;
        this.#map.off("move", this.#move);
        for (const name of ["moveend", "resize"]) this.#map.off(name, this.#end);
    }

    // The part of the world

    #gridNow() {
        return gridOf(this.#map.getBounds(), this.#map.getZoom(), this.#options.maxzoom, this.#tileSize);
    }

    #listen() {
        this.#map.on("move", this.#move);
        for (const name of ["moveend", "resize"]) this.#map.on(name, this.#end);
        this.#end();
    }

    /** The tiles of a frame in the grid, the lowest part first.
     * @param {CanvasFrame} frame
     * @returns {PartPlace[]} */
    #placesOf({ parts }) {
        return parts.flatMap((_, part) =>
            this.#places.map((place) => ({ ...place, part, key: `${part}/${place.key}` })));
    }

    /** Follows the map to another part of the world. The canvas keeps its pixels until the visible frame has all tiles.
     * @param {Grid} grid */
    #follow(grid) {
        if (JSON.stringify(grid) === JSON.stringify(this.#grid)) return;
        this.#grid = grid;
        this.#places = placesOf(grid);
        for (const frame of this.#frames) frame.need(this.#placesOf(frame));
        this.#load();
        this.#redraw();
    }

    // Loading

    /** Starts further requests: first for the visible frame, then for the others in their order. */
    #load() {
        for (const frame of [...(this.#shown ? [this.#shown] : []), ...this.#frames]) {
            // A frame that has failed is not shown. The visible frame needs all tiles that it can get.
            while ((frame === this.#shown || !frame.hasFailed) && frame.missing.length) {
                if (this.#requests >= MAX_REQUESTS) return;
                this.#loadTile(frame, /** @type {PartPlace} */ (frame.missing.shift()));
            }
        }
    }

    /** @param {CanvasFrame} frame
     * @param {PartPlace} place */
    async #loadTile(frame, { key, part, z, x, y }) {
        const abort = new AbortController();
        frame.requests.set(key, abort);
        const template = frame.parts[part]?.url ?? "";
        const url = template.replace("{z}", `${z}`).replace("{x}", `${x}`).replace("{y}", `${y}`);
        /** @type {Tile | null} */
        let tile = null;
        this.#requests += 1;
        try {
            tile = await loadTile(url, this.#options.headers(url), abort.signal);
        } catch {
            // The frame then fails, unless this request was aborted.
        }
        this.#requests -= 1;
        this.#load();
        // Meanwhile the frame may have been removed, or the map have moved.
        if (frame.requests.get(key) !== abort) return;
        frame.requests.delete(key);
        if (tile) frame.tiles.set(key, tile);
        else frame.failed.add(key);
        this.#redraw();
    }

    // Drawing

    /** Draws the visible frame when all tiles of a new grid are loaded. If some of them fail, it draws the others and
     * retries. */
    #redraw() {
        const frame = this.#shown;
        if (!frame?.isSettled || (this.#drawn === this.#grid && !this.#isRetried)) return;
        this.#draw(frame);
        clearTimeout(this.#retry);
        if (frame.hasFailed) this.#retry = setTimeout(() => this.#retryFailed(frame), RETRY_MILLISECONDS);
    }

    /** Requests the failed tiles of the visible frame again.
     * @param {CanvasFrame} frame */
    #retryFailed(frame) {
        if (frame !== this.#shown) return;
        this.#isRetried = true;
        frame.need(this.#placesOf(frame));
        this.#load();
    }

    /** Draws a frame with its tiles of the grid.
     * @param {CanvasFrame} frame */
    #draw({ parts, tiles, failed }) {
        const grid = /** @type {Grid} */ (this.#grid);
        const { columns, rows } = grid;
        const pixels = tiles.values().next().value?.width ?? this.#tileSize;
        this.#maxSide ??= maxSideOf(this.#map);
        // One row is for `transparentRows`.
        const size = Math.min(pixels, Math.floor((this.#maxSide - 1) / Math.max(columns, rows)));
        const canvas = this.#canvas;
        // MapLibre reads the pixels, so they stay with the processor.
        const context = canvas.getContext("2d", { willReadFrequently: true });
        if (!context) return;
        const width = columns * size, height = rows * size + transparentRows(columns * size, rows * size);
        if (canvas.width !== width || canvas.height !== height) {
            canvas.width = width;
            canvas.height = height;
        } else {
            context.clearRect(0, 0, canvas.width, canvas.height);
        }
        for (const [part, { opacity }] of parts.entries()) {
            context.globalAlpha = opacity;
            for (const { key, column, row } of this.#places) {
                const tile = tiles.get(`${part}/${key}`);
                if (tile) context.drawImage(tile, column * size, row * size, size, size);
            }
        }
        // Tests and pages read here what the canvas shows.
        canvas.dataset.parts = JSON.stringify(parts);
        this.#upload(cornersOf({ ...grid, rows: height / size }));
        this.#drawn = grid;
        this.#isRetried = false;
        this.#states = new Map(this.#places.map(({ key }) =>
            [key, parts.some((_, part) => failed.has(`${part}/${key}`)) ? "failed" : "loaded"]));
    }

    /** Hands the canvas to the map, which shows it from its next drawing on.
     * @param {[number, number][]} coordinates  the corners of the canvas */
    #upload(coordinates) {
        const { before, opacity, attribution } = this.#options;
        const source = this.#map.getSource(this.#id);
        if (source) {
            if (`${coordinates}` !== this.#corners) source.setCoordinates(coordinates);
            this.#corners = `${coordinates}`;
            // This copies the pixels at once.
            source.play();
            source.pause();
            return;
        }
        this.#corners = `${coordinates}`;
        this.#map.addSource(this.#id, { type: "canvas", canvas: this.#canvas, coordinates, animate: false });
        if (attribution) Object.assign(this.#map.getSource(this.#id), { attribution });
        // Fading would show colours without a meaning.
        const paint = { "raster-opacity": opacity, "raster-fade-duration": 0 };
        this.#map.addLayer(
            { id: this.#id, type: "raster", source: this.#id, paint },
            before && this.#map.getLayer(before) ? before : undefined,
        );
    }
}
