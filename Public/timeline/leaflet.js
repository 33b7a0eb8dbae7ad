// @ts-check
// Frames and points on a Leaflet map.

import { DEFAULT_COLOUR, middle, POINT_COLOURS } from "./point-style.js";
import { tileSizeOf } from "./tile-grid.js";
import { keyOf, Retry, worstStates } from "./tile-states.js";

/** Longer than Leaflet's fade of tiles, which takes 200 ms and ends with a frame of the page. */
const LEAFLET_FADE_MILLISECONDS = 250;

/** @typedef {import("./points.js").TimedFeature} TimedFeature */

/** Leaflet replaces `{r}` by `@2x` on fine screens.
 * @param {string} url */
const forAnyScreen = (url) => url.replace("{y}.png", "{y}{r}.png");

/** The options for tiles of another size than Leaflet expects. It counts zooms by tiles of 256 points.
 * @param {string} url */
const sizeOptions = (url) => {
    const tileSize = tileSizeOf(url);
    return tileSize === 256 ? {} : { tileSize, zoomOffset: -1, minNativeZoom: 1 };
};

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
    #map;
    #leaflet;
    #options;
    #address;
    /** @type {LeafletFrame | null} */
    #shown = null;
    #retry = new Retry(() => this.#shown !== null && this.hasFailed(this.#shown), () => {
        for (const [image, [, state]] of this.#shown?.tiles ?? []) {
            // The browser loads an image again if its address is set, even to the same one.
            const { src } = image;
            if (state === "failed") image.src = src;
        }
    });

    /** `leaflet` is the library's `L`; `options` go to its tile layers; `opacity` applies to the visible frame.
     * `address` may change a frame's template; without it, fine screens get tiles of twice the pixels.
     * @param {object} map  an `L.Map`
     * @param {Leaflet} leaflet
     * @param {{
     *     opacity?: number, maxNativeZoom?: number, address?: (url: string) => string, [option: string]: unknown,
     * }} options */
    constructor(map, leaflet, { address = forAnyScreen, ...options } = {}) {
        this.#map = map;
        this.#leaflet = leaflet;
        this.#address = address;
        this.#options = { opacity: 1, maxNativeZoom: 14, ...options };
    }

    /** @param {string} url
     * @returns {LeafletFrame} */
    add(url) {
        /** @type {LeafletFrame} */
        const frame = {
            layer: this.#leaflet.tileLayer(
                this.#address(url), { ...this.#options, ...sizeOptions(url), opacity: 0 },
            ),
            ready: false, timer: undefined, tiles: new Map(),
        };
        const { zoomOffset = 0 } = sizeOptions(url);
        /** @type {(state: import("./tile-states.js").TileState) => (event: LeafletTileEvent) => void} */
        const record = (state) => ({ coords: { x, y, z }, tile }) => {
            frame.tiles.set(tile, [keyOf(z + zoomOffset, x, y), state]);
            this.#retry.check();
        };
        frame.layer.on("loading", () => {
            clearTimeout(frame.timer);
            frame.ready = false;
        });
        // Leaflet fades a tile in after loading it. The frame is complete only after the fade.
        frame.layer.on("load", () => {
            clearTimeout(frame.timer);
            frame.timer = setTimeout(() => { frame.ready = true; }, LEAFLET_FADE_MILLISECONDS);
        });
        frame.layer.on("tileloadstart", record("loading"));
        frame.layer.on("tileload", record("loaded"));
        frame.layer.on("tileerror", record("failed"));
        frame.layer.on("tileunload", (/** @type {LeafletTileEvent} */ { tile }) => frame.tiles.delete(tile));
        frame.layer.addTo(this.#map);
        return frame;
    }

    /** @param {LeafletFrame} frame */
    isReady(frame) { return frame.ready; }
    /** @param {LeafletFrame} frame */
    hasFailed(frame) { return [...frame.tiles.values()].some(([, state]) => state === "failed"); }

    /** The tiles of the visible frame by "z/x/y", and their states. A failed one is requested again after a while.
     * @returns {ReadonlyMap<string, import("./tile-states.js").TileState>} */
    get states() { return worstStates(this.#shown?.tiles.values() ?? []); }

    /** @param {LeafletFrame} frame
     * @param {LeafletFrame | null} previous */
    show(frame, previous) {
        this.#shown = frame;
        this.#retry.check();
        frame.layer.setOpacity(this.#options.opacity);
        if (previous && previous !== frame) previous.layer.setOpacity(0);
    }

    /** @param {LeafletFrame} frame */
    remove(frame) {
        if (this.#shown === frame) this.#shown = null;
        clearTimeout(frame.timer);
        frame.layer.remove();
    }
}

/** A circle marker of Leaflet at its time.
 * @typedef {{ time: number, shown: boolean, marker: LeafletMarker }} LeafletPoint */

/** Points on a Leaflet map. Each has a circle marker. */
export class LeafletPoints {
    #map;
    #leaflet;
    #options;

    /** `leaflet` is the library's `L`; `options` go to its circle markers.
     * @param {object} map  an `L.Map`
     * @param {Leaflet} leaflet
     * @param {object} options */
    constructor(map, leaflet, options = {}) {
        this.#map = map;
        this.#leaflet = leaflet;
        this.#options = { radius: 6, weight: 1.5, color: "#14181D", fillOpacity: 1, ...options };
    }

    /** @param {TimedFeature[]} points
     * @returns {LeafletPoint[]} */
    add(points) {
        return points.map(({ geometry, properties, time }) => {
            const [longitude, latitude] = middle(geometry);
            const fillColor = POINT_COLOURS[properties.severity] ?? DEFAULT_COLOUR;
            return {
                time, shown: false,
                marker: this.#leaflet.circleMarker([latitude, longitude], { fillColor, ...this.#options }),
            };
        });
    }

    /** Shows the points with times in (after, until].
     * @param {LeafletPoint[]} points
     * @param {number} after
     * @param {number} until */
    show(points, after, until) {
        for (const point of points) {
            const shown = point.time > after && point.time <= until;
            if (shown === point.shown) continue;
            point.shown = shown;
            if (shown) point.marker.addTo(this.#map);
            else point.marker.remove();
        }
    }

    /** @param {LeafletPoint[]} points */
    remove(points) { for (const { marker } of points) marker.remove(); }
}
