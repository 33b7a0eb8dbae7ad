// @ts-check
// The tiles that cover a map's window.

/** @typedef {{ getWest(): number, getEast(): number, getSouth(): number, getNorth(): number }} Bounds */

/** The zoom of the tiles, the first column and row, and the numbers of columns and rows. The columns may reach beyond
 * the world, to that beside it.
 * @typedef {{ z: number, left: number, top: number, columns: number, rows: number }} Grid */

/** A tile's address, and its position in the grid.
 * @typedef {{ key: string, z: number, x: number, y: number, column: number, row: number }} Place */

const MERCATOR_LATITUDE = 85.0511;
/** MapLibre counts zooms by tiles of this side. The server's tiles of 512 points have the detail of the next zoom. */
const LARGE_TILE = 512;
const STANDARD_TILE = 256;
/** A grid of more pixels has a lower zoom. This happens on a tilted map only. */
const MAX_PIXELS = 240 * STANDARD_TILE ** 2;

/** The side of a template's tiles in points, by its parameter `size`.
 * @param {string} template */
export const tileSizeOf = (template) => (/[?&]size=512(&|$)/.test(template) ? LARGE_TILE : STANDARD_TILE);

/** The highest zoom of tiles that have the detail of `maxzoom` of standard tiles.
 * @param {number} tileSize
 * @param {number} maxzoom */
export const maxzoomOf = (tileSize, maxzoom) => (tileSize === LARGE_TILE ? maxzoom - 1 : maxzoom);

/** Source: J. P. Snyder, Map Projections: A Working Manual (1987), page 41, doi:10.3133/pp1395
 * @param {number} latitude */
function heightOf(latitude) {
    const sine = Math.sin((Math.max(-MERCATOR_LATITUDE, Math.min(latitude, MERCATOR_LATITUDE)) * Math.PI) / 180);
    return 0.5 - Math.atanh(sine) / (2 * Math.PI);
}

/** The tiles that cover bounds, by MapLibre's choice of zoom.
 * @param {Bounds} bounds
 * @param {number} zoom  the map's
 * @param {number} maxzoom  the highest zoom of standard tiles
 * @param {number} [tileSize]  the side of a tile in points
 * @returns {Grid} */
export function gridOf(bounds, zoom, maxzoom, tileSize = STANDARD_TILE) {
    const difference = Math.log2(LARGE_TILE / tileSize);
    const z = Math.max(0, Math.min(Math.round(zoom + difference), maxzoomOf(tileSize, maxzoom)));
    const count = 2 ** z;
    const [west, east] = [bounds.getWest(), bounds.getEast()].map((longitude) => (longitude / 360 + 0.5) * count);
    const [north, south] = [bounds.getNorth(), bounds.getSouth()].map((latitude) => heightOf(latitude) * count);
    const top = Math.max(0, Math.min(Math.floor(north), count - 1));
    const rows = Math.max(1, Math.min(Math.ceil(south), count) - top);
    let left = Math.floor(west), columns = Math.max(1, Math.ceil(east) - left);
    // The whole world; the map repeats it.
    if (columns >= count) [left, columns] = [0, count];
    const pixels = columns * rows * tileSize ** 2;
    if (pixels > MAX_PIXELS && z > 0) return gridOf(bounds, z - 1 - difference, maxzoom, tileSize);
    // MapLibre requires that the middle lies in the world.
    left -= Math.floor((left + columns / 2) / count) * count;
    return { z, left, top, columns, rows };
}

/** The tiles of a grid, those near its middle first.
 * @param {Grid} grid
 * @returns {Place[]} */
export function placesOf({ z, left, top, columns, rows }) {
    const count = 2 ** z;
    const places = Array.from({ length: columns * rows }, (_, index) => {
        const column = index % columns, row = Math.floor(index / columns);
        const x = (((left + column) % count) + count) % count, y = top + row;
        const distance = Math.hypot(column + 0.5 - columns / 2, row + 0.5 - rows / 2);
        return { key: `${z}/${x}/${y}`, z, x, y, column, row, distance };
    });
    return places.sort((a, b) => a.distance - b.distance);
}

/** The corners of a grid as longitude and latitude, clockwise from the north-west.
 * @param {Grid} grid
 * @returns {[number, number][]} */
export function cornersOf({ z, left, top, columns, rows }) {
    const count = 2 ** z;
    const [west, east] = [left, left + columns].map((x) => (x / count - 0.5) * 360);
    const [north, south] = [top, top + rows].map((y) =>
        (Math.atan(Math.sinh((0.5 - y / count) * 2 * Math.PI)) * 180) / Math.PI);
    return [[west, north], [east, north], [east, south], [west, south]];
}
