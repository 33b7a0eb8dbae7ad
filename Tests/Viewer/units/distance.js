// @ts-check
import { bearingText, boxAround, centroid, greatCircle, pixelDistance } from "/js/distance.js";
import { equal, ok, test } from "../harness.js";

test("a place inside a polygon's outline is in the polygon", () => {
    const square = { type: "Polygon", coordinates: [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]] };
    /** @type {(geometry: { type: string, coordinates: any }, place: [number, number]) => boolean} */
    const contains = (geometry, place) => pixelDistance(geometry, place, 3) === 0;
    ok(contains(square, [1, 1]) && !contains(square, [3, 1]) && !contains(square, [1, 3]), "a square");
    const two = { type: "MultiPolygon", coordinates: [[[[10, 0], [11, 0], [11, 1], [10, 0]]], square.coordinates] };
    ok(contains(two, [1, 1]) && contains(two, [10.9, 0.5]) && !contains(two, [5, 0.5]), "two parts");
});

test("distances are in pixels of the map, and bearings in nautical miles", () => {
    // At zoom 0 the world is 512 pixels wide, so that a degree of longitude is 512 / 360.
    const square = { type: "Polygon", coordinates: [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]] };
    ok(Math.abs(pixelDistance(square, [5, 1], 0) - (3 * 512) / 360) < 1e-9, "beside");
    ok(Math.abs(pixelDistance({ type: "Point", coordinates: [9, 0] }, [0, 0], 1) - (9 * 1024) / 360) < 1e-9, "a point");
    equal(centroid(square), [1, 1]);
    equal(bearingText([0, 0], [0, 1]), "60 NM north");
    equal(bearingText([0, 0], [0.1, 0]), "6.0 NM east");
    equal(bearingText([0, 0], [-1, -1]), "85 NM south-west");
});

test("a box around a place is square on the map, and within the world", () => {
    equal(boxAround(10, 0, 0.5), "9.50000,-0.50000,10.50000,0.50000");
    equal(boxAround(10, 60, 0.5), "9.50000,59.75000,10.50000,60.25000");
    equal(boxAround(179.9, 89.999, 0.5).split(",").map(Number).every((side) => Math.abs(side) <= 180), true);
});

test("the line between waypoints is the shortest one, and goes on across the antimeridian", () => {
    const line = greatCircle([{ longitude: -74, latitude: 40 }, { longitude: 0, latitude: 51 }]);
    equal([line[0], line.at(-1)], [[-74, 40], [0, 51]]);
    ok(Math.max(...line.map(([, latitude]) => latitude)) > 51.2, "it bends to the north");
    const pacific = greatCircle([{ longitude: 140, latitude: 35 }, { longitude: -122, latitude: 37 }]);
    equal(pacific.at(-1), [238, 37]);
    ok(pacific.every(([longitude], index) => !index || longitude > (pacific[index - 1]?.[0] ?? 0)), "eastwards");
    equal(greatCircle([]), []);
});
