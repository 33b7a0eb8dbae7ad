// @ts-check
import { levelsAround, readPlan, stretchesOf } from "/js/plan.js";
import { equal, test } from "../harness.js";

test("a route is read from codes and positions, however they are typed", () => {
    equal(readPlan(" kjfk  EGLL "), { route: "KJFK EGLL", count: 2, level: null, leftOut: [] });
    equal(readPlan("KJFK 4430N05000W -0.46,51.47").route, "KJFK 4430N05000W -0.46,51.47");
    equal(readPlan("").count, 0);
});

test("of a pasted flight plan the places count, and the first level", () => {
    const plan = readPlan("KJFK0915 N0480F370 DCT 44N050W/M084F390 NATW UL607 EGLL0640");
    equal(plan, { route: "KJFK 44N050W NATW EGLL", count: 4, level: 37_000, leftOut: [] });
    equal(readPlan("KORD MERIT KJFK").leftOut, ["MERIT"], "what no server knows is named");
});

/** @type {(along: number, severity: number, altitude: number) => Billow.Feature} */
const cell = (along, severity, altitude) => ({
    geometry: { type: "Polygon", coordinates: [] },
    properties: {
        severity, altitude, distanceAlong: along, eta: `2026-07-21T20:${String(along / 10).padStart(2, "0")}:00Z`,
    },
});

test("hexagons on the way are stretches with the worst of each, and what is at one's own level", () => {
    const cells = [cell(120, 1, 37_000), cell(0, 3, 31_000), cell(20, 2, 36_000), cell(130, 1, 9_000)];
    const found = stretchesOf(cells, 37_000);
    equal(found.map(({ from, to, severity, low, high, cells, ownSeverity }) =>
        [from, to, severity, low, high, cells, ownSeverity]), [
        [0, 20, 3, 31_000, 36_000, 2, 2], [120, 130, 1, 9_000, 37_000, 2, 1],
    ]);
    equal(found.map(({ etaFrom, etaTo }) => [etaFrom, etaTo].map((time) => new Date(time ?? 0).getUTCMinutes())), [
        [0, 2], [12, 13],
    ]);
    equal(stretchesOf([cell(0, 1, 20_000)], null)[0].ownSeverity, null, "without a level nothing is one's own");
    equal(stretchesOf([], 37_000), []);
});

test("levels around one's own say the worst, and that no report is none", () => {
    const profile = { altitudes: [35_000, 36_000, 37_000, 39_000], severities: [[0, 3, 3], [4], [null, null], [1]] };
    equal(levelsAround(profile, 37_000, 2_000), [
        { altitude: 35_000, worst: 3, count: 2, known: 3 }, { altitude: 37_000, worst: null, count: 0, known: 0 },
        { altitude: 39_000, worst: 1, count: 1, known: 1 },
    ]);
});
