// @ts-check
import {
    clockRange, FIELD_NAMES, fieldAlongRoute, hazardsAlongRoute, hourMinute, rangeText, severityName, unknownTexts,
} from "/js/route-sections.js";
import { equal, ok, test } from "../harness.js";

const DEPARTURE = Date.UTC(2026, 6, 21, 18);

test("texts along a route are short", () => {
    equal([rangeText("FL310", "FL370"), rangeText("FL310", "FL310")], ["FL310–FL370", "FL310"]);
    equal(hourMinute(DEPARTURE + 5_000), "18:00");
    equal([5, 9, 30].map((hours) => clockRange(DEPARTURE, DEPARTURE + hours * 3_600_000, DEPARTURE)),
        ["18:00–23:00", "18:00–22 Jul 03:00", "18:00–23 Jul 00:00"]);
    equal(clockRange(DEPARTURE, DEPARTURE, DEPARTURE - 86_400_000), "21 Jul 18:00");
    equal([severityName(3), severityName(9)], ["Moderate", "Severity 9"]);
});

test("the parts of a route without a computed field are named by their reasons, at most three of them", () => {
    equal([unknownTexts(undefined), unknownTexts({ unknown: [] })], [[], []]);
    const part = (/** @type {number} */ from, /** @type {number} */ to, reason = "outside") => ({ from, to, reason });
    equal(unknownTexts({ unknown: [part(600, 2100), part(2110, 2200), part(2900, 3000, "time")] }), [
        `No ${FIELD_NAMES} is known for 600–2200 NM: outside of its area.`,
        `No ${FIELD_NAMES} is known for 2900–3000 NM: not stored for these times.`,
    ]);
    equal(unknownTexts({ unknown: [part(0, 10), part(100, 110), part(200, 210), part(300, 310), part(400, 410)] }), [
        `No ${FIELD_NAMES} is known for 0–10, 100–110, 200–210 NM, and 2 more parts to 410 NM: outside of its area.`,
    ]);
});

test("hazard areas have the times of passage, and expire if they end before", () => {
    const hazard = {
        kind: "unknown", hazard: "TURB", altitudeMin: 20_000, altitudeMax: 39_000, stretches: [[225, 450]],
        validFrom: "2026-07-21T16:00:00Z", validTo: "2026-07-21T18:20:00Z",
    };
    const text = () => hazardsAlongRoute([hazard], DEPARTURE, 450).map(({ textContent }) => textContent).join(" ");
    ok(text().includes("18:30–19:00Z unknown TURB225–450 NM, FL200 – FL390valid 16:00–18:20Z"), text());
    ok(text().endsWith(", expires before you arrive"), text());
    hazard.validTo = "2026-07-22T02:00:00Z";
    ok(text().includes("valid 16:00–22 Jul 02:00Z"), text());
    ok(!text().includes("expires"), text());
    equal(hazardsAlongRoute([], DEPARTURE, 450), []);
});

test("hazard areas along a route say which levels are above ground, and which limits are missing", () => {
    /** @param {object} limits */
    const text = (limits) => hazardsAlongRoute([{ kind: "gairmet", hazard: "TURB-LO", stretches: [[0, 9]], ...limits }],
        DEPARTURE, 450).map(({ textContent }) => textContent).join(" ").match(/NM, (.+)valid/)?.[1];
    equal(text({ altitudeMin: 0, altitudeMax: 2_000, altitudeReference: "AGL" }), "SFC – FL020 AGL");
    equal(text({ altitudeMin: 24_000 }), "FL240 and above");
    equal(text({}), "level not reported");
    equal(text({ altitudeMin: null, altitudeMax: null }), "level not reported");
});

test("the field along a route has its text and its name, and a warning if it is stale", () => {
    const run = "2026-07-21T18:00:00Z";
    const fields = [0, 3_600].map((lead) => ({ product: "gtg", run, lead, validTime: run }));
    /** @param {object} field */
    const text = (field) => fieldAlongRoute(field).map(({ textContent }) => textContent);
    const [title, main, note, ...rest] = text({ text: "Light from 10 NM", fields });
    ok(title?.startsWith("Computed along the route ("), `${title}`);
    equal([main, rest], ["Light from 10 NM", []]);
    ok(note?.startsWith("Forecast GTG, run 21 Jul 18:00Z + 0 s, valid 21 Jul 18:00Z, and 1 more. Computed"), `${note}`);
    equal(text({ stale: true }).at(-1), "The field is stale.");
    equal(fieldAlongRoute(undefined), []);
});
