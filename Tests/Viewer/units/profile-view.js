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
        ["S1", "S2", "S3", "Reported", "Not known", "Computed smooth", "Within 2,000 ft of FL300"]);
});

test("the marks of the planned level and of the worst stretch leave the cells at the level visible", () => {
    const { view } = parseHash("#level=370&route=KORD+KJFK");
    const altitudes = Array.from({ length: 61 }, (_, row) => row * 1_000);
    const severities = altitudes.map((feet) => (feet === 37_000 ? [3, 3] : [null, null]));
    const worst = { from: 20, to: 60, altitude: 37_400, severity: 3 };
    const figure = profileFigure(
        { altitudes, severities, stretch: 50, length: 100, field: { text: "", severities: [], worst } }, view, legend,
        0, 450);
    const [, top, bottom] = /M0 (\d+)H1000V(\d+)H0z/.exec(
        figure.querySelector("path[fill='#000003']")?.getAttribute("d") ?? "")?.map(Number) ?? [];
    for (const name of ["planned", "worst"]) {
        const shape = figure.querySelector(`.${name}`);
        const heights = [...(shape?.getAttribute("d") ?? "").matchAll(/M\d+ (\d+)|V(\d+)/g)]
            .map(([, start, end]) => Number(start ?? end));
        equal(heights.length, 2);
        // The plot is a third as high on the page as here.
        ok(heights.every((height) => height < (top ?? 0) - 10 || height > (bottom ?? 0) + 10), `${name}: ${heights}`);
        ok(!shape?.hasAttribute("fill"), `${name} is not filled`);
    }
    const words = [...figure.querySelectorAll("figcaption span")].map(({ textContent }) => textContent);
    ok(words.includes("Worst computed on your way"), words.join());
});

test("the legend of a profile explains the empty background", () => {
    /** @param {string} hash
     * @param {object} [field] */
    const words = (hash, field) => [...profileFigure({ ...profile, field }, parseHash(hash).view, legend, 0, 450)
        .querySelectorAll("figcaption span")].map(({ textContent }) => textContent);
    ok(words("#route=KORD+KJFK").includes("No report"), "reports only");
    ok(words("#route=KORD+KJFK", profile.field).includes("Computed smooth"), "with a field");
    ok(words("#severity=3&route=KORD+KJFK", profile.field).includes("Smooth or filtered"), "with a filter");
});

test("a filtered severity of a field is not drawn, and is not shown as unknown either", () => {
    const { view } = parseHash("#severity=3&route=KORD+KJFK");
    const figure = profileFigure(profile, view, legend, 0, 450);
    ok(!figure.querySelector(".plot path[fill='#000001']"), "light is filtered");
    equal(figure.querySelectorAll(".known").length, 4);
});

test("a profile says which hazards are above ground", () => {
    const { view } = parseHash("#route=KORD+KJFK");
    /** @param {object[]} hazards */
    const signs = (...hazards) => [...profileFigure({ ...profile, hazards }, view, legend, 0, 450)
        .querySelectorAll(".issued")].map(({ textContent }) => textContent);
    const low = { altitudeMin: 0, altitudeMax: 2_000, altitudeReference: "AGL", stretches: [[0, 50]] };
    const high = { altitudeMin: 20_000, altitudeMax: 39_000, stretches: [[0, 50]] };
    equal(signs(low, low, high), ["Hazard", "Hazard SFC – FL020 AGL, drawn from sea level"]);
    equal([signs(high), signs()], [["Hazard"], []]);
});

test("an outline tells what a profile computes from the ground, without lines between its boxes", () => {
    const { view } = parseHash("#route=KORD+KJFK");
    const field = { text: "", severities: [[null, null], [1, 0], [1, 1], [null, null]] };
    const figure = profileFigure({ ...profile, severities: [[], [], [], []], field }, view, legend, 0, 450);
    const boxes = "M0 203H500V407H0zM0 0H1000V203H0z";
    const paths = [...figure.querySelectorAll(".plot path")].map((path) =>
        [path.getAttribute("class") ?? path.getAttribute("fill"), path.getAttribute("d")]);
    const first = paths.findIndex(([name]) => name === "edge");
    // The boxes cover the inner half of the lines, and so those between two boxes.
    equal(paths.slice(first, first + 3), [["edge", boxes], ["cover", boxes], ["#000001", boxes]]);
    // What the user has filtered has no outline.
    const filtered = profileFigure(
        { ...profile, field }, parseHash("#severity=2&route=KORD+KJFK").view, legend, 0, 450);
    equal(filtered.querySelector(".edge")?.getAttribute("d"), "");
});

test("the outlines of a profile have a contrast of at least 3:1 with its ground", () => {
    const { view } = parseHash("#route=KORD+KJFK");
    const figure = profileFigure(profile, view, legend, 0, 450);
    document.body.append(figure);
    /** @param {string} colour */
    const luminance = (colour) => {
        const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
            const share = Number(part) / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const styleOf = (/** @type {string} */ name) =>
        getComputedStyle(/** @type {Element} */ (figure.querySelector(name)));
    const ground = luminance(styleOf(".known").fill);
    for (const name of [".edge", ".reported"]) {
        const line = luminance(styleOf(name).stroke);
        const contrast = (Math.max(line, ground) + 0.05) / (Math.min(line, ground) + 0.05);
        ok(contrast >= 3, `${name}: ${contrast}`);
    }
    figure.remove();
});
