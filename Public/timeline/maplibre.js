// @ts-check
// Frames and points on a MapLibre GL map.

import { DEFAULT_COLOUR, middle, POINT_COLOURS } from "./point-style.js";
import { maxzoomOf, tileSizeOf } from "./tile-grid.js";

/** @typedef {import("./points.js").TimedFeature} TimedFeature */

/** The methods of a map that frames and points use. A `maplibregl.Map` has them.
 * @typedef {{
 *     on(
 *         name: "error" | "sourcedataloading" | "sourcedata" | "sourcedataabort", listener: (event: any) => void,
 *     ): unknown,
 *     addLayer(layer: any, before?: string): unknown, addSource(id: string, source: any): unknown,
 *     getLayer(id: string): unknown, getSource(id: string): unknown, isSourceLoaded(id: string): boolean,
 *     removeLayer(id: string): unknown, removeSource(id: string): unknown,
 *     setFilter(id: string, filter: any): unknown, setPaintProperty(id: string, name: any, value: any): unknown,
 * }} MapLibreMap */

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
    /** @type {Set<string>} */
    #failed = new Set();
    /** The id of a frame → its sources.
     * @type {Map<string, { id: string, opacity: number }[]>} */
    #parts = new Map();
    /** The tiles that each source has begun to load and not finished. MapLibre counts a tile that the server does not
     * have (404) as loaded, without an error. Only that it never arrives tells it from one that was loaded.
     * @type {Map<string, Set<unknown>>} */
    #loading = new Map();
    /** @param {{ sourceId?: string }} event */
    #onError = ({ sourceId }) => {
        if (sourceId) this.#failed.add(sourceId);
    };
    /** @param {{ sourceId?: string, tile?: unknown }} event */
    #onBegin = ({ sourceId, tile }) => {
        if (sourceId && tile) this.#loading.get(sourceId)?.add(tile);
    };
    /** @param {{ sourceId?: string, tile?: unknown }} event */
    #onEnd = ({ sourceId, tile }) => {
        if (sourceId && tile) this.#loading.get(sourceId)?.delete(tile);
    };

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
        map.on("sourcedataabort", this.#onEnd);
    }

    /** @param {string} url */
    add(url) {
        const { before, address, prefix, maxzoom, attribution, parts } = this.#options;
        const id = `${prefix}-${(this.#number += 1)}`;
        const rasters = parts(url).map((part, index) => ({ ...part, id: index ? `${id}-${index}` : id }));
        for (const { id, url } of rasters) {
            const tileSize = tileSizeOf(url);
            this.#loading.set(id, new Set());
            this.#map.addSource(id, {
                type: "raster", tiles: [address(url)], tileSize, maxzoom: maxzoomOf(tileSize, maxzoom),
                ...(attribution ? { attribution } : {}),
            });
            // With opacity 0 MapLibre loads the tiles; with visibility none it would not. Fading would show colours
            // without a meaning.
            const paint = {
                "raster-opacity": 0, "raster-fade-duration": 0, "raster-opacity-transition": { duration: 0, delay: 0 },
            };
            this.#map.addLayer(
                { id, type: "raster", source: id, paint }, before && this.#map.getLayer(before) ? before : undefined,
            );
        }
        this.#parts.set(id, rasters);
        return id;
    }

    /** @param {string} id */
    isReady(id) {
        return !this.hasFailed(id) && this.#partsOf(id).every(({ id }) => this.#isLoaded(id));
    }

    /** @param {string} id */
    hasFailed(id) {
        return this.#partsOf(id).some(({ id }) => this.#failed.has(id) || (this.#isLoaded(id) && this.#lacksTiles(id)));
    }

    /** @param {string} id */
    #isLoaded(id) { return Boolean(this.#map.getSource(id)) && this.#map.isSourceLoaded(id); }

    /** @param {string} id */
    #lacksTiles(id) { return (this.#loading.get(id)?.size ?? 0) > 0; }

    /** Shows a frame and hides the previous one in the same frame of the map.
     * @param {string} id
     * @param {string | null} previous */
    show(id, previous) {
        for (const part of this.#partsOf(id)) {
            this.#map.setPaintProperty(part.id, "raster-opacity", this.#options.opacity * part.opacity);
        }
        if (!previous || previous === id) return;
        for (const part of this.#partsOf(previous)) {
            if (this.#map.getLayer(part.id)) this.#map.setPaintProperty(part.id, "raster-opacity", 0);
        }
    }

    /** @param {string} id */
    remove(id) {
        for (const part of this.#partsOf(id)) {
            this.#failed.delete(part.id);
            this.#loading.delete(part.id);
            removeLayerAndSource(this.#map, part.id);
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
