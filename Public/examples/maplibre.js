// @ts-check
// Billow on MapLibre GL JS.
import { showAge } from "./age.js";

const server = new URL("..", location.href).href;
const tileJSON = `${server}tiles/hazards,hexagons.json?hours=2`;
const map = new maplibregl.Map({
    container: "map", center: [-96, 39], zoom: 3, style: {
        version: 8, sources: {
            land: { type: "geojson", data: `${server}vendor/basemap/coarse.geojson`, attribution: "Natural Earth" },
            turbulence: { type: "raster", url: tileJSON, tileSize: 256 },
        },
        layers: [
            { id: "sea", type: "background", paint: { "background-color": "#b9c8d3" } },
            { id: "land", type: "fill", source: "land", filter: ["in", ["get", "kind"], ["literal", ["land", "lake"]]],
                paint: {
                    "fill-color": ["match", ["get", "kind"], "lake", "#b9c8d3", "#d3d8d3"], "fill-antialias": false,
                } },
            { id: "turbulence", type: "raster", source: "turbulence", paint: { "raster-fade-duration": 0 } },
        ],
    },
});
map.addControl(new maplibregl.NavigationControl({ showCompass: false }), "top-right");
// Reports age, so the map requests its tiles again each minute. An unchanged tile costs only a 304.
showAge(tileJSON, ({ tiles }) => map.getSource("turbulence")?.setTiles(tiles));
