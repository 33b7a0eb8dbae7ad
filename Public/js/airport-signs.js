// @ts-check
// The airports on the map, with their codes. The page loads this module and their list when the zoom first shows any.
import { firstZoom, loadAirports } from "./airports.js";
import { AIRPORT_SIGN, AIRPORTS } from "./basemap.js";

/** @param {maplibregl.Map} map */
export async function showAirports(map) {
    const { all } = await loadAirports();
    map.getSource(AIRPORTS)?.setData({
        type: "FeatureCollection", features: all.map((airport) => ({
            type: "Feature", geometry: { type: "Point", coordinates: [airport.longitude, airport.latitude] },
            properties: { sign: AIRPORT_SIGN + airport.icao, zoom: firstZoom(airport) },
        })),
    });
}
