// @ts-check
import { clockText } from "/js/clock-text.js";
import {
    age, bandText, clockTime, compactTime, dateTime, flightLevel, parseCompactTime, parseInput, parseInstant,
    hoursText, instantOf, localTime, shortTime, inputText,
} from "/js/format.js";
import { equal, test } from "../harness.js";

const EVENING = Date.UTC(2026, 6, 21, 20, 0, 0);

test("times are UTC, with seconds only if they are not 0", () => {
    equal(clockTime(EVENING + 5_000), "20:00:05Z");
    equal(dateTime(EVENING), "21 Jul 2026 20:00Z");
    equal(dateTime(EVENING + 5_000), "21 Jul 2026 20:00:05Z");
    equal(shortTime(EVENING, EVENING + 60_000), "20:00:00Z");
    equal(shortTime(EVENING, EVENING + 86_400_000 * 2), "21 Jul 2026 20:00Z");
});

test("a local time names its date where that is not the date of UTC", () => {
    equal([0, 240, -180, -240, -345].map((offset) => localTime(EVENING, offset)),
        ["20:00", "16:00", "23:00", "22 Jul 00:00", "22 Jul 01:45"]);
    equal(localTime(Date.UTC(2026, 7, 1, 1, 30), 300), "31 Jul 20:30");
});

test("a clock time names its day where another one is near", () => {
    equal([0, 4, 24, -24].map((hours) => clockText(EVENING + hours * 3_600_000, EVENING)),
        ["20:00", "22 Jul 00:00", "22 Jul 20:00", "20 Jul 20:00"]);
});

test("an age has at most two units, and is never negative", () => {
    const cases = [
        [-5_000, "0 s"], [0, "0 s"], [19_400, "19 s"], [59_600, "1 min 00 s"],
        [245_000, "4 min 05 s"], [600_000, "10 min"],
        [3_599_000, "59 min"], [7_500_000, "2 h 05 min"], [172_799_000, "47 h 59 min"], [273_600_000, "3 d 4 h"],
    ];
    for (const [milliseconds, words] of cases) equal(age(Number(milliseconds)), words, `${milliseconds} ms`);
});

test("a text without a time zone is no instant", () => {
    equal(instantOf("2026-07-21T20:00:00Z"), EVENING);
    equal(instantOf("2026-07-21T22:00:00+02:00"), EVENING);
    for (const text of ["2026-07-21T20:00:00", "2026-13-01T00:00:00Z", "", null, undefined, 5]) {
        equal(instantOf(text), null, `${text}`);
    }
});

test("the compact form survives a round trip, and invalid dates are rejected", () => {
    equal(compactTime(EVENING), "20260721T200000Z");
    equal(parseCompactTime("20260721T200000Z"), EVENING);
    for (const text of ["20260230T000000Z", "20260721T250000Z", "20260721T2000Z", "", "x"]) {
        equal(parseCompactTime(text), null, text);
    }
});

test("a typed 24-hour date and time is read in several notations", () => {
    equal(inputText(EVENING), "2026-07-21 20:00");
    equal(inputText(EVENING + 5_000), "2026-07-21 20:00:05");
    for (const text of ["2026-07-21 20:00", " 2026-07-21T20:00z ", "2026-07-21 2000", "2026-07-21 20:00:00"]) {
        equal(parseInput(text), EVENING, text);
    }
    for (const text of ["21.7.2026", "2026-07-21", "2026-02-30 10:00", "2026-07-21 8 pm"]) {
        equal(parseInput(text), null, text);
    }
});

test("altitudes are flight levels, and 0 is the surface", () => {
    equal(flightLevel(0), "SFC");
    equal(flightLevel(4_000), "FL040");
    equal(bandText(null, null), "All levels");
    equal(bandText(30_000, null), "FL300 and above");
    equal(bandText(null, 18_000), "Below FL180");
    equal(bandText(18_000, 41_000), "FL180 – FL410");
    equal([hoursText(0.5), hoursText(6)], ["½ h", "6 h"]);
});

test("an address has an instant in the compact form or as RFC 3339", () => {
    const instant = Date.UTC(2026, 10, 29, 6, 11, 42);
    for (const text of [
        "20261129T061142Z", "2026-11-29T06:11:42Z", "2026-11-29t06:11:42.987z", "2026-11-29T07:11:42+01:00",
        "2026-11-29T07:11:42 01:00", "2026-11-29T01:41:42-04:30",
    ]) equal(parseInstant(text), instant, text);
    for (const text of [
        "2026-11-29T06:11:42", "2026-02-30T00:00:00Z", "2026-11-29", "2026-11-29T06:11:42+24:00", "now", "",
    ]) equal(parseInstant(text), null, text);
});
