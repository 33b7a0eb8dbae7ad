// @ts-check
// The outline of an area on the map. GeoJSON cuts an area at the antimeridian, and the cut is no border of the area.

const ANTIMERIDIAN = 180;

/** The borders of polygons as lines, without the edges at the antimeridian. Lines stay as they are.
 * @param {{ type: string, coordinates: any }} geometry
 * @returns {{ type: "MultiLineString", coordinates: [number, number][][] }} */
export function outlineOf({ type, coordinates }) {
    /** @type {[number, number][][]} */
    const lines = type === "MultiPolygon" ? coordinates.flat() : type === "LineString" ? [coordinates] : coordinates;
    return {
        type: "MultiLineString", coordinates: lines.flatMap((line) => {
            /** @type {[number, number][][]} */
            const parts = [[]];
            for (const [index, place] of line.entries()) {
                if (index > 0 && isCut(line[index - 1], place)) parts.push([]);
                parts[parts.length - 1].push(place);
            }
            return parts.filter(({ length }) => length > 1);
        }),
    };
}

/** @param {[number, number]} start
 * @param {[number, number]} end */
const isCut = (start, end) => [start, end].every(([longitude]) => Math.abs(longitude) === ANTIMERIDIAN);
