/** Frames on an OpenLayers map. Each has a tile layer, and only one layer is visible. */
export class OpenLayersFrames {
    /** `library` is OpenLayers' `ol`. `opacity` applies to the visible frame. `zIndex` is the frames' position among
     * other layers. `maxZoom` is the last zoom whose tiles are requested. The map shows `attributions` as the frames'
     * origin. `address` may change a frame's template, for example for @2x tiles.
     * @param {any} map  an `ol.Map`
     * @param {any} library
     * @param {{
     *     opacity?: number, zIndex?: number, maxZoom?: number, attributions?: string,
     *     address?: (url: string) => string, tilePixelRatio?: number,
     * }} options */
    constructor(map: any, library: any, options?: {
        opacity?: number | undefined;
        zIndex?: number | undefined;
        maxZoom?: number | undefined;
        attributions?: string | undefined;
        address?: ((url: string) => string) | undefined;
        tilePixelRatio?: number | undefined;
    });
    /** @param {string} url
     * @returns {OpenLayersFrame} */
    add(url: string): OpenLayersFrame;
    /** @param {OpenLayersFrame} frame */
    isReady(frame: OpenLayersFrame): boolean;
    /** @param {OpenLayersFrame} frame */
    hasFailed(frame: OpenLayersFrame): boolean;
    /** The tiles of the visible frame by "z/x/y", and their states. A failed one is requested again after a while.
     * @returns {ReadonlyMap<string, import("./tile-states.js").TileState>} */
    get states(): ReadonlyMap<string, import("./tile-states.js").TileState>;
    /** Shows a frame and hides the previous one in the same drawing of the map.
     * @param {OpenLayersFrame} frame
     * @param {OpenLayersFrame | null} previous */
    show(frame: OpenLayersFrame, previous: OpenLayersFrame | null): void;
    /** @param {OpenLayersFrame} frame */
    remove(frame: OpenLayersFrame): void;
    #private;
}
/** The points of one query, in a separate layer.
 * @typedef {{ layer: any, after: number, until: number }} OpenLayersPointLayer */
/** Points on an OpenLayers map: a vector layer whose style hides points of other times. */
export class OpenLayersPoints {
    /** `library` is OpenLayers' `ol`; `radius` is in pixels; `zIndex` is the points' position among other layers.
     * @param {any} map  an `ol.Map`
     * @param {any} library
     * @param {{ radius?: number, zIndex?: number }} options */
    constructor(map: any, library: any, options?: {
        radius?: number;
        zIndex?: number;
    });
    /** @param {TimedFeature[]} points
     * @returns {OpenLayersPointLayer} */
    add(points: TimedFeature[]): OpenLayersPointLayer;
    /** Shows the points with times in (after, until].
     * @param {OpenLayersPointLayer} points
     * @param {number} after
     * @param {number} until */
    show(points: OpenLayersPointLayer, after: number, until: number): void;
    /** @param {OpenLayersPointLayer} points */
    remove(points: OpenLayersPointLayer): void;
    #private;
}
export type TimedFeature = import("./points.js").TimedFeature;
/**
 * A tile of OpenLayers.
 */
export type OpenLayersTile = {
    getTileCoord(): [z: number, x: number, y: number];
    load(): void;
};
/**
 * A tile layer of OpenLayers, and the states of its tiles by their places. A place may lie beside the world.
 */
export type OpenLayersFrame = {
    layer: any;
    requested: boolean;
    ready: boolean;
    tiles: Map<string, {
        tile: OpenLayersTile;
        state: import("./tile-states.js").TileState;
    }>;
};
/**
 * The points of one query, in a separate layer.
 */
export type OpenLayersPointLayer = {
    layer: any;
    after: number;
    until: number;
};
