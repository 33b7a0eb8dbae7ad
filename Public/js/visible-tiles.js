// @ts-check
// Predicts the tiles that a map will request, before the map exists.

/** The width of the world at zoom 0 in pixels, by MapLibre's count of zooms. */
export const WORLD_TILE_PIXELS = 512;
const MERCATOR_LATITUDE = 85.0511;

/** A place in the world's square: 0, 0 is its north-west corner, and 1, 1 its south-east corner.
 * Source: J. P. Snyder, Map Projections: A Working Manual (1987), page 41, doi:10.3133/pp1395
 * @param {number} longitude
 * @param {number} latitude
 * @returns {[x: number, y: number]} */
export function mercator(longitude, latitude) {
    const sine = Math.sin((Math.max(-MERCATOR_LATITUDE, Math.min(latitude, MERCATOR_LATITUDE)) * Math.PI) / 180);
    return [longitude / 360 + 0.5, 0.5 - Math.atanh(sine) / (2 * Math.PI)];
}

/** The latitude of a height in the world's square.
 * @param {number} y */
export const latitudeAt = (y) => (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI;

/** The part of the world in a window, as the bounds of a map.
 * @param {Pick<Billow.View, "zoom" | "longitude" | "latitude">} view
 * @param {number} width  in pixels
 * @param {number} height */
export function boundsOf({ zoom, longitude, latitude }, width, height) {
    const world = WORLD_TILE_PIXELS * 2 ** zoom;
    const [, y] = mercator(longitude, latitude);
    return {
        getWest: () => longitude - width / world * 180, getEast: () => longitude + width / world * 180,
        getSouth: () => latitudeAt(y + height / world / 2), getNorth: () => latitudeAt(y - height / world / 2),
    };
}

/** The 256-pixel tiles that cover a view, by MapLibre's choice of zoom. Tiles near the centre come first.
 * @param {Pick<Billow.View, "zoom" | "longitude" | "latitude">} view
 * @param {number} width  the map's width in pixels
 * @param {number} height
 * @returns {[z: number, x: number, y: number][]} */
export function tilesInView({ zoom, longitude, latitude }, width, height) {
    const z = Math.max(0, Math.min(Math.round(zoom + 1), 14));
    const count = 2 ** z;
    const tile = (WORLD_TILE_PIXELS * 2 ** zoom) / count;
    const centre = mercator(longitude, latitude).map((share) => share * count);
    const halfSize = [width / tile / 2, height / tile / 2];
    /** @type {Map<string, { tile: [number, number, number], distance: number }>} */
    const found = new Map();
    for (let x = Math.floor(centre[0] - halfSize[0]); x < centre[0] + halfSize[0]; x += 1) {
        for (let y = Math.floor(centre[1] - halfSize[1]); y < centre[1] + halfSize[1]; y += 1) {
            if (y < 0 || y >= count) continue;
            const wrapped = ((x % count) + count) % count;
            const distance = Math.hypot(x + 0.5 - centre[0], y + 0.5 - centre[1]);
            const key = `${wrapped}/${y}`;
            if (!found.has(key)) found.set(key, { tile: [z, wrapped, y], distance });
        }
    }
    return [...found.values()].sort((a, b) => a.distance - b.distance).map(({ tile }) => tile);
}
