// @ts-check
import { alertFilters, alertFilterText, alertGroups } from "/js/alert-groups.js";
import { areaAndOutline, changeText, summaryOf } from "/js/aircraft-alerts.js";
import { announceChange, matchingFlights } from "/js/flight.js";
import { emptyKnowledge, StatusBar } from "/js/status.js";
import { parseHash } from "/js/view.js";
import { equal, test } from "../harness.js";

const [A, B, C] = [["a00001", "UAL12 "], ["a00002", "UAL123"], ["a00003", undefined]].map(([icao24, callsign]) => ({
    geometry: { type: "Point", coordinates: [0, 0] }, properties: { icao24, callsign },
}));

test("a flight is found by its call sign or address, otherwise by their prefix", () => {
    equal(matchingFlights([A, B, C], "ual12"), [A]);
    equal(matchingFlights([A, B, C], "UAL1"), [A, B]);
    equal(matchingFlights([A, B, C], "A00003"), [C]);
    equal([matchingFlights([A, B, C], "DLH1"), matchingFlights([A, B, C], " ")], [[], []]);
});

test("the summary of alerts has the worst of each kind, and no distances", () => {
    const cluster = (/** @type {number} */ severity, /** @type {string} */ text) =>
        ({ severity, text, members: [], longitude: 0, latitude: 0 });
    const hazards = [{ kind: "sigmet", hazard: "TURB" }, { kind: "sigmet", hazard: "TURB" }];
    const field = { clusters: [{ severity: 1, text: "" }] };
    const far = summaryOf({ clusters: [cluster(1, "40 NM"), cluster(3, "60 NM")], hazards, field });
    equal(far, "Moderate reported, Light computed, SIGMET TURB");
    equal(summaryOf({ clusters: [cluster(3, "52 NM"), cluster(1, "32 NM")], hazards, field }), far);
    equal(summaryOf({ clusters: [], hazards: [] }), "no turbulence reported, which does not mean smooth air");
});

test("the outline of the area ahead of an aircraft has no line at the antimeridian", () => {
    const area = { type: "MultiPolygon", coordinates: [
        [[[170, 40], [180, 42], [180, 44], [170, 40]]], [[[-180, 44], [-180, 42], [-170, 43], [-180, 44]]],
    ] };
    equal(areaAndOutline(area).features.map(({ geometry }) => geometry), [area, { type: "MultiLineString",
        coordinates: [[[170, 40], [180, 42]], [[180, 44], [170, 40]], [[-180, 42], [-170, 43], [-180, 44]]] }]);
});

test("alerts are grouped by severity, reported before computed, and issued areas by kind", () => {
    const here = { longitude: 0, latitude: 0 };
    const groups = alertGroups({
        clusters: [
            { ...here, severity: 1, text: "Light", members: ["a"], distance: 12.4, timeTo: 90, timeToPass: 95 },
            {
                ...here, severity: 3, text: "Moderate", members: ["b", "c"], distance: 35, timeTo: 300, timeToPass: 480,
            },
            { ...here, severity: 1, text: "Light in 80 NM", members: [] },
        ],
        items: [
            { h3: "b", altitudeMin: 31_000, altitudeMax: 33_000 },
            { h3: "c", altitudeMin: 34_000, altitudeMax: 34_000 },
        ],
        field: { clusters: [{ severity: 3, text: "Moderate computed", members: ["d"], distance: 0.4 }],
            items: [{ h3: "d", altitude: 35_000 }] },
        hazards: [
            { kind: "sigmet", hazard: "TURB", altitudeMin: 20_000, validFrom: "2026-07-21T18:00:00Z",
                validTo: "2026-07-21T22:00:00Z" },
            { kind: "gairmet", hazard: "TURB-HI", altitudeMin: 0, altitudeMax: 8_000, altitudeReference: "AGL" },
        ],
    });
    equal(groups.map(({ title, lines }) => [title, ...lines.map(({ label, note }) => `${label}: ${note}`)]), [
        ["Moderate, reported", "In 35 NM, 5 min, for 3 min: FL310 – FL340, 2 cells"],
        ["Moderate, computed", "Here: FL350, 1 cell"],
        ["Light, reported", "In 12 NM, 2 min: 1 cell", "Light in 80 NM: "],
        ["G-AIRMET, issued", "TURB-HI: SFC – FL080 AGL"],
        ["SIGMET, issued", "TURB: FL200 and above, valid 21 Jul 18:00 – 22:00Z"],
    ]);
    equal(alertGroups({ clusters: [], hazards: [] }), []);
});

test("clusters of one severity that follow at once are one line", () => {
    const cluster = (/** @type {number} */ distance, /** @type {number} */ timeTo, /** @type {number} */ severity) => ({
        longitude: 0, latitude: 0, text: "", members: [`${distance}`], distance, timeTo, timeToPass: timeTo + 480,
        severity,
    });
    const clusters = [
        cluster(1747, 13_980, 3), cluster(1779, 14_220, 3), cluster(1814, 14_520, 3), cluster(1790, 14_300, 1),
        cluster(2020, 16_160, 3),
    ];
    const groups = alertGroups({ clusters, hazards: [] });
    equal(groups.map(({ title, lines }) => [title, ...lines.map(({ label }) => label)]), [
        ["Moderate, reported", "In 1747 NM, 3 h 53 min, for 17 min", "In 2020 NM, 4 h 29 min, for 8 min"],
        ["Light, reported", "In 1790 NM, 3 h 58 min, for 8 min"],
    ]);
});

test("alerts have the filters of the view, but for smooth air, and say so", () => {
    /** @type {[hash: string, severities: object, text: string | null][]} */
    const views = [
        ["", { minSeverity: 1 }, null],
        ["#severity=1", { minSeverity: 1 }, null],
        ["#severity=3", { minSeverity: 3 }, "Only Moderate or worse"],
        ["#severities=1,3", { minSeverity: 1, severity: [1, 3] }, "Only Light and Moderate"],
        ["#severities=0,4", { minSeverity: 4 }, "Only Moderate-Occasionally Severe"],
        ["#severities=0", { minSeverity: 1 }, null],
    ];
    for (const [hash, severities, text] of views) {
        const { view } = parseHash(hash);
        equal([alertFilters(view), alertFilterText(view)], [{ hours: 2, ...severities }, text], hash);
    }
    const { view } = parseHash("#category=C40&sources=a&min=30000");
    equal(alertFilters(view), { hours: 2, minSeverity: 1, category: "C40", source: ["a"] });
    equal(alertFilterText(view), "Only for C40, from a");
});

test("a change of alerts names the flight, the time, and what was ahead before", () => {
    const time = Date.parse("2026-07-21T19:31:40Z");
    equal(changeText("KHZ1841", "Severe reported", "Moderate reported", time, null),
        "Ahead of KHZ1841 since 19:31Z: Severe reported (before: Moderate reported).");
    equal(changeText("KHZ1841", "Light computed", summaryOf({ clusters: [], hazards: [] }), time, "Only from a"),
        "Ahead of KHZ1841 since 19:31Z: Light computed (before: no turbulence reported). Only from a.");
});

/** Runs a test with stubs of notifications, in a page without the focus.
 * @param {object | undefined} registration  of the service worker
 * @param {(shown: unknown[][]) => Promise<void>} body */
async function withNotifications(registration, body) {
    /** @type {unknown[][]} */
    const shown = [];
    class Stub {
        static permission = "granted";
        /** @param {string} title
         * @param {{ body: string, data?: string }} options */
        constructor(title, { body }) { shown.push(["page", title, body]); }
    }
    /** @type {[target: object, name: string, value: unknown][]} */
    const stubs = [
        [window, "Notification", Stub], [document, "hasFocus", () => false],
        [navigator, "serviceWorker", { getRegistration: async () => registration && {
            ...registration, showNotification: async (
                /** @type {string} */ title, /** @type {{ body: string, data: string }} */ { body, data },
            ) => { shown.push(["worker", title, body, data]); },
        } }],
    ];
    const kept = stubs.map(([target, name]) => Object.getOwnPropertyDescriptor(target, name));
    for (const [target, name, value] of stubs) Object.defineProperty(target, name, { value, configurable: true });
    try {
        await body(shown);
    } finally {
        for (const [index, [target, name]] of stubs.entries()) {
            const own = kept[index];
            if (own) Object.defineProperty(target, name, own);
            else Reflect.deleteProperty(target, name);
        }
    }
}

const TEXT = "Ahead of UAL12 since 19:31Z: Severe reported (before: Light reported).";
const notices = () => [...document.querySelectorAll("#banners .notice")];

test("a change is notified by the service worker, and by the page itself only without one", async () => {
    const body = `${TEXT} Not for navigation.`;
    await withNotifications({ active: {} }, async (shown) => {
        await announceChange(TEXT);
        equal(shown, [["worker", "Billow", body, location.href]]);
    });
    await withNotifications(undefined, async (shown) => {
        await announceChange(TEXT);
        equal(shown, [["page", "Billow", body]]);
    });
    // A worker that is still being installed can't show one.
    await withNotifications({ active: null }, async (shown) => {
        await announceChange(TEXT);
        equal(shown, [["page", "Billow", body]]);
    });
    document.querySelector(".notice button")?.dispatchEvent(new Event("click"));
});

test("a change is in one notice and in the title until the user dismisses it", async () => {
    await announceChange(TEXT);
    await announceChange(TEXT.replace("19:31", "19:40"));
    equal(notices().map((node) => node.querySelector("p")?.textContent), [TEXT.replace("19:31", "19:40")]);
    const status = new StatusBar(() => {});
    const knowledge = emptyKnowledge(parseHash("").view);
    status.show(knowledge);
    equal([document.title, notices().length], ["(!) Billow · turbulence map", 1]);
    document.querySelector(".notice button")?.dispatchEvent(new Event("click"));
    status.show(knowledge);
    equal([document.title, notices().length], ["Billow · turbulence map", 0]);
});
