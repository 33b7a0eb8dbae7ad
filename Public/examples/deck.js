// @ts-check
// Billow on deck.gl: the tiles, and the hexagons of moderate turbulence or worse, which tell their altitude.
import { showAge } from "./age.js";

const server = new URL("..", location.href).href;
const tileJSON = `${server}tiles/hazards,hexagons.json?hours=2`;
/** @type {Record<string, number[]>} */
const ground = { land: [211, 216, 211], lake: [185, 200, 211] };
const { features } = await (await fetch(`${server}vendor/basemap/coarse.geojson`)).json();
const land = new deck.GeoJsonLayer({
    id: "land", stroked: false, getFillColor: (/** @type {any} */ { properties: { kind } }) => ground[kind],
    data: features.filter((/** @type {any} */ { properties: { kind } }) => kind in ground),
});
const map = new deck.Deck({
    parent: document.querySelector("#map"), controller: true, views: new deck.MapView({ repeat: true }),
    initialViewState: { longitude: -96, latitude: 39, zoom: 3 },
    getTooltip: (/** @type {any} */ { object: hexagon }) => hexagon?.properties
        && `${hexagon.properties.severityName}, FL${hexagon.properties.altitude / 100}`,
});
/** @param {number} minute  a new one requests tiles and hexagons again */
const draw = (minute) => map.setProps({ layers: [land, new deck.TileLayer({
    id: "tiles", tileSize: 256, updateTriggers: { getTileData: minute },
    data: `${server}tiles/hazards,hexagons/latest/{z}/{x}/{y}.png?hours=2`,
    renderSubLayers: (/** @type {any} */ { id, data: image, tile: { bbox: { west, south, east, north } } }) =>
        new deck.BitmapLayer({ id, image, bounds: [west, south, east, north] }),
}), new deck.H3HexagonLayer({
    id: `hexagons ${minute}`, data: `${server}collections/hexagons/items?hours=2&minSeverity=3&limit=10000`,
    dataTransform: (/** @type {Billow.FeatureCollection} */ collection) => collection.features,
    getHexagon: (/** @type {Billow.Feature} */ { properties: { h3 } }) => h3, extruded: false, filled: false,
    stroked: true, getLineColor: [60, 20, 0], lineWidthMinPixels: 1, pickable: true,
})] });
draw(0);
// Reports age, so the map requests its tiles again each minute.
showAge(tileJSON, () => draw(Date.now()));
