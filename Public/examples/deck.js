// @ts-check
// Billow on deck.gl.
import { showAge } from "./age.js";
import { groundOfDeck, pictureLayer } from "./ground.js";

const server = new URL("..", location.href).href;
const url = `${server}tiles/hazards,hexagons.json?hours=2`;
const ground = await groundOfDeck(server);
const { tiles: data } = await (await fetch(url)).json();
const map = new deck.Deck({
    parent: document.querySelector("#map"), controller: true, views: new deck.MapView({ repeat: true }),
    initialViewState: { longitude: -96, latitude: 39, zoom: 3 },
});
const draw = () => map.setProps({ layers: [ground, new deck.TileLayer({
    id: `tiles ${Date.now()}`, data, tileSize: 256, renderSubLayers: pictureLayer,
})] });
draw();
// Reports age, so the map requests its tiles again each minute. An unchanged tile costs only a 304.
showAge(url, draw);
