// @ts-check
import { levelText, observedParts, tickAges } from "/js/observation-text.js";
import { now } from "/js/server.js";
import { equal, ok, test } from "../harness.js";

test("the levels of a report are one flight level, or the lowest and the highest", () => {
    equal(levelText({ altitude: 37_000 }), "FL370");
    equal(levelText({ altitudeMin: 31_000, altitudeMax: 31_000 }), "FL310");
    equal(levelText({ altitudeMin: 31_000, altitudeMax: 33_000 }), "FL310 – FL330");
    equal(levelText({ altitudeMin: 0, altitudeMax: 4_000 }), "SFC – FL040");
});

/** @param {Record<string, unknown>} record
 * @param {number | null} time */
function observed(record, time) {
    const cell = document.createElement("dd");
    cell.append(...observedParts(record, time));
    return cell;
}

test("the time of a report has its age at the instant of the map", () => {
    const instant = Date.UTC(2026, 6, 21, 20);
    const record = { observedAt: "2026-07-21T20:00:00Z" };
    const past = observed(record, instant + 300_000).textContent ?? "";
    ok(past.endsWith(", 5 min 00 s before"), past);
    const live = observed({ observedAt: new Date(now() - 19_000).toISOString() }, null).textContent ?? "";
    ok(/, (19|20) s ago$/.test(live), live);
});

test("the age of a report grows live, and stays at an instant", () => {
    const record = { observedAt: new Date(now() - 120_000).toISOString() };
    const [live, past] = [null, now()].map((time) => observed(record, time));
    const words = past.textContent;
    const { now: realNow } = Date;
    Date.now = () => realNow() + 1_200_000;
    try {
        for (const cell of [live, past]) tickAges(cell);
    } finally {
        Date.now = realNow;
    }
    ok(live.textContent?.endsWith(", 22 min ago"), live.textContent ?? "");
    equal(past.textContent, words);
});

test("a time that can't be read is shown as it is", () => {
    equal(observed({ observedAt: "yesterday" }, null).textContent, "yesterday");
    equal(observed({}, null).textContent, "not reported");
});
