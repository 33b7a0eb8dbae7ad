// @ts-check
import { placedLabels, placedReports } from "/js/label-guards.js";
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
