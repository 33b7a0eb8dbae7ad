// @ts-check
// Billow on OpenLayers.
import { showAge } from "./age.js";

const server = new URL("..", location.href).href;
const tileJSON = `${server}tiles/hazards,hexagons.json?hours=2`;
const land = new ol.layer.Vector({
    source: new ol.source.Vector({
        url: `${server}vendor/basemap/coarse.geojson`, format: new ol.format.GeoJSON(), attributions: "Natural Earth",
    }),
    style: [
        { filter: ["==", ["get", "kind"], "land"], style: { "fill-color": "#d3d8d3" } },
        { filter: ["==", ["get", "kind"], "lake"], style: { "fill-color": "#b9c8d3" } },
    ],
});
const turbulence = new ol.layer.Tile({ source: new ol.source.TileJSON({ url: tileJSON }) });
new ol.Map({
    target: "map", layers: [land, turbulence],
    view: new ol.View({ center: ol.proj.fromLonLat([-96, 39]), zoom: 4 }),
});
// Reports age, so the map requests its tiles again each minute. An unchanged tile costs only a 304.
showAge(tileJSON, () => turbulence.getSource().refresh());
