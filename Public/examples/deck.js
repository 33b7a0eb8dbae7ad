// @ts-check
// Billow on deck.gl.
import { showAge } from "./age.js";
import { groundOfDeck, pictureLayer } from "./ground.js";

const server = new URL("..", location.href).href;
// These are the viewer's styles for a light and a dark device. Choose any other of /styles here and for the legend.
const style = matchMedia("(prefers-color-scheme: dark)").matches ? "night" : "day";
const url = `${server}tiles/hazards,hexagons.json?hours=2&style=${style}`;
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
