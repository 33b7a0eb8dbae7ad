// @ts-check
// Frames and points on an OpenLayers map.

import { DEFAULT_COLOUR, middle, POINT_COLOURS } from "./point-style.js";
import { maxzoomOf, tileSizeOf } from "./tile-grid.js";
import { keyOf, Retry, worstStates } from "./tile-states.js";

/** @typedef {import("./points.js").TimedFeature} TimedFeature */

/** A tile of OpenLayers.
 * @typedef {{ getTileCoord(): [z: number, x: number, y: number], load(): void }} OpenLayersTile */

/** A tile layer of OpenLayers, and the states of its tiles by their places. A place may lie beside the world.
 * @typedef {{
 *     layer: any, requested: boolean, ready: boolean,
 *     tiles: Map<string, { tile: OpenLayersTile, state: import("./tile-states.js").TileState }>,
 * }} OpenLayersFrame */

/** Whether a frame has a tile in a state.
 * @param {OpenLayersFrame} frame
 * @param {import("./tile-states.js").TileState} wanted */
const hasTile = ({ tiles }, wanted) => [...tiles.values()].some(({ state }) => state === wanted);

/** Frames on an OpenLayers map. Each has a tile layer, and only one layer is visible. */
export class OpenLayersFrames {
    #map;
    #library;
    #options;
    /** @type {Set<OpenLayersFrame>} */
    #frames = new Set();
    /** Called when the map has drawn all requested tiles. Then no tile of a frame is queued any more. */
    #onComplete = () => {
        for (const frame of this.#frames) frame.ready = frame.requested && !hasTile(frame, "loading");
    };

    /** @type {OpenLayersFrame | null} */
    #shown = null;
    #retry = new Retry(() => this.#shown !== null && this.hasFailed(this.#shown), () => {
        for (const { tile, state } of this.#shown?.tiles.values() ?? []) if (state === "failed") tile.load();
    });

    /** `library` is OpenLayers' `ol`. `opacity` applies to the visible frame. `zIndex` is the frames' position among
     * other layers. `maxZoom` is the last zoom whose tiles are requested. The map shows `attributions` as the frames'
     * origin. `address` may change a frame's template, for example for @2x tiles.
     * @param {any} map  an `ol.Map`
     * @param {any} library
     * @param {{
     *     opacity?: number, zIndex?: number, maxZoom?: number, attributions?: string,
     *     address?: (url: string) => string, tilePixelRatio?: number,
     * }} options */
    constructor(map, library, options = {}) {
        this.#map = map;
        this.#library = library;
        this.#options = { opacity: 1, maxZoom: 14, address: String, tilePixelRatio: 1, ...options };
        map.on("rendercomplete", this.#onComplete);
    }

    /** @param {string} url
     * @returns {OpenLayersFrame} */
    add(url) {
        const { address, attributions, maxZoom, tilePixelRatio, zIndex } = this.#options;
        const tileSize = tileSizeOf(url);
        const source = new this.#library.source.XYZ({
            url: address(url), tileSize, maxZoom: maxzoomOf(tileSize, maxZoom), tilePixelRatio, attributions,
            crossOrigin: "anonymous", transition: 0,
        });
        /** @type {OpenLayersFrame} */
        const frame = {
            layer: new this.#library.layer.Tile({ source, opacity: 0, zIndex }), requested: false, ready: false,
            tiles: new Map(),
        };
        /** @type {(tile: OpenLayersTile, state: import("./tile-states.js").TileState) => void} */
        const record = (tile, state) => {
            const place = tile.getTileCoord().join("/");
            const known = frame.tiles.get(place);
            const isRetried = known?.tile === tile && known.state === "failed";
            frame.tiles.set(place, { tile, state: state === "loading" && isRetried ? "failed" : state });
            // The map does not know of a retry.
            if (isRetried && state === "loaded") frame.layer.changed();
            this.#retry.check();
        };
        source.on("tileloadstart", (/** @type {{ tile: OpenLayersTile }} */ { tile }) => {
            Object.assign(frame, { requested: true, ready: false });
            record(tile, "loading");
        });
        source.on("tileloadend", (/** @type {{ tile: OpenLayersTile }} */ { tile }) => record(tile, "loaded"));
        source.on("tileloaderror", (/** @type {{ tile: OpenLayersTile }} */ { tile }) => record(tile, "failed"));
        this.#frames.add(frame);
        this.#map.addLayer(frame.layer);
        return frame;
    }

    /** @param {OpenLayersFrame} frame */
    isReady(frame) { return frame.ready; }
    /** @param {OpenLayersFrame} frame */
    hasFailed(frame) { return hasTile(frame, "failed"); }

    /** The tiles of the visible frame by "z/x/y", and their states. A failed one is requested again after a while.
     * @returns {ReadonlyMap<string, import("./tile-states.js").TileState>} */
    get states() {
        return worstStates([...this.#shown?.tiles.values() ?? []].map(({ tile, state }) =>
            [keyOf(...tile.getTileCoord()), state]));
    }

    /** Shows a frame and hides the previous one in the same drawing of the map.
     * @param {OpenLayersFrame} frame
     * @param {OpenLayersFrame | null} previous */
    show(frame, previous) {
        frame.layer.setOpacity(this.#options.opacity);
        if (previous && previous !== frame) previous.layer.setOpacity(0);
        this.#shown = frame;
        this.#retry.check();
    }

    /** @param {OpenLayersFrame} frame */
    remove(frame) {
        if (this.#shown === frame) this.#shown = null;
        this.#frames.delete(frame);
        this.#map.removeLayer(frame.layer);
    }
}

/** The points of one query, in a separate layer.
 * @typedef {{ layer: any, after: number, until: number }} OpenLayersPointLayer */

/** Points on an OpenLayers map: a vector layer whose style hides points of other times. */
export class OpenLayersPoints {
    #map;
    #library;
    #options;

    /** `library` is OpenLayers' `ol`; `radius` is in pixels; `zIndex` is the points' position among other layers.
     * @param {any} map  an `ol.Map`
     * @param {any} library
     * @param {{ radius?: number, zIndex?: number }} options */
    constructor(map, library, options = {}) {
        this.#map = map;
        this.#library = library;
        this.#options = { radius: 6, ...options };
    }

    /** @param {TimedFeature[]} points
     * @returns {OpenLayersPointLayer} */
    add(points) {
        const { Feature, geom, layer, proj, source, style } = this.#library;
        const { radius, zIndex } = this.#options;
        const styles = [...POINT_COLOURS, DEFAULT_COLOUR].map((color) => new style.Style({
            image: new style.Circle({
                radius, fill: new style.Fill({ color }), stroke: new style.Stroke({ color: "#14181D", width: 1.5 }),
            }),
        }));
        /** @type {OpenLayersPointLayer} */
        const shown = { layer: null, after: Infinity, until: -Infinity };
        const features = points.map(({ geometry, properties, time }) => new Feature({
            geometry: new geom.Point(proj.fromLonLat(middle(geometry))), time,
            style: styles[properties.severity ?? POINT_COLOURS.length] ?? styles[POINT_COLOURS.length],
        }));
        shown.layer = new layer.Vector({
            source: new source.Vector({ features }), zIndex,
            style: (/** @type {any} */ feature) => {
                const time = feature.get("time");
                return time > shown.after && time <= shown.until ? feature.get("style") : undefined;
            },
        });
        this.#map.addLayer(shown.layer);
        return shown;
    }

    /** Shows the points with times in (after, until].
     * @param {OpenLayersPointLayer} points
     * @param {number} after
     * @param {number} until */
    show(points, after, until) {
        if (points.after === after && points.until === until) return;
        Object.assign(points, { after, until });
        points.layer.changed();
    }

    /** @param {OpenLayersPointLayer} points */
    remove(points) { this.#map.removeLayer(points.layer); }
}
