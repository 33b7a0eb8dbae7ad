// @ts-check
import { placedLabels } from "/js/label-guards.js";
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
