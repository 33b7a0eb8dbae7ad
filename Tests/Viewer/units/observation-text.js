// @ts-check
import { levelText, observedText } from "/js/observation-text.js";
import { now } from "/js/server.js";
import { equal, ok, test } from "../harness.js";

test("the levels of a report are one flight level, or the lowest and the highest", () => {
    equal(levelText({ altitude: 37_000 }), "FL370");
    equal(levelText({ altitudeMin: 31_000, altitudeMax: 31_000 }), "FL310");
    equal(levelText({ altitudeMin: 31_000, altitudeMax: 33_000 }), "FL310 – FL330");
    equal(levelText({ altitudeMin: 0, altitudeMax: 4_000 }), "SFC – FL040");
});

test("the time of a report has its age at the instant of the map", () => {
    const instant = Date.UTC(2026, 6, 21, 20);
    const record = { observedAt: "2026-07-21T20:00:00Z" };
    const past = observedText(record, instant + 300_000);
    ok(past.endsWith(", 5 min 00 s before"), past);
    const live = observedText({ observedAt: new Date(now() - 19_000).toISOString() }, null);
    ok(/, (19|20) s ago$/.test(live), live);
});

test("a time that can't be read is shown as it is", () => {
    equal(observedText({ observedAt: "yesterday" }, null), "yesterday");
    equal(observedText({}, null), "not reported");
});
