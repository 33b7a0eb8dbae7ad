// @ts-check
// Loads several tiles as one picture, because a browser needs several milliseconds for each request, however small. The
// server's WMS draws a picture of tiles as it draws the tiles.

/** @typedef {import("./tile-grid.js").Grid} Grid */
/** @typedef {import("./tile-grid.js").Place} Place */

const TEMPLATE = /^(.*)\/tiles\/([^/]+)\/([^/]+)\/\{z\}\/\{x\}\/\{y\}\.png(?:\?(.*))?$/;
const TILE_PIXELS = 256;
/** The most columns and rows of a sheet. The server draws pictures of up to 768 px beside tiles, and larger ones one at
 * a time. */
const MAX_SIDE = 3;
/** Half the world's width in metres of web mercator. Source: EPSG:3857 */
const HALF_WORLD = 20_037_508.342789244;

/** The address of a sheet; null if the template is not one of a Billow server, or one of tiles of another size.
 * @param {string} template  with {z}, {x} and {y}
 * @param {Grid} sheet  its tiles
 * @returns {string | null} */
export function sheetAddress(template, { z, left, top, columns, rows }) {
    const [found, base, layers = "", time = "", query] = TEMPLATE.exec(template) ?? [];
    if (found === undefined) return null;
    const parameters = new URLSearchParams(query);
    const style = parameters.get("style") ?? "";
    parameters.delete("style");
    /** @param {number} edge  a column or row */
    const metres = (edge) => (edge / 2 ** z * 2 - 1) * HALF_WORLD;
    const wms = {
        SERVICE: "WMS", VERSION: "1.3.0", REQUEST: "GetMap", LAYERS: layers,
        STYLES: layers.split(",").map(() => style).join(), CRS: "EPSG:3857",
        BBOX: [metres(left), -metres(top + rows), metres(left + columns), -metres(top)].join(),
        WIDTH: `${columns * TILE_PIXELS}`, HEIGHT: `${rows * TILE_PIXELS}`, FORMAT: "image/png", TRANSPARENT: "TRUE",
        TIME: time.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5"),
    };
    for (const [name, value] of Object.entries(wms)) parameters.set(name, value);
    return `${base}/wms?${parameters}`;
}

/** Divides places into sheets of almost equal size. Several sheets may lack some of their tiles.
 * @template {Pick<Place, "column" | "row">} Some
 * @param {Some[]} places
 * @returns {Some[][]} */
export function sheetsOf(places) {
    const { left, top, columns, rows } = rectangleOf(places);
    /** @param {number} count */
    const side = (count) => count / Math.ceil(count / MAX_SIDE);
    /** @type {Map<string, Some[]>} */
    const sheets = new Map();
    for (const place of places) {
        const key = [
            Math.floor((place.column - left + 0.01) / side(columns)), Math.floor((place.row - top + 0.01) / side(rows)),
        ].join();
        sheets.set(key, [...sheets.get(key) ?? [], place]);
    }
    return [...sheets.values()];
}

/** The smallest rectangle of a grid that has all the places.
 * @param {Pick<Place, "column" | "row">[]} places
 * @returns {{ left: number, top: number, columns: number, rows: number }} */
export function rectangleOf(places) {
    const columns = places.map(({ column }) => column), rows = places.map(({ row }) => row);
    const left = Math.min(...columns), top = Math.min(...rows);
    return { left, top, columns: Math.max(...columns) - left + 1, rows: Math.max(...rows) - top + 1 };
}
