// @ts-check
import { Airports } from "/js/airports.js";
import {
    chooseLevel, levelsAround, parseLevel, parsePlan, stretchesOf, unusedText, waypointsOf, withPositions,
} from "/js/flight-plan.js";
import { formatPosition, parsePosition } from "/js/position.js";
import { parseHash } from "/js/view.js";
import { typedName } from "/js/airport-suggestions.js";
import { equal, test } from "../harness.js";

test("a route consists of codes and positions in several notations", () => {
    equal(parsePlan(" kjfk  EGLL "), { route: "KJFK EGLL", count: 2, level: null, unknown: [], resolved: [] });
    equal(parsePlan("KJFK 4430N05000W -0.46,51.47").route, "KJFK 4430N05000W 512812N0002736W");
    equal(parsePlan("").count, 0);
});

/** @type {import("/js/airports.js").Row[]} */
const ROWS = [
    ["3IS8", "BDF", "Rinkenberger Airport", "Bradford", "US", -89.61, 41.23],
    ["EGGW", "LTN", "London Luton Airport", "London", "GB", -0.37, 51.87],
    ["EGLL", "LHR", "London Heathrow Airport", "London", "GB", -0.46, 51.47],
    ["KJFK", "JFK", "John F Kennedy International Airport", "New York", "US", -73.78, 40.64],
    ["KORD", "ORD", "Chicago O'Hare International Airport", "Chicago", "US", -87.9, 41.98],
    ["LSZH", "ZRH", "Zürich Airport", "Zürich", "CH", 8.55, 47.46],
];
const AIRPORTS = new Airports(ROWS);

test("a pasted flight plan is reduced to its waypoints and its first level", () => {
    const plan = parsePlan("KJFK0915 N0480F370 DCT 44N050W/M084F390 NATW UL607 EGLL0640", AIRPORTS);
    equal(plan, { route: "KJFK 44N050W EGLL", count: 3, level: 37_000, unknown: ["NATW"], resolved: [] });
    equal(parsePlan("KORD MERIT KJFK FL350", AIRPORTS), {
        route: "KORD KJFK", count: 2, level: 35_000, unknown: ["MERIT"], resolved: [],
    }, "unknown words are listed");
    equal(parsePlan("KORD NATW").route, "KORD NATW", "without a list the server decides");
});

test("names of airports are waypoints if they are unique or mean a main airport, and never in a plan", () => {
    const airports = new Airports([
        ...ROWS, ["EGBB", "BHX", "Birmingham International Airport", "Birmingham", "GB", -1.75, 52.45],
        ["KBHM", "BHM", "Birmingham-Shuttlesworth International Airport", "Birmingham", "US", -86.75, 33.56],
        ["KMDW", "MDW", "Chicago Midway International Airport", "Chicago", "US", -87.75, 41.79],
        ["KDEN", "DEN", "Denver International Airport", "Denver", "US", -104.67, 39.86],
        ["KAPA", "APA", "Centennial Airport", "Denver", "US", -104.85, 39.57],
        ["KNEW", "NEW", "Lakefront Airport", "New Orleans", "US", -90.03, 30.04],
    ]);
    /** @param {string} text */
    const route = (text) => parsePlan(text, airports).route;
    equal(route("Heathrow Zürich"), "EGLL LSZH");
    equal(route("Denver to Chicago FL370"), "KDEN KORD");
    equal(route("from New York via LTN to London"), "KJFK EGGW EGLL");
    equal(parsePlan("Denver Midway", airports).resolved, ["DENVER means KDEN", "MIDWAY means KMDW"]);
    equal(parsePlan("Birmingham Denver", airports), {
        route: "KDEN", count: 1, level: null, unknown: ["BIRMINGHAM"], resolved: ["DENVER means KDEN"],
    }, "an ambiguous name");
    equal(route("KORD DCT DENVER DCT KJFK"), "KORD KJFK", "a fix of a plan");
    equal(airports.search("chicago", 1).map(({ icao }) => icao), ["KORD"], "the main airport is suggested first");
});

test("waypoints may have commas, dashes or arrows between them", () => {
    for (const text of [
        "KJFK-EGLL", "KJFK–EGLL", "kjfk — egll", "KJFK, EGLL", "KJFK,EGLL", "KJFK → EGLL", "KJFK>EGLL", "jfk-lhr",
    ]) {
        equal(parsePlan(text, AIRPORTS).route, "KJFK EGLL", text);
    }
    equal(parsePlan("KJFK-44N050W-EGLL", AIRPORTS).unknown, ["KJFK-44N050W-EGLL"], "a hyphen only between letters");
    equal(parsePlan("KORD–KJFK–EGLL FL370", AIRPORTS).level, 37_000);
});

test("a level is a flight level or feet, and nothing else", () => {
    for (const text of ["FL370", "f370", "370", "FL 370", "37000", "37,000 ft"]) equal(parseLevel(text), 37_000, text);
    for (const text of ["", "high", "3", "FL37000", "-370"]) equal(parseLevel(text), NaN, text);
});

test("a level with two digits, and one between whole thousands of feet, is refused and never rounded", () => {
    for (const text of ["37", "F37", "FL37", "365", "FL365", "36500", "610", "FL999"]) {
        equal(parseLevel(text), NaN, text);
    }
    equal(["040", "FL600", "000", "4000"].map(parseLevel), [4_000, 60_000, 0, 4_000]);
    equal(parsePlan("KJFK N0480F365 EGLL", AIRPORTS).level, NaN, "the level of a plan");
    equal(parsePlan("KJFK EGLL F37", AIRPORTS).unknown, ["F37"], "a level is no airway");
    equal(["37", "365", "610"].map((level) => parseHash(`#level=${level}`).problems.length), [1, 1, 1]);
    equal(["0", "40", "040", "370"].map((level) => parseHash(`#level=${level}`).view.level), [0, 4_000, 4_000, 37_000]);
});

test("a pair of numbers has the longitude first, and a note says how it was read", () => {
    equal(parsePlan("40,-70 50.5,-20", AIRPORTS), {
        route: "7000S04000E 2000S05030E", count: 2, level: null, unknown: [], resolved: [
            "40,-70 was read as 70 S 40 E (longitude first)", "50.5,-20 was read as 20 S 50.5 E (longitude first)",
        ],
    });
    equal(parsePlan("40N 70W 50N,020W", AIRPORTS).resolved, []);
    equal(waypointsOf("40N070W 40,-70", AIRPORTS).map(({ longitude, latitude }) => [longitude, latitude]),
        [[-70, 40], [40, -70]]);
});

test("the level that the user entered last counts, and a note names the other one", () => {
    equal(chooseLevel(31_000, 37_000, false), {
        level: 31_000, note: "The level is FL310, from the plan. The field's earlier level is not used: FL370.",
    });
    equal(chooseLevel(31_000, 37_000, true), {
        level: 37_000, note: "The level is FL370, from its field. The plan's level is not used: FL310.",
    });
    equal(chooseLevel(NaN, 37_000, true).note,
        "The level is FL370, from its field. The plan's level is not used: no planned level.");
    equal(chooseLevel(31_000, null, false), { level: 31_000, note: "The level is FL310, from the plan." });
    equal(chooseLevel(null, 37_000, false), { level: 37_000, note: null });
    equal(chooseLevel(NaN, 37_000, false).level, NaN);
});

test("changes of level in a plan, and levels in feet or metres, are named as not used", () => {
    equal(unusedText("KJFK N0480F370 DCT 44N050W/M084F390 DCT 50N020W/N0480F410 EGLL"),
        "Not used from the plan: change of level to F390 and F410.");
    equal(unusedText("KJFK DCT 44N050W/M084F390 EGLL"), null, "the first level counts");
    equal(unusedText("KJFK N0140A045 EGLL"), "Not used from the plan: level A045.");
    for (const text of ["KJFK EGLL", "kjfk0915 M084F370 EGLL0640", "KJFK 4430N05000W EGLL FL370"]) {
        equal(unusedText(text), null, text);
    }
});

test("a flight plan message is reduced to departure, route and destination", () => {
    const message = `(FPL-BAW117-IS
        -B744/H-SXDGHIRWYZ/S
        -EGLL0930
        -N0485F350 DCT 5130N01500W/M084F370 DCT BDF J64
        -KJFK0715 KORD
        -PBN/A1 DOF/260721 REG/GABCD)`;
    equal(parsePlan(message, AIRPORTS), {
        route: "EGLL 5130N01500W KJFK", count: 3, level: 35_000, unknown: ["BDF"], resolved: [],
    });
});

test("IATA codes name airports, but in a flight plan three letters may be a beacon", () => {
    equal(parsePlan("jfk lhr", AIRPORTS), {
        route: "KJFK EGLL", count: 2, level: null, unknown: [], resolved: ["JFK means KJFK", "LHR means EGLL"],
    });
    equal(parsePlan("KORD BDF J64 JFK", AIRPORTS).route, "KORD KJFK");
    equal(parsePlan("KORD BDF J64 JFK", AIRPORTS).unknown, ["BDF"]);
});

test("positions are read in common notations, and ambiguous ones are unknown", () => {
    for (const [text, position] of [
        ["4038N07347W", "4038N07347W"], ["40N073W", "40N073W"], ["N4038W07347", "4038N07347W"],
        ["40.64N 73.78W", "403824N0734648W"], ["40°38'N, 73°47'W", "4038N07347W"], ["40.5/-73.5", "4030N07330W"],
        ["-73.78,40.64", "403824N0734648W"], ["40N 70W", "4000N07000W"], ["40N,070W", "40N070W"],
    ]) equal(parsePlan(`KJFK ${text} EGLL`, AIRPORTS).route, `KJFK ${position} EGLL`, text);
    for (const text of ["50/30", "4460N05000W", "91N000E", "200,10"]) {
        equal(parsePlan(`KJFK ${text} EGLL`, AIRPORTS).unknown, [text]);
    }
    equal(parsePosition("4030S07330W"), [-73.5, -40.5]);
    equal(formatPosition(-73.772, 40.641, true), "4038N07346W");
    equal(formatPosition(179.9999, -0.5), "0030S18000E");
});

test("airports are found by code, city and name, without accents and by prefix", () => {
    /** @param {string} text */
    const found = (text) => AIRPORTS.search(text, 5).map(({ icao }) => icao);
    equal(found("lhr"), ["EGLL"]);
    equal(found("egg"), ["EGGW"]);
    equal(found("zurich"), ["LSZH"]);
    equal(found("new yo"), ["KJFK"]);
    equal(found("heath"), ["EGLL"]);
    equal(found("london"), ["EGLL", "EGGW"]);
    equal(found("london airport nowhere"), []);
    equal(found(""), []);
    equal(AIRPORTS.nearest(-73.7, 40.6, 10, 6)?.icao, "KJFK");
    equal(AIRPORTS.nearest(-70, 40.6, 10, 6), null);
    equal(AIRPORTS.nearest(-89.6, 41.2, 10, 6), null, "a small airfield isn't on a map of this zoom");
});

test("a request has the positions of airports, because a server may not know their codes", () => {
    equal(withPositions("KJFK 5130N01500W LSZH", AIRPORTS), "-73.78,40.64 5130N01500W 8.55,47.46");
    equal(waypointsOf("KJFK 5130N01500W NATW", AIRPORTS).map(({ code, name }) => [code, name]), [
        ["KJFK", "New York, John F Kennedy International Airport"], ["5130N01500W", null],
    ]);
});

test("suggestions complete the name at the end, of as many words as an airport has", () => {
    /** @param {string} text */
    const typed = (text) => typedName(text, AIRPORTS).text;
    equal(typed("KJFK lond"), "lond");
    equal(typed("KJFK new yo"), "new yo");
    equal(typed("new york lond"), "lond");
    equal(typed("KJFK DCT heath"), "heath");
    for (const text of ["", "KJFK ", "KJFK N0450F370", "KJFK UL607", "KJFK 5130N"]) equal(typed(text), "");
    equal(typedName("KJFK new yo", AIRPORTS).start, 5);
});

/** @type {(along: number, severity: number, altitude: number) => Billow.Feature} */
const cell = (along, severity, altitude) => ({
    geometry: { type: "Polygon", coordinates: [] },
    properties: {
        severity, altitude, distanceAlong: along, eta: `2026-07-21T20:${String(along / 10).padStart(2, "0")}:00Z`,
    },
});

test("hexagons along a route form stretches with their worst severity, also at the planned level", () => {
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

test("levels around the planned one have their worst severity, or none without a report", () => {
    const profile = {
        altitudes: [35_000, 37_000, 39_000], severities: [[0, 3, 3], [null, null, null], [1, null, null]],
    };
    equal(levelsAround(profile, 37_000, 2_000), [
        { altitude: 35_000, worst: 3, count: 2, known: 3, all: 3 },
        { altitude: 37_000, worst: null, count: 0, known: 0, all: 3 },
        { altitude: 39_000, worst: 1, count: 1, known: 1, all: 3 },
    ]);
});

test("no level of the table looks clear of a report that lies 1,000 ft beside it", () => {
    const altitudes = Array.from({ length: 60 }, (_, block) => block * 1_000);
    /** @param {number[]} reported  altitudes of moderate reports in the first of two sections */
    const levels = (...reported) => {
        const severities = altitudes.map((altitude) => [reported.includes(altitude) ? 3 : null, null]);
        return levelsAround({ altitudes, severities }, 37_000, 6_000).flatMap(({ altitude, worst, count, known }) =>
            (worst === null ? [] : [[altitude, worst, count, known]]));
    };
    equal(levels(36_000, 38_000), [[35_000, 3, 1, 1], [37_000, 3, 1, 1], [39_000, 3, 1, 1]], "a section counts once");
    equal(levels(37_000), [[37_000, 3, 1, 1]]);
    for (const altitude of altitudes.slice(31, 44)) equal(levels(altitude).length > 0, true, `${altitude}`);
    equal(levels(29_000), []);
    equal(levelsAround({ altitudes, severities: altitudes.map(() => [1]) }, 0, 2_000).length, 2, "from the ground up");
});
