// @ts-check
// Completes the map after the first picture, which needs the whole bandwidth and processor: the detailed base map, the
// signs of airports and cities, and the guards of labels. Then it makes the page work offline.
import { AIRPORT_ZOOM, BASE_MAP, CITY_ZOOM } from "./basemap.js";
import { guardLabels } from "./label-guards.js";
import { assetAddress } from "./server.js";

/** The coarse base map suffices below this zoom. */
const FINE_ZOOM = 4.5;
const FINE = assetAddress("vendor/basemap/basemap.geojson");

/** Returns a function that updates the guards of labels.
 * @param {maplibregl.Map} map
 * @param {() => Billow.View} view  returns the current view, with the instant of the map */
export function completeMap(map, view) {
    /** What is not loaded yet: the lowest zoom that needs it, and how to load it. */
    let missing = [
        { zoom: AIRPORT_ZOOM, load: () => import("./airport-signs.js").then((signs) => signs.showAirports(map)) },
        { zoom: CITY_ZOOM, load: () => import("./city-signs.js").then((signs) => signs.showCities(map)) },
        { zoom: FINE_ZOOM, load: async () => map.getSource(BASE_MAP)?.setData(FINE) },
    ];
    const load = () => {
        const due = missing.filter(({ zoom }) => map.getZoom() >= zoom);
        missing = missing.filter((each) => !due.includes(each));
        // A map without a list stays without its signs.
        for (const { load } of due) load().catch(() => {});
    };
    // Without guards some names cover labels.
    const guard = () => { guardLabels(map, view()).catch(() => {}); };
    map.on("moveend", () => {
        load();
        guard();
    });
    load();
    guard();
    if (isSecureContext && "serviceWorker" in navigator) {
        navigator.serviceWorker.register("offline.js").catch(() => {});
    }
    return guard;
}
