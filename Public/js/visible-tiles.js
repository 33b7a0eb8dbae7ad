// @ts-check
// Predicts the tiles that a map will request, before the map exists.

const MAP_TILE_PIXELS = 512;
const MAX_TILES = 80;
const MERCATOR_LATITUDE = 85.0511;

/** The 256-pixel tiles that cover a view, by MapLibre's choice of zoom. Tiles near the centre come first.
 * @param {Pick<Billow.View, "zoom" | "longitude" | "latitude">} view
 * @param {number} width  the map's width in pixels
 * @param {number} height
 * @returns {[z: number, x: number, y: number][]} */
export function tilesInView({ zoom, longitude, latitude }, width, height) {
    const z = Math.max(0, Math.min(Math.round(zoom + 1), 14));
    const count = 2 ** z;
    const tile = (MAP_TILE_PIXELS * 2 ** zoom) / count;
    const sine = Math.sin((Math.max(-MERCATOR_LATITUDE, Math.min(latitude, MERCATOR_LATITUDE)) * Math.PI) / 180);
    const centre = [(longitude / 360 + 0.5) * count, (0.5 - Math.atanh(sine) / (2 * Math.PI)) * count];
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
    return [...found.values()].sort((a, b) => a.distance - b.distance).slice(0, MAX_TILES).map(({ tile }) => tile);
}
