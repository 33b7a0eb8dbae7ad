// @ts-check
// The colours and layers of the base map under the turbulence. Its greys and blues are muted, so that white, yellow,
// orange and red stand out. map-style.js makes the map's style of them.
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
export const ONLINE_PAINT = {
    light: { "raster-saturation": -0.6, "raster-opacity": 0.8, "raster-brightness-max": 1 },
    dark: { "raster-saturation": -0.8, "raster-opacity": 0.6, "raster-brightness-max": 0.35 },
};

/** The airports' source and layer, which airport-signs.js fills; their lowest zoom; the prefix of their images' ids. */
export const AIRPORTS = "airports";
export const AIRPORT_ZOOM = 5;
export const AIRPORT_SIGN = "airport:";
/** The cities' source and layer, which city-signs.js fills; their lowest zoom; the prefix of their images' ids. */
export const CITIES = "cities";
export const CITY_ZOOM = 4;
export const CITY_SIGN = "city:";
export const PLACES = "place";
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

/** Begins with a theme, before there is a map.
 * @param {Theme} first */
export function beginTheme(first) {
    theme = first;
    document.body.style.background = colours().space;
}

/** Sets the base map's colours to the theme of the turbulence style.
 * @param {maplibregl.Map} map
 * @param {Theme} newTheme */
export function setTheme(map, newTheme) {
    if (theme === newTheme) return;
    beginTheme(newTheme);
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
