// @ts-check
import { aircraftLabels, withSymbol } from "/js/aircraft-labels.js";
import { areaLabels, cellBoxes, inFreeSpots, placedReports } from "/js/label-guards.js";
import { equal, ok, test } from "../harness.js";

/** A square of ten degrees at the equator.
 * @param {string} id
 * @param {object} [properties]
 * @returns {any} */
const square = (id, properties) => ({
    id, properties: { kind: "gairmet", hazard: "TURB-HI", altitudeMin: 31_000, altitudeMax: 43_000, ...properties },
    geometry: { type: "Polygon", coordinates: [[[-5, -5], [5, -5], [5, 5], [-5, 5], [-5, -5]]] },
});
const WORLD = 512 * 2 ** 5;
/** @param {any[]} areas
 * @param {number} world
 * @param {import("/js/label-guards.js").PlacedReport[]} [reports] */
const placedLabels = (areas, world, reports) => inFreeSpots(areaLabels(areas, world), reports);

test("the label of an area is at the middle of its half height, as wide as its text", () => {
    const [{ x, y, width }, ...others] = placedLabels([square("a")], WORLD);
    equal([Math.round(x), Math.round(y), others.length], [WORLD / 2, WORLD / 2, 0]);
    ok(width >= 125 && width <= 176, `the label "TURB-HI FL310–FL430" has 125 pixels, and not ${width}`);
});

test("a label has the first place that no label of a higher rank covers", () => {
    const areas = [square("a"), square("b", { kind: "sigmet" })];
    const [first, second] = placedLabels(areas, WORLD);
    equal([first, second].map(({ y }) => y < WORLD / 2), [false, true]);
    equal(placedLabels([...areas].reverse(), WORLD), [first, second]);
    equal(placedLabels(areas, 512).length, 1);
});

/** @param {number} longitude
 * @param {number} latitude
 * @param {number} [severity]
 * @returns {any} */
const report = (longitude, latitude, severity) => ({
    properties: { severity }, geometry: { type: "Point", coordinates: [longitude, latitude] },
});

test("a label keeps off pilot reports if a place without one is free", () => {
    const lowest = placedLabels([square("a")], WORLD)[0];
    const [moved] = placedLabels([square("a")], WORLD, placedReports([report(0.2, 0)], 5));
    ok(Math.abs(moved.y - lowest.y) >= 17, `${moved.y} is beside the report at ${WORLD / 2}`);
    equal(placedLabels([square("a")], WORLD, placedReports([report(90, 0)], 5)), [lowest]);
    const everywhere = Array.from({ length: 60 }, (_, index) => report(0, -6 + index / 5));
    equal(placedLabels([square("a")], WORLD, placedReports(everywhere, 5)), [lowest]);
});

test("of reports close together the most severe has a symbol, smaller at low zooms", () => {
    const reports = [report(0.1, 0.1, 1), report(0.1001, 0.1001, 4), report(0.1002, 0.1, undefined), report(10, 10)];
    const [first, second, ...others] = placedReports(reports, 3);
    equal([first.side, others.length], [12.4, 0]);
    ok(Math.abs(first.x - (512 * 8 * 180.1001) / 360) < 0.001 && second.x > first.x, `${first.x} ${second.x}`);
    equal(placedReports(reports, 5)[0].side, 20);
    equal(placedReports(reports, 14).length, 4);
});

test("the guards of cells lie around those of moderate turbulence or worse", () => {
    const boxes = cellBoxes([square("a", { severity: 2 }), square("b", { severity: 3 })], 512);
    equal(boxes, [{ x: 256, y: 256, width: 16, height: 16 }], "10 degrees have 14.2 pixels");
    equal(cellBoxes([square("a", { severity: 4 })], 8).map(({ width, height }) => [width, height]), [[4, 4]]);
});

/** @param {string} id
 * @param {number} longitude
 * @param {object} [properties]
 * @returns {any} */
const aircraft = (id, longitude, properties) => ({
    id, properties: { callsign: "ABC12", altitude: 35_020, ...properties },
    geometry: { type: "Point", coordinates: [longitude, 0] },
});
/** The longitude a number of pixels east of Greenwich, at the zoom 6.
 * @param {number} pixels */
const east = (pixels) => (pixels / (512 * 2 ** 6)) * 360;
const MIDDLE = 512 * 2 ** 5;

test("the label of an aircraft is to its right, or to its left beside another label", () => {
    const labels = aircraftLabels([
        aircraft("b", east(100)), aircraft("a", 0), aircraft("c", 0.001, { altitude: 9_000 }),
        aircraft("d", 90, { onGround: true }),
    ], 6);
    equal(labels.length, 2, "one of each square, and none on the ground");
    // "ABC12 FL350": 5 letters of 0.79 em, 5 digits of 0.64 em, a blank of 0.42 em, and the halo.
    const [a, b] = inFreeSpots(labels);
    equal([a.width, b.width].map(Math.round), [79, 79]);
    equal([a.x, b.x].map((x) => Math.round(x - MIDDLE)), [49, 149]);
    equal(inFreeSpots(aircraftLabels([aircraft("a", 0), aircraft("b", east(30))], 6))
        .map(({ x }) => Math.round(x - MIDDLE)), [49], "both sides of the second one are taken");
    const [, left] = inFreeSpots(aircraftLabels([aircraft("a", 0), aircraft("b", east(-20))], 6));
    equal(Math.round(left.x - MIDDLE), -69);
    const guard = withSymbol(left);
    ok(guard.x + guard.width / 2 >= MIDDLE - 20 + 9 && guard.x - guard.width / 2 <= MIDDLE - 107, "with its symbol");
});

test("a block of 256 pixels has at most 25 labels of aircraft", () => {
    const many = Array.from({ length: 30 }, (_, index) => ({
        ...aircraft(String(index + 10), east(20)),
        geometry: { type: "Point", coordinates: [east(5 + 24 * (index % 6)), -east(5 + 24 * Math.floor(index / 6))] },
    }));
    equal(aircraftLabels(many, 6).length, 25);
});

test("labels of the top layer come first", () => {
    const [flight] = aircraftLabels([aircraft("a", -east(50))], 6);
    const area = areaLabels([square("a")], 512 * 2 ** 6)[0];
    equal(inFreeSpots([flight, area])[1].y < MIDDLE - 10, true);
    equal(inFreeSpots([area, flight]).length, 1, "the area's label is wider than both spots of the aircraft");
});
