// @ts-check
// Billow on Leaflet.
import { showAge } from "./age.js";

const server = new URL("..", location.href).href;
const map = L.map("map", { zoomControl: false, center: [39, -96], zoom: 4 });
L.control.zoom({ position: "topright" }).addTo(map);
map.createPane("land").style.zIndex = "100";
const world = await (await fetch(`${server}vendor/basemap/coarse.geojson`)).json();
L.geoJSON(world, {
    filter: (/** @type {Billow.Feature} */ { properties: { kind } }) => kind === "land" || kind === "lake",
    style: (/** @type {Billow.Feature} */ { properties: { kind } }) => ({
        stroke: false, fillColor: kind === "lake" ? "#b9c8d3" : "#d3d8d3", fillOpacity: 1,
    }), pane: "land", interactive: false, attribution: "Natural Earth",
}).addTo(map);
const tileJSON = `${server}tiles/hazards,hexagons.json?hours=2`;
const turbulence = L.tileLayer(`${server}tiles/hazards,hexagons/latest/{z}/{x}/{y}{r}.png?hours=2`, {
    maxZoom: 22, attribution: (await (await fetch(tileJSON)).json()).attribution,
}).addTo(map);
// Reports age, so the map requests its tiles again each minute. An unchanged tile costs only a 304.
showAge(tileJSON, () => turbulence.redraw());
