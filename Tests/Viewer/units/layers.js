// @ts-check
import { collectionsOf, defaultLayers, inDrawingOrder, LAYERS, showsCells } from "/js/layers.js";
import { equal, test } from "../harness.js";

/** A status with data of some layers, and sources that feed one layer each.
 * @param {string[]} layers
 * @param {string[]} fed
 * @param {boolean} [simulated] */
const status = (layers, fed, simulated = false) => /** @type {Billow.Status} */ (/** @type {unknown} */ ({
    simulated, sources: fed.map((id) => ({ layers: [id] })),
    layers: Object.fromEntries(layers.map((id) => [id, { dataTime: "2026-09-24T12:00:00Z" }])),
}));

test("layers have the server's order, unless the user sets one", () => {
    equal(inDrawingOrder(["pireps", "hexagons", "hazards", "gtg", "polygons", "traffic"]),
        ["gtg", "hazards", "polygons", "hexagons", "traffic", "pireps"]);
    equal(inDrawingOrder(["hexagons", "hazards", "gtg"], ["hexagons", "gtg"]), ["hexagons", "gtg", "hazards"]);
});

test("a layer that combines others is not in the menu, and its events change its parts", () => {
    equal(LAYERS.filter(({ parts }) => parts.length), []);
    equal(["hexagons", "polygons", "traffic"].map(collectionsOf),
        [["hexagons", "turbulence"], ["polygons", "turbulence"], ["traffic"]]);
    equal(["hexagons", "polygons", "hazards", "gtg"].map(showsCells), [true, true, false, false]);
});

test("the catalogue defines the default layers", () => {
    equal(defaultLayers(null), ["hazards", "hexagons", "pireps"]);
    equal(defaultLayers(status(["hexagons", "gtg"], ["hexagons", "gtg"])), ["hazards", "hexagons", "pireps"]);
});

test("a field is a default layer in a simulated world, and the only one without other data", () => {
    equal(defaultLayers(status(["hexagons", "gtg"], ["gtg"], true)), ["gtg", "hazards", "hexagons", "pireps"]);
    equal(defaultLayers(status(["gtg"], ["gtg"])), ["gtg"]);
    equal(defaultLayers(status(["gtg", "hazards"], ["gtg"])), ["gtg", "hazards"]);
});

test("an imported field is a default layer, as a fetched one is", () => {
    equal(defaultLayers(status(["gtg"], [])), ["gtg"]);
});
