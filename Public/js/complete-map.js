// @ts-check
// Completes the map after the first picture, which needs the whole bandwidth and processor: the detailed base map, the
// signs of airports and cities, and the guards of labels. Then it makes the page work offline.
import { keyHeaders } from "./api-key.js";
import { AIRPORT_ZOOM, BASE_MAP, CITY_ZOOM } from "./basemap.js";
import { guardLabels } from "./label-guards.js";
import { COMPACT } from "./layout.js";
import { assetAddress } from "./server.js";

/** The coarse base map suffices below this zoom. */
const FINE_ZOOM = 4.5;
const FINE = assetAddress("vendor/basemap/basemap.geojson");
/** The addresses of data that the service worker, offline.js, saves. */
const SAVED = /\/(tiles\/[^?]+\.json|status|styles|legend\.(json|svg)|timeline\.json)(\?|$)/;

/** Returns a function to call with each new picture: it updates the guards of labels, and saves the tiles.
 * @param {maplibregl.Map} map
 * @param {() => Billow.View} view  returns the current view, with the instant of the map
 * @param {() => string[]} tiles  returns the addresses of the picture's tiles
 * @param {(layers: string[]) => number | null} versionOf  returns the version that last changed layers, if known */
export function completeMap(map, view, tiles, versionOf) {
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
    const guard = () => { guardLabels(map, view(), versionOf).catch(() => {}); };
    map.on("moveend", () => {
        load();
        guard();
    });
    load();
    // After each change of the window's size MapLibre opens the attribution. In a small one it would be cut off.
    map.on("resize", () => {
        if (!COMPACT.matches) return;
        const attribution = map.getContainer().querySelector(".maplibregl-ctrl-attrib");
        attribution?.classList.add("maplibregl-compact");
        attribution?.classList.remove("maplibregl-compact-show");
        attribution?.removeAttribute("open");
    });
    const workers = isSecureContext ? navigator.serviceWorker : undefined;
    workers?.register("offline.js").catch(() => {});
    /** @param {string[]} loaded */
    const save = (loaded) => {
        // A device stores nothing from a server that requires a key.
        if (!loaded.length || "X-API-Key" in keyHeaders()) return;
        workers?.ready.then(({ active }) => active?.postMessage({ loaded }), () => {});
    };
    new PerformanceObserver((list) => {
        save(list.getEntries().map(({ name }) => name).filter((name) => SAVED.test(name)));
    }).observe({ type: "resource", buffered: true });
    /** The tiles of the picture that are saved.
     * @type {Set<string>} */
    let saved = new Set();
    const saveTiles = () => {
        const found = tiles().filter((tile) => !saved.has(tile));
        saved = new Set([...saved, ...found]);
        save(found);
    };
    const renew = () => {
        guard();
        saved.clear();
        saveTiles();
    };
    // A moved map has more tiles of the same picture.
    map.on("idle", saveTiles);
    renew();
    return renew;
}
