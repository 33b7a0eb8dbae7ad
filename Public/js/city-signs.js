// @ts-check
// The cities on the map. The page loads this module and their list when the zoom first shows any.
import { CITIES, CITY_SIGN } from "./basemap.js";
import { getAsset } from "./server.js";

const LIST = "vendor/cities/cities.json";

/** The list that Scripts/setup-viewer makes, the largest first.
 * @typedef {[name: string, longitude: number, latitude: number, zoom: number]} City */

/** @param {maplibregl.Map} map */
export async function showCities(map) {
    /** @type {City[]} */
    const cities = await getAsset(LIST);
    map.getSource(CITIES)?.setData({
        type: "FeatureCollection", features: cities.map(([name, longitude, latitude, zoom], rank) => ({
            type: "Feature", geometry: { type: "Point", coordinates: [longitude, latitude] },
            properties: { sign: CITY_SIGN + name, zoom, rank },
        })),
    });
}
