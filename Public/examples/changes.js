// @ts-check
// The turbulence along a route: stored in the browser, and kept up to date by changes alone.
import { CollectionCopy } from "../js/changes.js";
import { ageText } from "./age.js";
import { groundStyle } from "./ground.js";

const route = { route: "KJFK 4430N05000W EGLL", width: 250, geometry: true };
const copy = new CollectionCopy({ collection: "hexagons", parameters: route });
// These are the viewer's styles for a light and a dark device. Choose any other of /styles here and for the legend.
const style = matchMedia("(prefers-color-scheme: dark)").matches ? "night" : "day";
const { entries } = await (await fetch(`../legend.json?style=${style}`)).json();
const colours = ["match", ["get", "severity"],
    ...entries.flatMap((/** @type {any} */ { severity, fill }) => [severity, fill]), "transparent"];
const map = new maplibregl.Map({ container: "map", center: [-37, 49], zoom: 3, style: groundStyle("../") });
await map.once("load");
map.addSource("turbulence", { type: "geojson", data: { type: "FeatureCollection", features: [] } });
map.addLayer({ id: "turbulence", type: "fill", source: "turbulence", paint: { "fill-color": colours } });
copy.addEventListener("change", () =>
    map.getSource("turbulence")?.setData({ type: "FeatureCollection", features: [...copy.features.values()] }));
// Besides the legend, every map must show the age of the data, and whether it is simulated, stale or incomplete.
copy.addEventListener("state", () => {
    const place = /** @type {HTMLElement} */ (document.querySelector("#age"));
    place.textContent = ageText(copy.state) + (copy.state.connected ? "" : " · no contact");
});
copy.start();
