// @ts-check
// Frames and points on a MapLibre GL map.

import { DEFAULT_COLOUR, middle, POINT_COLOURS } from "./point-style.js";
import { maxzoomOf, tileSizeOf } from "./tile-grid.js";
import { Retry, worstStates } from "./tile-states.js";

/** @typedef {import("./points.js").TimedFeature} TimedFeature */

/** The methods of a map that frames and points use. A `maplibregl.Map` has them.
 * @typedef {{
 *     on(
 *         name: "error" | "sourcedataloading" | "sourcedata" | "sourcedataabort", listener: (event: any) => void,
 *     ): unknown,
 *     addLayer(layer: any, before?: string): unknown, addSource(id: string, source: any): unknown,
 *     getLayer(id: string): unknown, getSource(id: string): unknown, isSourceLoaded(id: string): boolean,
 *     areTilesLoaded(): boolean,
 *     removeLayer(id: string): unknown, removeSource(id: string): unknown,
 *     setFilter(id: string, filter: any): unknown, setPaintProperty(id: string, name: any, value: any): unknown,
 * }} MapLibreMap */

/** An event of a tile of a source. `key` differs between repetitions of the world.
 * @typedef {{
 *     sourceId?: string,
 *     tile?: {
 *         tileID?: { key: string, canonical: { z: number, x: number, y: number } },
 *         registerFadeDuration?: (milliseconds: number) => void,
 *     },
 * }} TileEvent */

/** Identifies a tile of a source. An error may have none.
 * @param {TileEvent["tile"]} tile */
const idOf = (tile) => tile?.tileID?.key ?? tile;

/** Ends the fade of a new tile before it begins. MapLibre draws finer tiles over a new one until its fade has ended. It
 * learns the end of a fade only by drawing, and without a fade it does not check again. So after zooming out, tiles of
 * several zooms would stay over each other.
 * @param {TileEvent["tile"]} tile */
const endFade = (tile) => tile?.registerFadeDuration?.(0);

/** The number of frames and points made so far, for the ids of their sources. */
let made = 0;

/** Removes a layer and its source of the same id from a map.
 * @param {MapLibreMap} map
 * @param {string} id */
function removeLayerAndSource(map, id) {
    if (map.getLayer(id)) map.removeLayer(id);
    if (map.getSource(id)) map.removeSource(id);
}

/** Frames on a MapLibre GL map. Each has a raster source and layer, and only one frame is visible. */
export class MapLibreFrames {
    #map;
    #options;
    #number = 0;
    /** The id of a frame → its sources. `next` is the id of a source with the same tiles, which replaces a source with
     * failed tiles once it has them all.
     * @type {Map<string, { id: string, url: string, opacity: number, next?: string }[]>} */
    #parts = new Map();
    /** The states of the tiles of each source. MapLibre counts a tile that the server does not have (404) as loaded,
     * without an error. Only that it never arrives tells it from one that was loaded.
     * @type {Map<string, Map<unknown, { key: string, state: import("./tile-states.js").TileState }>>} */
    #tiles = new Map();
    /** The id of the visible frame.
     * @type {string | null} */
    #shown = null;
    #retry = new Retry(() => this.#shown !== null && this.hasFailed(this.#shown), () => this.#retryFailed());
    /** @param {TileEvent} event */
    #onError = (event) => this.#record(event, "failed");
    /** @param {TileEvent} event */
    #onBegin = (event) => event.tile && this.#record(event, "loading");
    /** @param {TileEvent} event */
    #onEnd = (event) => {
        if (event.tile) this.#record(event, "loaded");
        if (this.#tiles.has(event.sourceId ?? "")) endFade(event.tile);
        this.#replaceFailed();
    };
    /** @param {TileEvent} event */
    #onAbort = ({ sourceId = "", tile }) => this.#tiles.get(sourceId)?.delete(idOf(tile));

    /** Frames lie below the layer `before`. `opacity` applies to the visible frame. `address` may change a frame's
     * template, for example for @2x tiles. `parts` may split it into several rasters, the lowest first. The map shows
     * `attribution` as the frames' origin. The ids of sources and layers begin with `prefix`; its default is unique.
     * @param {MapLibreMap} map
     * @param {{
     *     before?: string, opacity?: number, address?: (url: string) => string, prefix?: string, maxzoom?: number,
     *     attribution?: string, parts?: (url: string) => { url: string, opacity: number }[],
     * }} options */
    constructor(map, options = {}) {
        this.#map = map;
        const prefix = `timeline-${(made += 1)}`;
        /** @type {{
         *     before?: string, opacity: number, address: (url: string) => string, prefix: string, maxzoom: number,
         *     attribution: string, parts: (url: string) => { url: string, opacity: number }[],
         * }} */
        this.#options = {
            opacity: 1, address: String, prefix, maxzoom: 14, attribution: "",
            parts: (/** @type {string} */ url) => [{ url, opacity: 1 }],
            ...options,
        };
        map.on("error", this.#onError);
        map.on("sourcedataloading", this.#onBegin);
        map.on("sourcedata", this.#onEnd);
        map.on("sourcedataabort", this.#onAbort);
    }

    /** @param {string} url */
    add(url) {
        const { before, prefix, parts } = this.#options;
        const id = `${prefix}-${(this.#number += 1)}`;
        const rasters = parts(url).map((part, index) => ({ ...part, id: index ? `${id}-${index}` : id }));
        for (const { id, url } of rasters) this.#addRaster(id, url, before);
        this.#parts.set(id, rasters);
        return id;
    }

    /** Adds an invisible source and layer.
     * @param {string} id
     * @param {string} url
     * @param {string} [before] */
    #addRaster(id, url, before) {
        const { address, maxzoom, attribution } = this.#options;
        const tileSize = tileSizeOf(url);
        this.#tiles.set(id, new Map());
        this.#map.addSource(id, {
            type: "raster", tiles: [address(url)], tileSize, maxzoom: maxzoomOf(tileSize, maxzoom),
            ...(attribution ? { attribution } : {}),
        });
        // With opacity 0 MapLibre loads the tiles; with visibility none it would not. Fading would show colours without
        // a meaning.
        const paint = {
            "raster-opacity": 0, "raster-fade-duration": 0, "raster-opacity-transition": { duration: 0, delay: 0 },
        };
        this.#map.addLayer(
            { id, type: "raster", source: id, paint }, before && this.#map.getLayer(before) ? before : undefined,
        );
    }

    /** @param {string | undefined} id */
    #removeRaster(id) {
        if (id === undefined) return;
        this.#tiles.delete(id);
        removeLayerAndSource(this.#map, id);
    }

    /** @param {string} id */
    isReady(id) {
        return !this.hasFailed(id) && this.#partsOf(id).every(({ id }) => this.#isLoaded(id));
    }

    /** @param {string} id */
    hasFailed(id) { return this.#statesOf(id).some(([, state]) => state === "failed"); }

    /** The tiles of the visible frame by "z/x/y", and their states. A failed one is requested again after a while.
     * @returns {ReadonlyMap<string, import("./tile-states.js").TileState>} */
    get states() {
        const states = this.#shown === null ? [] : this.#statesOf(this.#shown);
        return worstStates(states.filter(([key]) => key));
    }

    /** @param {string} id
     * @returns {[key: string, state: import("./tile-states.js").TileState][]} */
    #statesOf(id) {
        return this.#partsOf(id).flatMap(({ id }) => this.#rasterStates(id));
    }

    /** @param {string} id
     * @returns {[key: string, state: import("./tile-states.js").TileState][]} */
    #rasterStates(id) {
        const tiles = [...this.#tiles.get(id)?.values() ?? []];
        // MapLibre counts a source as loaded from the first tile with an error on.
        const hasError = tiles.some(({ state }) => state === "failed");
        const isLoaded = this.#isLoaded(id) && (!hasError || this.#map.areTilesLoaded());
        return tiles.map(({ key, state }) => [key, isLoaded && state === "loading" ? "failed" : state]);
    }

    /** @param {string} id */
    #lacksTiles(id) { return this.#rasterStates(id).some(([, state]) => state === "failed"); }

    /** @param {string} id */
    #isLoaded(id) { return Boolean(this.#map.getSource(id)) && this.#map.isSourceLoaded(id); }

    /** @param {TileEvent} event
     * @param {import("./tile-states.js").TileState} state */
    #record({ sourceId = "", tile }, state) {
        const { z, x, y } = tile?.tileID?.canonical ?? {};
        this.#tiles.get(sourceId)?.set(idOf(tile), { key: z === undefined ? "" : `${z}/${x}/${y}`, state });
        this.#retry.check();
    }

    /** Loads the visible frame's sources with failed tiles anew, each below its predecessor. MapLibre can't draw a
     * failed tile while it loads again. */
    #retryFailed() {
        for (const part of this.#partsOf(this.#shown ?? "")) {
            if (!this.#lacksTiles(part.id) || (part.next !== undefined && !this.#lacksTiles(part.next))) continue;
            this.#removeRaster(part.next);
            part.next = `${this.#options.prefix}-${(this.#number += 1)}`;
            this.#addRaster(part.next, part.url, part.id);
        }
    }

    /** Replaces sources with failed tiles by those that have them. */
    #replaceFailed() {
        for (const [frame, parts] of this.#parts) {
            for (const part of parts) {
                const { id, next, opacity } = part;
                if (next === undefined || !this.#isLoaded(next) || this.#lacksTiles(next)) continue;
                const share = frame === this.#shown ? this.#options.opacity * opacity : 0;
                this.#map.setPaintProperty(next, "raster-opacity", share);
                this.#removeRaster(id);
                Object.assign(part, { id: next, next: undefined });
            }
        }
    }

    /** Shows a frame and hides the previous one in the same frame of the map.
     * @param {string} id
     * @param {string | null} previous */
    show(id, previous) {
        for (const part of this.#partsOf(id)) {
            this.#map.setPaintProperty(part.id, "raster-opacity", this.#options.opacity * part.opacity);
        }
        this.#shown = id;
        this.#retry.check();
        if (!previous || previous === id) return;
        for (const part of this.#partsOf(previous)) {
            if (this.#map.getLayer(part.id)) this.#map.setPaintProperty(part.id, "raster-opacity", 0);
        }
    }

    /** @param {string} id */
    remove(id) {
        if (this.#shown === id) this.#shown = null;
        for (const part of this.#partsOf(id)) {
            this.#removeRaster(part.id);
            this.#removeRaster(part.next);
        }
        this.#parts.delete(id);
    }

    /** @param {string} id */
    #partsOf(id) { return this.#parts.get(id) ?? []; }
}

/** Points on a MapLibre GL map: one source and layer, filtered by time. */
export class MapLibrePoints {
    #map;
    #options;
    #number = 0;

    /** `paint` and `before` apply to the circle layer. The ids of source and layer begin with `prefix`.
     * @param {MapLibreMap} map
     * @param {{ paint?: object, before?: string, prefix?: string }} options */
    constructor(map, options = {}) {
        this.#map = map;
        const prefix = `points-${(made += 1)}`;
        const colour = [
            "match", ["get", "severity"], ...POINT_COLOURS.flatMap((colour, severity) => [severity, colour]),
            DEFAULT_COLOUR,
        ];
        const paint = {
            "circle-radius": 6, "circle-color": colour, "circle-stroke-color": "#14181D", "circle-stroke-width": 1.5,
        };
        /** @type {{ prefix: string, before?: string, paint: object }} */
        this.#options = { prefix, ...options, paint: { ...paint, ...options.paint } };
    }

    /** @param {TimedFeature[]} points */
    add(points) {
        const { prefix, before, paint } = this.#options;
        const id = `${prefix}-${(this.#number += 1)}`;
        const features = points.map(({ geometry, properties, time }) => ({
            type: "Feature", geometry: {
                type: "Point", coordinates: middle(geometry),
            }, properties: { ...properties, "billow:time": time },
        }));
        this.#map.addSource(id, { type: "geojson", data: { type: "FeatureCollection", features } });
        const layer = { id, type: "circle", source: id, paint, filter: ["literal", false] };
        this.#map.addLayer(layer, before && this.#map.getLayer(before) ? before : undefined);
        return id;
    }

    /** Shows the points with times in (after, until].
     * @param {string} id
     * @param {number} after
     * @param {number} until */
    show(id, after, until) {
        const time = ["get", "billow:time"];
        this.#map.setFilter(id, ["all", [">", time, after], ["<=", time, until]]);
    }

    /** @param {string} id */
    remove(id) {
        removeLayerAndSource(this.#map, id);
    }
}
