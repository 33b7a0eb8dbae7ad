/** The tiles that cover bounds, by MapLibre's choice of zoom.
 * @param {Bounds} bounds
 * @param {number} zoom  the map's
 * @param {number} maxzoom  the highest zoom of standard tiles
 * @param {number} [tileSize]  the side of a tile in points
 * @returns {Grid} */
export function gridOf(bounds: Bounds, zoom: number, maxzoom: number, tileSize?: number | undefined): Grid;
/** The tiles of a grid, those near its middle first.
 * @param {Grid} grid
 * @returns {Place[]} */
export function placesOf({ z, left, top, columns, rows }: Grid): Place[];
/** The corners of a grid as longitude and latitude, clockwise from the north-west.
 * @param {Grid} grid
 * @returns {[number, number][]} */
export function cornersOf({ z, left, top, columns, rows }: Grid): [number, number][];
export function tileSizeOf(template: string): 512 | 256;
export function maxzoomOf(tileSize: number, maxzoom: number): number;
export type Bounds = {
    getWest(): number;
    getEast(): number;
    getSouth(): number;
    getNorth(): number;
};
/**
 * The zoom of the tiles, the first column and row, and the numbers of columns and rows. The columns may reach beyond
 * the world, to that beside it.
 */
export type Grid = {
    z: number;
    left: number;
    top: number;
    columns: number;
    rows: number;
};
/**
 * A tile's address, and its position in the grid.
 */
export type Place = {
    key: string;
    z: number;
    x: number;
    y: number;
    column: number;
    row: number;
};
