// @ts-check
// The base map under the turbulence. Its greys and blues are muted, so that white, yellow, orange and red stand out.
import { ONLINE_BASE_MAP } from "./datasets.js";
import { assetAddress } from "./server.js";

export const BASE_MAP = "basemap";
const LIGHT = {
    space: "#dfe5ea", ocean: "#b9c8d3", land: "#d3d8d3", coast: "#6f7f8c", border: "#8e979c", state: "#aab1b2",
    graticule: "#a9bac7", text: "#44525d", halo: "rgba(222,227,224,0.85)",
    veil: "rgba(223,229,234,0.55)", hatch: "#3c4650",
};
const DARK = {
    space: "#06090d", ocean: "#101a23", land: "#25303a", coast: "#5d7283", border: "#56636d", state: "#3d4952",
    graticule: "#1c2a36", text: "#a9b8c3", halo: "rgba(20,28,36,0.85)",
    veil: "rgba(6,9,13,0.55)", hatch: "#a9b4bd",
};
/** The base map at first; complete-map.js loads a detailed one. */
export const COARSE = assetAddress("vendor/basemap/coarse.geojson");
export const ONLINE = "online";
const ONLINE_PAINT = {
    light: { "raster-saturation": -0.6, "raster-opacity": 0.8, "raster-brightness-max": 1 },
    dark: { "raster-saturation": -0.8, "raster-opacity": 0.6, "raster-brightness-max": 0.35 },
};
const GRATICULE_DEGREES = 10;
const MERCATOR_LATITUDE = 85;

/** The airports' source and layer, which airport-signs.js fills; their lowest zoom; the prefix of their images' ids. */
export const AIRPORTS = "airports";
export const AIRPORT_ZOOM = 5;
export const AIRPORT_SIGN = "airport:";
const AIRPORT_ZOOMS = [AIRPORT_ZOOM, 7, 7, 9, 9];
/** The cities' source and layer, which city-signs.js fills; their lowest zoom; the prefix of their images' ids. */
export const CITIES = "cities";
export const CITY_ZOOM = 4;
export const CITY_SIGN = "city:";
export const PLACES = "place";
const EMPTY = { type: "FeatureCollection", features: [] };
/** The source and layer of the places without a picture, which missing-areas.js fills; the image of its hatch. */
export const MISSING = "missing";
export const MISSING_HATCH = "missing-hatch";
/** Pictures lie below this layer and above coasts and borders, so that no line crosses signs and labels. */
export const ABOVE_PICTURES = MISSING;

/** @typedef {"light" | "dark"} Theme
 * @typedef {typeof LIGHT} Palette */

/** @type {Theme} */
let theme = "light";
/** The colours of a theme.
 * @param {Theme} theme */
export const paletteOf = (theme) => (theme === "dark" ? DARK : LIGHT);
/** The colours of the current theme. */
export const colours = () => paletteOf(theme);
/** Called when the theme has changed.
 * @type {Set<() => void>} */
export const themed = new Set();

function graticule() {
    /** @type {number[][][]} */
    const lines = [];
    for (let longitude = -180; longitude < 180; longitude += GRATICULE_DEGREES) {
        lines.push([[longitude, -MERCATOR_LATITUDE], [longitude, MERCATOR_LATITUDE]]);
    }
    for (let latitude = -80; latitude <= 80; latitude += GRATICULE_DEGREES) {
        lines.push([[-180, latitude], [180, latitude]]);
    }
    return { type: "Feature", properties: {}, geometry: { type: "MultiLineString", coordinates: lines } };
}

/** @type {(kind: string, colour: string, width: unknown, minzoom?: number) => maplibregl.Specification} */
const line = (kind, colour, width, minzoom = 0) => ({
    id: kind, type: "line", source: BASE_MAP, filter: ["==", ["get", "kind"], kind], minzoom,
    layout: { "line-join": "round" }, paint: { "line-color": colour, "line-width": width },
});

function paintSpace() { document.body.style.background = colours().space; }

/** The MapLibre style of the base map.
 * @param {Theme} newTheme
 * @param {boolean} isGlobe */
export function style(newTheme, isGlobe) {
    theme = newTheme;
    paintSpace();
    const colour = colours();
    return {
        version: 8,
        projection: { type: isGlobe ? "globe" : "mercator" },
        sources: {
            [BASE_MAP]: {
                type: "geojson", data: COARSE,
                attribution: "Base map: Natural Earth, GSHHG", maxzoom: 8, tolerance: 0.3,
            },
            ...onlineSource(),
            graticule: { type: "geojson", data: graticule(), tolerance: 0 },
            [AIRPORTS]: { type: "geojson", data: EMPTY },
            [CITIES]: { type: "geojson", data: EMPTY, attribution: "Cities: GeoNames" },
            [MISSING]: { type: "geojson", data: EMPTY, tolerance: 0 },
        },
        layers: [
            { id: "ocean", type: "background", paint: { "background-color": colour.ocean } },
            {
                id: "graticule", type: "line", source: "graticule",
                paint: { "line-color": colour.graticule, "line-width": 0.7 },
            },
            {
                id: "land", type: "fill", source: BASE_MAP, filter: ["==", ["get", "kind"], "land"],
                // Neighbouring countries share the vertices of a border. Antialiasing would show a seam there.
                paint: { "fill-color": colour.land, "fill-antialias": false },
            },
            {
                id: "lake", type: "fill", source: BASE_MAP, filter: ["==", ["get", "kind"], "lake"],
                paint: { "fill-color": colour.ocean, "fill-antialias": false },
            },
            line("state", colour.state, 0.8, 2.5),
            line("border", colour.border, ["interpolate", ["linear"], ["zoom"], 1, 0.5, 6, 1.4]),
            line("coast", colour.coast, ["interpolate", ["linear"], ["zoom"], 1, 0.5, 6, 1.2]),
            ...(ONLINE_BASE_MAP ? [{ id: ONLINE, type: "raster", source: ONLINE, paint: ONLINE_PAINT[theme] }] : []),
            // Antialiasing would show a seam between neighbouring tiles.
            {
                id: MISSING, type: "fill", source: MISSING,
                paint: { "fill-pattern": MISSING_HATCH, "fill-antialias": false },
            },
            // MapLibre places the signs of higher layers first, and leaves out those that would cover them.
            {
                id: CITIES, type: "symbol", source: CITIES, minzoom: CITY_ZOOM,
                filter: ["<=", ["get", "zoom"], ["zoom"]],
                layout: {
                    // Above the place, because the sign of the city's airport is beside it.
                    "icon-image": ["get", "sign"], "icon-anchor": "bottom", "icon-offset": [0, -7], "icon-padding": 1,
                    "symbol-sort-key": ["get", "rank"],
                },
            },
            {
                id: AIRPORTS, type: "symbol", source: AIRPORTS, minzoom: AIRPORT_ZOOM,
                filter: ["<=", ["get", "zoom"], ["step", ["zoom"], ...AIRPORT_ZOOMS]],
                layout: {
                    "icon-image": ["get", "sign"], "icon-anchor": "left", "icon-offset": [-6, 0], "icon-padding": 4,
                    "symbol-sort-key": ["get", "zoom"],
                },
            },
            {
                id: PLACES, type: "symbol", source: BASE_MAP, minzoom: 1.5,
                filter: [
                    "all", ["==", ["get", "kind"], "place"],
                    ["<=", ["get", "rank"], ["step", ["zoom"], 2, 3, 3, 4, 4, 5, 7]],
                ],
                layout: { "icon-image": ["get", "name"], "symbol-sort-key": ["get", "rank"], "icon-padding": 8 },
            },
        ],
    };
}

/** The source of a base map of another server, if there is one.
 * @returns {Record<string, object>} */
function onlineSource() {
    if (!ONLINE_BASE_MAP) return {};
    const { tiles, attribution } = ONLINE_BASE_MAP;
    // MapLibre takes the attribution as HTML.
    const text = attribution.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
    return { [ONLINE]: { type: "raster", tiles: [tiles], tileSize: 256, maxzoom: 18, attribution: text } };
}

/** Sets the base map's colours to the theme of the turbulence style.
 * @param {maplibregl.Map} map
 * @param {Theme} newTheme */
export function setTheme(map, newTheme) {
    if (theme === newTheme) return;
    theme = newTheme;
    paintSpace();
    const colour = colours();
    map.setPaintProperty("ocean", "background-color", colour.ocean);
    map.setPaintProperty("land", "fill-color", colour.land);
    map.setPaintProperty("lake", "fill-color", colour.ocean);
    for (const layer of /** @type {const} */ (["graticule", "state", "border", "coast"])) {
        map.setPaintProperty(layer, "line-color", colour[layer]);
    }
    for (const [name, value] of Object.entries(map.getLayer(ONLINE) ? ONLINE_PAINT[theme] : {})) {
        map.setPaintProperty(ONLINE, name, value);
    }
    for (const redraw of themed) redraw();
}
