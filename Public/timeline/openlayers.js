// @ts-check
// Frames and points on an OpenLayers map.

import { DEFAULT_COLOUR, middle, POINT_COLOURS } from "./point-style.js";
import { maxzoomOf, tileSizeOf } from "./tile-grid.js";

/** @typedef {import("./points.js").TimedFeature} TimedFeature */

/** A tile layer of OpenLayers.
 * @typedef {{ layer: any, loading: number, requested: boolean, ready: boolean, failed: boolean }} OpenLayersFrame */

/** Frames on an OpenLayers map. Each has a tile layer, and only one layer is visible. */
export class OpenLayersFrames {
    #map;
    #library;
    #options;
    /** @type {Set<OpenLayersFrame>} */
    #frames = new Set();
    /** Called when the map has drawn all requested tiles. Then no tile of a frame is queued any more. */
    #onComplete = () => {
        for (const frame of this.#frames) frame.ready = frame.requested && frame.loading === 0;
    };

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
            layer: new this.#library.layer.Tile({ source, opacity: 0, zIndex }), loading: 0, requested: false,
            ready: false, failed: false,
        };
        source.on("tileloadstart", () => Object.assign(frame, {
            requested: true, ready: false, loading: frame.loading + 1,
        }));
        source.on("tileloadend", () => { frame.loading -= 1; });
        source.on("tileloaderror", () => Object.assign(frame, { failed: true, loading: frame.loading - 1 }));
        this.#frames.add(frame);
        this.#map.addLayer(frame.layer);
        return frame;
    }

    /** @param {OpenLayersFrame} frame */
    isReady(frame) { return frame.ready; }
    /** @param {OpenLayersFrame} frame */
    hasFailed(frame) { return frame.failed; }

    /** Shows a frame and hides the previous one in the same drawing of the map.
     * @param {OpenLayersFrame} frame
     * @param {OpenLayersFrame | null} previous */
    show(frame, previous) {
        frame.layer.setOpacity(this.#options.opacity);
        if (previous && previous !== frame) previous.layer.setOpacity(0);
    }

    /** @param {OpenLayersFrame} frame */
    remove(frame) {
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
