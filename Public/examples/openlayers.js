// @ts-check
// Billow on OpenLayers.
import { showAge } from "./age.js";
import { groundLayer } from "./ground.js";

const server = new URL("..", location.href).href;
// These are the viewer's styles for a light and a dark device. Choose any other of /styles here and for the legend.
const style = matchMedia("(prefers-color-scheme: dark)").matches ? "night" : "day";
const url = `${server}tiles/hazards,hexagons.json?hours=2&style=${style}`;
const turbulence = new ol.layer.Tile({ source: new ol.source.TileJSON({ url }) });
const view = new ol.View({ center: ol.proj.fromLonLat([-96, 39]), zoom: 4 });
new ol.Map({ target: "map", layers: [groundLayer(server), turbulence], view });
// Reports age, so the map requests its tiles again each minute. An unchanged tile costs only a 304.
showAge(url, () => turbulence.getSource().refresh());
