// @ts-check
// Billow on MapLibre GL JS.
import { showAge } from "./age.js";
import { groundStyle } from "./ground.js";

const server = new URL("..", location.href).href;
// These are the viewer's styles for a light and a dark device. Choose any other of /styles here and for the legend.
const style = matchMedia("(prefers-color-scheme: dark)").matches ? "night" : "day";
const url = `${server}tiles/hazards,hexagons.json?hours=2&style=${style}`;
const map = new maplibregl.Map({ container: "map", center: [-96, 39], zoom: 3, style: groundStyle(server) });
map.addControl(new maplibregl.NavigationControl({ showCompass: false }), "top-right");
await map.once("load");
// MapLibre can leave finer tiles over the new ones after zooming out. This ends their time at once.
map.on("sourcedata", ({ tile }) => tile?.registerFadeDuration?.(0));
map.addSource("turbulence", { type: "raster", url, tileSize: 256 });
map.addLayer({ id: "turbulence", type: "raster", source: "turbulence", paint: { "raster-fade-duration": 0 } });
// Reports age, so the map requests its tiles again each minute. An unchanged tile costs only a 304.
showAge(url, ({ tiles }) => map.getSource("turbulence")?.setTiles(tiles));
