// @ts-check
import {
    parseDeparture, parsePassage, parseSpeed, passageOfPlan, passageText, pastText, sourceText,
} from "/js/passage.js";
import { formatHash, parseHash } from "/js/view.js";
import { equal, test } from "../harness.js";

const NOON = Date.UTC(2026, 6, 21, 12);
const HOUR = 3_600_000;

test("the departure time and the speed of a plan are used", () => {
    const message = `(FPL-BAW117-IS
        -B744/H-SXDGHIRWYZ/S -KJFK1430 -N0487F370 DCT 44N050W/M084F390 -EGLL0640 -PBN/A1)`;
    equal(passageOfPlan(message, 37_000, NOON), {
        isPlanned: true, speed: 487, departure: NOON + 2.5 * HOUR,
        notes: ["The plan has no date, so it departs at 14:30Z."],
    });
    equal(passageOfPlan(message.replace("PBN/A1", "DOF/260723"), 37_000, NOON).departure,
        NOON + 50.5 * HOUR, "its date");
    for (const text of ["KJFK EGLL", "KJFK EGLL0640", "KJFK 4430N05000W EGLL FL370"]) {
        equal(passageOfPlan(text, null, NOON), { isPlanned: true, speed: null, departure: null, notes: [] }, text);
    }
});

test("a plan's time without a date is the next one, or that of a flight on its way", () => {
    /** @param {string} clock */
    const hours = (clock) => ((passageOfPlan(`KJFK${clock} EGLL`, null, NOON).departure ?? NaN) - NOON) / HOUR;
    equal(["1100", "0900", "0830", "2359"].map(hours), [-1, -3, 20.5, 11 + 59 / 60]);
    equal(passageOfPlan("KJFK0830 EGLL", null, NOON).notes,
        ["The plan has no date, so it departs at 22 Jul 08:30Z."]);
    equal(passageOfPlan("KJFK0830 EGLL DOF/261399", null, NOON).departure, null, "no such date");
});

test("a plan's speed in Mach or kilometres per hour becomes knots, with a note", () => {
    equal(passageOfPlan("KJFK M084F370 EGLL", 37_000, NOON), {
        isPlanned: true, speed: 482, departure: null, notes: ["Mach 0.84 is 482 kt in standard air."],
    });
    equal(passageOfPlan("KJFK K0870F370 EGLL", null, NOON).speed, 470);
    equal(passageOfPlan("KJFK N0000F370 EGLL", null, NOON).speed, null);
});

test("a link keeps the departure and the speed, and where they come from", () => {
    for (const text of ["plan,450kt,20260721T143000Z", "typed,450kt", "plan,20260721T143000Z"]) {
        equal(passageText(parsePassage(text)), text);
        const { view, problems } = parseHash(`#route=KJFK+EGLL&passage=${text}`);
        equal([view.passage, problems], [text, []]);
        equal(formatHash(view).includes(`passage=${text}`), true);
    }
    for (const text of ["plan,5kt", "plan,9000kt", "plan,20261399T143000Z", "plan,", "other,450kt", "450kt"]) {
        equal(parseHash(`#passage=${text}`).problems.length, 1, text);
    }
    equal(passageText(parsePassage(null)), null);
});

test("typed departures and speeds are read, and wrong ones are refused", () => {
    equal(["14:30", "1430Z", "2026-07-22 06:00", ""].map((text) => parseDeparture(text, NOON)),
        [NOON + 2.5 * HOUR, NOON + 2.5 * HOUR, NOON + 18 * HOUR, null]);
    equal(["25:00", "noon"].map((text) => parseDeparture(text, NOON)), [NaN, NaN]);
    equal(["450", "450 kt", ""].map(parseSpeed), [450, 450, null]);
    equal(["5", "fast"].map(parseSpeed), [NaN, NaN]);
});

test("the card names the source of a route's times, and a departure that is past", () => {
    const planned = parsePassage("plan,450kt,20260721T143000Z");
    equal(sourceText(planned, NOON), "From the plan: 450 kt, departing 14:30Z. The times are without wind.");
    equal(sourceText({ ...planned, isPlanned: false, speed: null }, NOON),
        "As entered: departing 14:30Z. The speed of 450 kt is the page's. The times are without wind.");
    equal(sourceText(parsePassage(null), NOON), null);
    equal(pastText(planned, NOON, NOON + 8 * HOUR), null);
    equal(pastText(planned, NOON + 4 * HOUR, NOON + 8 * HOUR),
        "The departure was 1 h 30 min ago, so a part of the route is flown.");
    equal(pastText(planned, NOON + 10 * HOUR, NOON + 8 * HOUR),
        "This flight is over: it departed 7 h 30 min ago and arrived 2 h 00 min ago.");
});
