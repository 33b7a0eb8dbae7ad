// @ts-check
import { CellSection } from "/js/cell-section.js";
import { fieldSections } from "/js/field.js";
import { headline } from "/js/headline.js";
import { featureSections } from "/js/place-features.js";
import { parseHash } from "/js/view.js";
import { equal, json, test, withResponses } from "../harness.js";

const NAMES = ["Smooth", "Light", "Light-Moderate", "Moderate", "Moderate-Occasionally Severe"];
/** @type {any} */
const legend = { entry: (/** @type {number} */ severity) => ({ fill: "#000000", label: NAMES[severity] }) };
const ZOOM = 4, DEGREES_IN_PIXEL = 360 / (512 * 2 ** ZOOM);
const { signal } = new AbortController();

/** A small cell, a number of pixels east of the place.
 * @param {number} pixels
 * @param {number} severity */
function cell(pixels, severity) {
    const west = pixels * DEGREES_IN_PIXEL;
    const ring = [[west, 0], [west, 0.01], [west + 0.01, 0.01], [west, 0]];
    const properties = { h3: "8", severity, reports: 1, altitudeMin: 30_000, observedAt: "2026-07-21T20:00:00Z" };
    return { geometry: { type: "Polygon", coordinates: [ring] }, properties };
}

/** The card's headline, with its note, and the title of its section of cells.
 * @param {{ cells?: object[], field?: object[], reports?: object[], hazards?: object[] }} features
 * @param {string} [hash] */
async function words({ cells = [], field = [], reports = [], hazards = [] }, hash = "") {
    const { view } = parseHash(`#layers=gtg,hazards,hexagons,pireps&${hash}`);
    const answers = new Map([["hexagons", cells], ["gtg", field], ["pireps", reports], ["hazards", hazards]]);
    /** @type {string[]} */
    let found = [];
    await withResponses(({ url }) => {
        const [, id = ""] = /collections\/(\w+)/.exec(url.pathname) ?? [];
        return json({ features: answers.get(id) ?? [] });
    }, async () => {
        const section = await new CellSection(view, ZOOM, legend).content(0, 0, signal);
        const actions = { showAlerts() {}, follow() {} };
        const { symbols, areas } = await featureSections(view, ZOOM, 0, 0, signal, actions);
        const sections = [...symbols, section, ...areas, ...await fieldSections(view, 0, 0, signal)];
        const top = headline(sections, legend);
        found = [...top?.children ?? [], section.querySelector("h3")].map((node) => node?.textContent ?? "");
    });
    return found;
}

/** @param {number} severity */
const computed = (severity) => [{ geometry: {}, properties: { product: "gtg", edr: 0.1, severity } }];

test("the headline of a card is the worst turbulence that the map shows at the place", async () => {
    equal(await words({ cells: [cell(4, 0)], field: computed(1) }),
        ["Light", "The worst shown here, computed. Also: Smooth, reported.", "Hexagons: Smooth"]);
    equal(await words({ cells: [cell(4, 3)], field: computed(1) }),
        ["Moderate", "The worst shown here, reported. Also: Light, computed.", "Hexagons: Moderate"]);
    equal(await words({ field: computed(2) }), ["Light-Moderate", "The worst shown here, computed.", ""]);
    const report = { geometry: { type: "Point", coordinates: [0, 0] }, properties: { severity: 4 } };
    equal((await words({ reports: [report], field: computed(2) }))[0], "Moderate-Occasionally Severe");
    equal((await words({}))[0], "Not known here", "the field has no value");
});

test("neither a report beyond 12 pixels nor a filtered value gives the headline", async () => {
    // A finger reaches 22 pixels. A mouse does not reach this report at all.
    const [first, ...rest] = await words({ cells: [cell(15, 3)], field: computed(1) });
    equal([first, rest[0]], ["Light", "The worst shown here, computed."]);
    equal(["", "Nearby: Moderate"].includes(rest[1] ?? ""), true, `${rest[1]}`);
    equal((await words({ cells: [cell(15, 3)] }))[0], "Not known here", "a place nearby is another");
    equal(await words({ field: computed(1) }, "severity=3"), [""], "the map does not show it");
});

/** An issued area around the place.
 * @param {object} properties */
const area = (properties) => ({
    geometry: { type: "Polygon", coordinates: [[[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]] },
    properties: { kind: "sigmet", hazard: "TURB", ...properties },
});

test("the headline never says less than an issued area around the place", async () => {
    const severe = area({ severity: 4 });
    equal((await words({ hazards: [severe], cells: [cell(4, 0)], field: computed(1) })).slice(0, 2), [
        "Moderate-Occasionally Severe", "The worst shown here, issued. Also: Light, computed; Smooth, reported.",
    ]);
    equal((await words({ hazards: [severe] })).slice(0, 2),
        ["Moderate-Occasionally Severe", "The worst shown here, issued."]);
    equal((await words({ hazards: [area({ severity: 3 })], cells: [cell(4, 4)] })).slice(0, 2), [
        "Moderate-Occasionally Severe", "The worst shown here, reported. Also: Moderate, issued.",
    ]);
});

test("the headline does not call itself the worst inside an area of unknown severity", async () => {
    equal((await words({ hazards: [area({ hazard: "TS" })], field: computed(0) })).slice(0, 2), [
        "Smooth", "The worst known severity here, computed. Also: SIGMET TS without a severity, issued.",
    ]);
    equal((await words({ hazards: [area({ hazard: "TS" })] })).length, 1, "no headline");
});

test("the card of a followed flight says what is at the aircraft, and folds the ids of cells", async () => {
    await withResponses(() => json({ features: [cell(5, 3)] }), async () => {
        const { view } = parseHash("#layers=hexagons&flight=a00001");
        const section = await new CellSection(view, ZOOM, legend).content(0, 0, signal);
        equal(/\d NM east of the aircraft\./.test(section.textContent ?? ""), true, section.textContent ?? "");
        const folded = section.querySelectorAll("details.cell:not([open])");
        equal([...folded].map(({ textContent }) => textContent), ["Cell8"]);
        equal(headline([section], legend, "at the aircraft")?.textContent,
            "ModerateThe worst shown at the aircraft, reported.");
    });
    await withResponses(() => json({ features: [cell(5, 3)] }), async () => {
        const { view } = parseHash("#layers=hexagons&place=0/0");
        const section = await new CellSection(view, ZOOM, legend).content(0, 0, signal);
        equal(section.textContent?.includes("of the marker."), true);
    });
});
