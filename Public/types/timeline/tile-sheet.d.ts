/** The address of a sheet; null if the template is not one of a Billow server, or one of tiles of another size.
 * @param {string} template  with {z}, {x} and {y}
 * @param {Grid} sheet  its tiles
 * @returns {string | null} */
export function sheetAddress(template: string, { z, left, top, columns, rows }: Grid): string | null;
/** Divides places into sheets of almost equal size. Several sheets may lack some of their tiles.
 * @template {Pick<Place, "column" | "row">} Some
 * @param {Some[]} places
 * @returns {Some[][]} */
export function sheetsOf<Some extends Pick<import("./tile-grid.js").Place, "column" | "row">>(places: Some[]): Some[][];
/** The smallest rectangle of a grid that has all the places.
 * @param {Pick<Place, "column" | "row">[]} places
 * @returns {{ left: number, top: number, columns: number, rows: number }} */
export function rectangleOf(places: Pick<Place, "column" | "row">[]): {
    left: number;
    top: number;
    columns: number;
    rows: number;
};
export type Grid = import("./tile-grid.js").Grid;
export type Place = import("./tile-grid.js").Place;
