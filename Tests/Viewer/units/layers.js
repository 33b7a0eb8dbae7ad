// @ts-check
import { collectionsOf, defaultLayers, inDrawingOrder, LAYERS, showsCells } from "/js/layers.js";
import { equal, test } from "../harness.js";

/** A status with data of some layers, and sources of some kinds.
 * @param {string[]} layers
 * @param {string[]} kinds
 * @param {boolean} [simulated] */
const status = (layers, kinds, simulated = false) => /** @type {Billow.Status} */ (/** @type {unknown} */ ({
    simulated, sources: kinds.map((kind) => ({ kind })),
    layers: Object.fromEntries(layers.map((id) => [id, { dataTime: "2026-09-24T12:00:00Z" }])),
}));

test("layers lie as the server states, and a reader's order wins", () => {
    equal(inDrawingOrder(["pireps", "hexagons", "hazards", "gtg", "polygons", "traffic"]),
        ["gtg", "hazards", "polygons", "hexagons", "traffic", "pireps"]);
    equal(inDrawingOrder(["hexagons", "hazards", "gtg"], ["hexagons", "gtg"]), ["hexagons", "gtg", "hazards"]);
});

test("a layer that combines others is in no menu, and its events concern them", () => {
    equal(LAYERS.filter(({ parts }) => parts.length), []);
    equal(["hexagons", "polygons", "traffic"].map(collectionsOf),
        [["hexagons", "turbulence"], ["polygons", "turbulence"], ["traffic"]]);
    equal(["hexagons", "polygons", "hazards", "gtg"].map(showsCells), [true, true, false, false]);
});

test("the catalogue says what a page shows at first", () => {
    equal(defaultLayers(null), ["hazards", "hexagons", "pireps"]);
    equal(defaultLayers(status(["hexagons", "gtg"], ["skypath", "noaa-gtg"])), ["hazards", "hexagons", "pireps"]);
});

test("a field is shown at first where the world is simulated, and alone where nothing else is there", () => {
    equal(defaultLayers(status(["hexagons", "gtg"], ["noaa-gtg"], true)), ["gtg", "hazards", "hexagons", "pireps"]);
    equal(defaultLayers(status(["gtg"], ["noaa-gtg"])), ["gtg"]);
    equal(defaultLayers(status(["gtg", "hazards"], ["noaa-gtg"])), ["gtg", "hazards"]);
});

test("an imported field is shown like one that a source fetches", () => {
    equal(defaultLayers(status(["gtg"], [])), ["gtg"]);
});
