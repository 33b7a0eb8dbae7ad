// @ts-check
// Finds places for the labels of a route's waypoints, where they hide no report. It reads the tiles of the reports
// alone, because they show exactly what the server draws.
import { fetchResponse } from "./server.js";
import { compactTime } from "./format.js";
import { LAYERS, showsCells } from "./layers.js";
import { styleOf } from "./styles.js";
import { isOutside } from "./time-extent.js";
import { filters } from "./view.js";
import { mercator, WORLD_TILE_PIXELS } from "./visible-tiles.js";

const TILE_PIXELS = 256, MAX_ZOOM = 14;
/** From the waypoint to the nearest side of its label. */
const GAP = 9;
/** The directions of the spots from the waypoint, the best first. */
const DIRECTIONS = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]];
/** Below this opacity, of 255, a pixel belongs to the edge of a sign. */
const LEAST_OPACITY = 40;

/** @typedef {{ width: number, height: number }} Size
 * @typedef {{ x: number, y: number }} Spot  the middle of a label, in pixels from its waypoint */

/** The spots of a label, the best first.
 * @param {Size} size
 * @returns {Spot[]} */
export const spotsOf = ({ width, height }) =>
    DIRECTIONS.map(([x, y]) => ({ x: x * (GAP + width / 2), y: y * (GAP + height / 2) }));

/** The first spot at which a label hides no report, or null.
 * @param {Size} size
 * @param {(left: number, top: number, right: number, bottom: number) => boolean} hasReport  whether a part of the map
 *     has a report, in pixels from the waypoint */
export const freeSpot = (size, hasReport) => spotsOf(size).find(({ x, y }) => !hasReport(
    x - size.width / 2, y - size.height / 2, x + size.width / 2, y + size.height / 2)) ?? null;

/** Finds the reports that a view shows around a waypoint. Returns the last parameter of `freeSpot`.
 * @param {Billow.View} view  with the instant and the zoom of the map
 * @param {{ longitude: number, latitude: number }} waypoint
 * @param {Size} size  of the label
 * @returns {Promise<Parameters<typeof freeSpot>[1]>} */
export async function reportsAround(view, { longitude, latitude }, size) {
    const observed = view.layers.filter((id) =>
        showsCells(id) || LAYERS.some((each) => each.id === id && each.shape === "reports"));
    // Reports end now, and the server refuses requests for later.
    const absent = await Promise.all(observed.map((id) => isOutside(id, view.time)));
    const ids = observed.filter((_, index) => !absent[index]);
    if (!ids.length) return () => false;
    const z = Math.max(0, Math.min(Math.round(view.zoom + 1), MAX_ZOOM)), count = 2 ** z;
    // Between two zooms the map scales the tiles.
    const scale = (WORLD_TILE_PIXELS * 2 ** view.zoom) / (TILE_PIXELS * count);
    const [x, y] = mercator(longitude, latitude).map((share) => share * count * TILE_PIXELS);
    const reach = [size.width + GAP, size.height + GAP].map((pixels) => Math.ceil(pixels / scale));
    const [left, top] = [Math.round(x) - reach[0], Math.round(y) - reach[1]];
    const [width, height] = [2 * reach[0], 2 * reach[1]];
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error("this browser does not support canvas drawing");
    const query = filters(view);
    query.set("style", styleOf(view).id);
    const time = view.time === null ? "latest" : compactTime(view.time);
    /** @type {[column: number, row: number][]} */
    const tiles = [];
    for (let column = Math.floor(left / TILE_PIXELS); column * TILE_PIXELS < left + width; column += 1) {
        for (let row = Math.floor(top / TILE_PIXELS); row * TILE_PIXELS < top + height; row += 1) {
            if (row >= 0 && row < count) tiles.push([column, row]);
        }
    }
    await Promise.all(tiles.map(async ([column, row]) => {
        const wrapped = ((column % count) + count) % count;
        const response = await fetchResponse(
            `tiles/${ids.join()}/${time}/${z}/${wrapped}/${row}.png?${query}`, { cache: "no-cache" });
        const image = await createImageBitmap(await response.blob());
        context.drawImage(image, column * TILE_PIXELS - left, row * TILE_PIXELS - top, TILE_PIXELS, TILE_PIXELS);
    }));
    const { data } = context.getImageData(0, 0, width, height);
    return (west, north, east, south) => {
        const [fromX, toX] = [west, east].map((pixels) => Math.round(x + pixels / scale) - left);
        const [fromY, toY] = [north, south].map((pixels) => Math.round(y + pixels / scale) - top);
        for (let row = Math.max(0, fromY); row < Math.min(height, toY); row += 1) {
            for (let column = Math.max(0, fromX); column < Math.min(width, toX); column += 1) {
                if (data[4 * (row * width + column) + 3] >= LEAST_OPACITY) return true;
            }
        }
        return false;
    };
}
