// @ts-check
import { distancesOf, profileFigure } from "/js/profile-view.js";
import { parseHash } from "/js/view.js";
import { equal, ok, test } from "../harness.js";

/** A legend with one colour per severity.
 * @type {any} */
const legend = { entry: (/** @type {number} */ severity) => ({ fill: `#00000${severity}`, label: `S${severity}` }) };
const profile = {
    altitudes: [0, 20_000, 40_000, 60_000], stretch: 50, length: 100,
    severities: [[3, 3], [null, 2], [null, null], [null, null]],
    field: { text: "Smooth.", severities: [[null, null], [1, 0], [null, null], [null, null]] },
};

test("a profile labels a few round distances, from the start", () => {
    equal(distancesOf(2_999), [0, 1_000, 2_000]);
    equal(distancesOf(643), [0, 200, 400, 600]);
    equal(distancesOf(3), [0, 1, 2, 3]);
});

test("neighbouring values of a profile are one box, and those of a field lie below the reports", () => {
    const { view } = parseHash("#level=300&route=KORD+KJFK");
    const figure = profileFigure(profile, view, legend, 0, 450);
    const paths = [...figure.querySelectorAll(".plot path[fill]")].map((path) =>
        [path.getAttribute("fill"), path.getAttribute("d")]);
    equal(paths, [
        ["#000001", "M0 203H500V407H0z"], ["#000002", "M500 203H1000V407H500z"], ["#000003", "M0 407H1000V610H0z"],
    ]);
    ok(figure.querySelector(".has-field .planned"), "the unknown is hatched, and the planned level is a line");
    equal(figure.querySelector(".plot")?.getAttribute("aria-label")?.endsWith("Smooth."), true);
    equal([...figure.querySelectorAll("figcaption span")].map(({ textContent }) => textContent),
        ["S1", "S2", "S3", "Reported", "Not known"]);
});

test("a filtered severity of a field is not drawn, and is not shown as unknown either", () => {
    const { view } = parseHash("#severity=3&route=KORD+KJFK");
    const figure = profileFigure(profile, view, legend, 0, 450);
    ok(!figure.querySelector(".plot path[fill='#000001']"), "light is filtered");
    equal(figure.querySelectorAll(".known").length, 4);
});
