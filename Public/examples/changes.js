// @ts-check
// The turbulence along a route: stored in the browser, and kept up to date by changes alone.
import { CollectionCopy } from "../js/changes.js";
import { ageText } from "./age.js";

const route = { route: "KJFK 4430N05000W EGLL", width: 250, geometry: true };
const copy = new CollectionCopy({ collection: "hexagons", parameters: route });
const colours = ["match", ["get", "severity"], 0, "#fff", 1, "#fff04c", 2, "#ffbc09", 3, "#ff7100", "#f00"];
const map = new maplibregl.Map({
    container: "map", center: [-37, 49], zoom: 3, style: {
        version: 8, sources: {
            land: { type: "geojson", data: "../vendor/basemap/coarse.geojson", attribution: "Natural Earth" },
            turbulence: { type: "geojson", data: { type: "FeatureCollection", features: [] } },
        },
        layers: [
            { id: "sea", type: "background", paint: { "background-color": "#b9c8d3" } },
            { id: "land", type: "fill", source: "land", filter: ["in", ["get", "kind"], ["literal", ["land", "lake"]]],
                paint: {
                    "fill-color": ["match", ["get", "kind"], "lake", "#b9c8d3", "#d3d8d3"], "fill-antialias": false,
                } },
            { id: "turbulence", type: "fill", source: "turbulence", paint: { "fill-color": colours } },
        ],
    },
});
copy.addEventListener("change", () => {
    map.getSource("turbulence")?.setData({ type: "FeatureCollection", features: [...copy.features.values()] });
});
// Besides the legend, every map must show the age of the data, and whether it is simulated, stale or incomplete.
copy.addEventListener("state", () => {
    const place = /** @type {HTMLElement} */ (document.querySelector("#age"));
    place.textContent = ageText(copy.state) + (copy.state.connected ? "" : " · no contact");
});
map.on("load", () => copy.start());
