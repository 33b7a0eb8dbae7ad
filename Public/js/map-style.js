// @ts-check
// The MapLibre style of the base map. The page loads this with the map.
import {
    AIRPORT_ZOOM, AIRPORTS, BASE_MAP, beginTheme, CITIES, CITY_ZOOM, COARSE, colours, MISSING, MISSING_HATCH, ONLINE,
    ONLINE_PAINT, PLACES,
} from "./basemap.js";
import { ONLINE_BASE_MAP } from "./datasets.js";

const GRATICULE_DEGREES = 10;
const MERCATOR_LATITUDE = 85;
const AIRPORT_ZOOMS = [AIRPORT_ZOOM, 7, 7, 9, 9];
const EMPTY = { type: "FeatureCollection", features: [] };

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

/** The MapLibre style of the base map.
 * @param {import("./basemap.js").Theme} theme
 * @param {boolean} isGlobe */
export function style(theme, isGlobe) {
    beginTheme(theme);
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
