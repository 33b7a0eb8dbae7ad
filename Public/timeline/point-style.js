// @ts-check
// The position and the colour of a feature that is drawn as a point.

/** @typedef {{ type: string, coordinates: any }} Geometry */

/** The middle of a feature: the position of a point, or the mean of an outline.
 * @param {Geometry} geometry
 * @returns {[longitude: number, latitude: number]} */
export function middle({ type, coordinates }) {
    if (type === "Point") return coordinates;
    /** @type {[number, number][]} */
    const ring = (
        type === "MultiPolygon" ? coordinates[0][0] : type === "Polygon" ? coordinates[0] : coordinates
    ).slice(0, -1);
    const west = ring[0]?.[0] ?? 0;
    // Offsets from the first corner are correct across the antimeridian.
    const turns = ring.map(([longitude]) => longitude - west - Math.round((longitude - west) / 360) * 360);
    /** @param {number[]} values */
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return [west + mean(turns), mean(ring.map(([, latitude]) => latitude))];
}

/** The colours of severities 0 to 4, and the colour of features without a severity. */
export const POINT_COLOURS = ["#FFFFFF", "#FFF04C", "#FFBC09", "#FF7100", "#FF0000"];
export const DEFAULT_COLOUR = "#898989";
