// @ts-check
import { outlineOf } from "/js/outline.js";
import { equal, test } from "../harness.js";

test("the outline of a corridor goes on across the antimeridian, where its parts are cut", () => {
    const [west, east] = [
        [[170, 40], [180, 42], [180, 44], [170, 42], [170, 40]], [[-180, 44], [-180, 42], [-170, 40], [-180, 44]],
    ];
    equal(outlineOf({ type: "MultiPolygon", coordinates: [[west], [east]] }).coordinates, [
        [[170, 40], [180, 42]], [[180, 44], [170, 42], [170, 40]], [[-180, 42], [-170, 40], [-180, 44]],
    ]);
    equal(outlineOf({ type: "Polygon", coordinates: [[[0, 0], [1, 0], [1, 1], [0, 0]]] }).coordinates,
        [[[0, 0], [1, 0], [1, 1], [0, 0]]]);
    equal(outlineOf({ type: "LineString", coordinates: [[170, 40], [190, 40]] }).coordinates, [[[170, 40], [190, 40]]]);
});
