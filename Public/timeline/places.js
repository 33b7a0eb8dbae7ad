// @ts-check
// Where and in which colour a feature stands as a point.

/** @typedef {{ type: string, coordinates: any }} Geometry */

/** The middle of a feature: its place, or the mean of its outline.
 * @param {Geometry} geometry
 * @returns {[longitude: number, latitude: number]} */
export function middle({ type, coordinates }) {
    if (type === "Point") return coordinates;
    /** @type {[number, number][]} */
    const ring = (
        type === "MultiPolygon" ? coordinates[0][0] : type === "Polygon" ? coordinates[0] : coordinates
    ).slice(0, -1);
    const west = ring[0]?.[0] ?? 0;
    // On the way from the first corner, so that the antimeridian doesn't matter.
    const turns = ring.map(([longitude]) => longitude - west - Math.round((longitude - west) / 360) * 360);
    /** @param {number[]} values */
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return [west + mean(turns), mean(ring.map(([, latitude]) => latitude))];
}

/** Of severities 0 to 4, and of what says nothing on turbulence. */
export const POINT_COLOURS = ["#FFFFFF", "#FFF04C", "#FFBC09", "#FF7100", "#FF0000"];
export const SILENT_COLOUR = "#898989";
