// @ts-check
// Predicts the tiles that a map will request, before the map exists.

const MAP_TILE_PIXELS = 512;
const MOST = 80;
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
    const middle = [(longitude / 360 + 0.5) * count, (0.5 - Math.atanh(sine) / (2 * Math.PI)) * count];
    const reach = [width / tile / 2, height / tile / 2];
    /** @type {Map<string, { tile: [number, number, number], off: number }>} */
    const found = new Map();
    for (let x = Math.floor(middle[0] - reach[0]); x < middle[0] + reach[0]; x += 1) {
        for (let y = Math.floor(middle[1] - reach[1]); y < middle[1] + reach[1]; y += 1) {
            if (y < 0 || y >= count) continue;
            const wrapped = ((x % count) + count) % count;
            const off = Math.hypot(x + 0.5 - middle[0], y + 0.5 - middle[1]);
            const key = `${wrapped}/${y}`;
            if (!found.has(key)) found.set(key, { tile: [z, wrapped, y], off });
        }
    }
    return [...found.values()].sort((a, b) => a.off - b.off).slice(0, MOST).map(({ tile }) => tile);
}
