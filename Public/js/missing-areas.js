// @ts-check
// Marks the places on the map that have no picture: a place without a picture looks like smooth air. Pictures and
// frames only report the states of their tiles. This module alone decides which places to mark, and draws the marks.
import { MISSING } from "./basemap.js";
import { contact } from "./contact.js";
import { layerName } from "./layers.js";
import { edgesOf, isMarkedIncomplete, shownView } from "./picture-state.js";
import { isTooEarly } from "./status.js";
import { latitudeAt, mercator } from "./visible-tiles.js";

/** The state of a tile. A loaded one is on the map. A tile without a state was not requested.
 * @typedef {"loading" | "loaded" | "failed"} TileState */

/** The states of the tiles of one raster, by "z/x/y".
 * @typedef {ReadonlyMap<string, TileState>} TileStates */

/** A place without a picture. It is a tile of any zoom.
 * @typedef {{ z: number, x: number, y: number, state: TileState | undefined }} MissingPlace */

/** Tiles usually arrive before this. Hatches that appear for a moment would only distract. Without the server, saved
 * tiles arrive sooner, and others never. */
const LOADING_MILLISECONDS = 1_500;
const SAVED_MILLISECONDS = 400;
const MAX_ZOOM = 14;

/** The places of a window that a raster does not draw. A tile that loads or has failed is drawn where the map still has
 * a coarser one or finer ones.
 * @param {{ z: number, x: number, y: number }[]} places  the tiles that cover the window
 * @param {TileStates} states
 * @returns {MissingPlace[]} */
export function missingPlaces(places, states) {
    /** The tiles that contain a smaller one on the map.
     * @type {Set<string>} */
    const containers = new Set();
    for (const [key, state] of states) {
        if (state !== "loaded") continue;
        let [z = 0, x = 0, y = 0] = key.split("/").map(Number);
        while (z > 0) {
            [z, x, y] = [z - 1, x >> 1, y >> 1];
            containers.add(`${z}/${x}/${y}`);
        }
    }
    /** The best state of the coarser tiles of a place.
     * @type {(z: number, x: number, y: number) => "loaded" | "failed" | undefined} */
    const coarser = (z, x, y) => {
        if (z === 0) return undefined;
        const state = states.get(`${z - 1}/${x >> 1}/${y >> 1}`);
        if (state === "loaded") return state;
        return coarser(z - 1, x >> 1, y >> 1) ?? (state === "failed" ? state : undefined);
    };
    /** @type {(z: number, x: number, y: number) => MissingPlace[]} */
    const missing = (z, x, y) => {
        const key = `${z}/${x}/${y}`;
        const own = states.get(key), above = coarser(z, x, y);
        if (own === "loaded" || above === "loaded") return [];
        if (containers.has(key)) {
            return [0, 1, 2, 3].flatMap((part) => missing(z + 1, 2 * x + (part & 1), 2 * y + (part >> 1)));
        }
        return [{ z, x, y, state: own ?? above }];
    };
    return places.flatMap(({ z, x, y }) => missing(z, x, y));
}

/** Whether little or nothing is stored of all layers on the map. Such a picture is hatched as a whole.
 * @param {import("./status.js").Knowledge} knowledge */
export function isEmpty(knowledge) {
    return (isMarkedIncomplete(knowledge) || Boolean(knowledge.absent?.length)) && shownView(knowledge).layers
        .every((id) => knowledge.absent?.includes(id) || isTooEarly(knowledge, id));
}

/** What the legend says of the hatch at the edges of fields; empty for none.
 * @param {import("./status.js").Knowledge} knowledge */
export function edgeText(knowledge) {
    const names = edgesOf(knowledge).map(layerName).join(", ");
    return names && `Hatched: no ${names}, which may hide turbulence.`;
}

/** Draws the marks on a map. */
export class MissingAreas {
    #map;
    #shown = "";
    /** The places that are loading, and since when.
     * @type {Map<string, number>} */
    #since = new Map();
    /** The number of marked places of which a tile could not be loaded. */
    failed = 0;

    /** @param {Pick<maplibregl.Map, "getBounds" | "getZoom" | "getSource" | "style">} map */
    constructor(map) { this.#map = map; }

    /** The states of a raster's tiles, of which those on the map are loaded. Only the library knows these: it scales
     * older tiles while others load, and drops tiles that are out of view.
     * @param {{ id: string, states: TileStates }} raster
     * @returns {TileStates} */
    statesOf({ id, states }) {
        const cache = this.#map.style?.sourceCaches?.[id];
        if (!cache) return states;
        /** @type {Map<string, TileState>} */
        const found = new Map([...states].filter(([, state]) => state !== "loaded"));
        for (const key of cache.getRenderableIds()) {
            const { z, x, y } = cache.getTileByID(key).tileID.canonical;
            found.set(`${z}/${x}/${y}`, "loaded");
        }
        return found;
    }

    /** Marks each place in view that one of the rasters does not draw. Without rasters, this is the whole map.
     * @param {TileStates[]} rasters
     * @param {boolean} isRefused  whether the map shows no raster because the server has none */
    show(rasters, isRefused) {
        const places = placesIn(this.#map.getBounds(), this.#map.getZoom());
        const time = performance.now();
        const isReached = contact.problem === null && !contact.isSilent;
        const patience = isReached ? LOADING_MILLISECONDS : SAVED_MILLISECONDS;
        const since = this.#since;
        this.#since = new Map();
        this.failed = 0;
        const marked = (rasters.length ? rasters : [new Map()]).flatMap((states) => missingPlaces(places, states))
            .filter(({ z, x, y, state }) => {
                if (state === "failed") this.failed += 1;
                if (state === "failed" || isRefused) return true;
                const key = `${z}/${x}/${y}`;
                const start = since.get(key) ?? time;
                this.#since.set(key, start);
                return time - start >= patience;
            });
        const unique = new Map(marked.map((place) => [`${place.z}/${place.x}/${place.y}`, place]));
        const shown = [...unique.keys()].sort().join();
        if (shown === this.#shown) return;
        const source = this.#map.getSource(MISSING);
        if (!source) return;
        this.#shown = shown;
        source.setData({ type: "FeatureCollection", features: [...unique.values()].map(square) });
    }
}

/** The tiles that cover a window, by MapLibre's choice of zoom.
 * @param {maplibregl.Bounds} bounds
 * @param {number} zoom */
function placesIn(bounds, zoom) {
    const z = Math.max(0, Math.min(Math.round(zoom + 1), MAX_ZOOM)), count = 2 ** z;
    const [left = 0, top = 0] = mercator(bounds.getWest(), bounds.getNorth()).map((share) => Math.floor(share * count));
    const [right = 0, bottom = 0] = mercator(bounds.getEast(), bounds.getSouth())
        .map((share) => Math.ceil(share * count));
    const columns = Math.min(right - left, count), rows = Math.min(bottom, count) - Math.max(top, 0);
    return Array.from({ length: columns * rows }, (_, index) => ({
        z, x: (((left + (index % columns)) % count) + count) % count, y: Math.max(top, 0) + Math.floor(index / columns),
    }));
}

/** @param {MissingPlace} place */
function square({ z, x, y }) {
    const [west, east] = [x, x + 1].map((column) => (column / 2 ** z) * 360 - 180);
    const [north, south] = [y, y + 1].map((row) => latitudeAt(row / 2 ** z));
    const ring = [[west, north], [west, south], [east, south], [east, north], [west, north]];
    return { type: "Feature", properties: {}, geometry: { type: "Polygon", coordinates: [ring] } };
}
