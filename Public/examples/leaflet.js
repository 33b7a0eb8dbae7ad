// @ts-check
// Billow on Leaflet.
import { showAge } from "./age.js";
import { addGround } from "./ground.js";

const server = new URL("..", location.href).href;
// These are the viewer's styles for a light and a dark device. Choose any other of /styles here and for the legend.
const style = matchMedia("(prefers-color-scheme: dark)").matches ? "night" : "day";
const url = `${server}tiles/hazards,hexagons.json?hours=2&style=${style}`;
const { tiles: [tiles], attribution, maxzoom: maxZoom } = await (await fetch(url)).json();
const map = L.map("map", { center: [39, -96], zoom: 4 });
map.zoomControl.setPosition("topright");
await addGround(server, map);
const turbulence = L.tileLayer(tiles.replace("{y}", "{y}{r}"), { maxZoom, attribution }).addTo(map);
// Reports age, so the map requests its tiles again each minute. An unchanged tile costs only a 304.
showAge(url, () => turbulence.redraw());
