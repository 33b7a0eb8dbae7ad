// @ts-check
import { beyondText, worstComputed, worstReported } from "/js/route-beyond.js";
import { FIELD_NAMES } from "/js/route-sections.js";
import { equal, test } from "../harness.js";

const band = { minAltitude: 35_000, maxAltitude: 39_000 };
/** @param {number} distanceAlong @param {number} severity @param {number} [altitude] */
const cell = (distanceAlong, severity, altitude = 37_000) =>
    /** @type {any} */ ({ properties: { distanceAlong, severity, altitude } });

test("the worst report beyond the alerts has its parts, at the flight's levels and at others", () => {
    const cells = [cell(1900, 4), cell(2100, 1), cell(2860, 2), cell(2880, 2), cell(2950, 2), cell(2500, 3, 20_000)];
    equal(worstReported(cells, 2000, band), {
        own: { severity: 2, parts: [{ from: 2860, to: 2880 }, { from: 2950, to: 2950 }] },
        other: { severity: 3, parts: [{ from: 2500, to: 2500 }] },
    });
    equal(worstReported(cells, 2960, band), { own: null, other: null });
});

test("the worst computed turbulence beyond the alerts begins at their end at the earliest", () => {
    equal(worstComputed([4, 0, 2, null, 1], 250, 500), { severity: 2, parts: [{ from: 250, to: 300 }] });
    equal(worstComputed([4, 0, null], 250, 300), null);
});

test("a route whose worst lies beyond the alerts says so, with its miles and those without a field", () => {
    const cells = [cell(2857, 2), cell(2870, 2), cell(2890, 2)];
    const route = { ahead: 1, distance: 2000, length: 3000, band, cells, field: null, hazards: [] };
    equal(beyondText(route), { isWorse: true, sentences: [
        "Worse lies beyond 2000 NM: Light-Moderate reported at 2857–2890 NM.",
        `No ${FIELD_NAMES} is stored for 2000–3000 NM.`,
    ] });
    const field = { severities: [0, 0, 3], unknown: [
        { from: 600, to: 2100, reason: "outside" }, { from: 2110, to: 2200, reason: "outside" },
        { from: 2900, to: 3000, reason: "time" },
    ] };
    equal(beyondText({ ...route, field, ahead: 3, hazards: [{ from: 1900, to: 2050 }] }), {
        isWorse: false, sentences: [
            "The worst beyond 2000 NM: Light-Moderate reported at 2857–2890 NM, Moderate computed at 2000–3000 NM.",
            "Hazard areas beyond: 2000–2050 NM.",
            `No ${FIELD_NAMES} is known for 2000–2200 NM: outside of its area.`,
            `No ${FIELD_NAMES} is known for 2900–3000 NM: not stored for these times.`,
        ],
    });
});

test("without reports beyond the alerts, the text does not call the air smooth", () => {
    const route = { ahead: 0, distance: 2000, length: 3000, band, cells: [cell(2500, 3, 20_000)],
        field: { severities: [], unknown: [] }, hazards: [] };
    equal(beyondText(route), { isWorse: true, sentences: [
        "Beyond 2000 NM, at other levels, Moderate is reported at 2500 NM.",
        "Beyond 2000 NM no turbulence is reported at FL350–FL390. This does not mean smooth air.",
    ] });
});
