// @ts-check
import { hazardsOfPassage } from "/js/route-hazards.js";
import { alertGroups, reportedText } from "/js/alert-groups.js";
import { milesFrom } from "/js/distance.js";
import { equal, ok, test } from "../harness.js";

const DEPARTURE = Date.UTC(2026, 6, 21, 15);
/** A route along the equator, of 1,200 NM, that crosses the antimeridian. */
const PLACES = [{ longitude: 175, latitude: 0 }, { longitude: -165, latitude: 0 }];
const FLIGHT = { departure: DEPARTURE, speed: 600, width: 50, length: 1_200 };

/** A box over the route.
 * @param {string} id
 * @param {[west: number, east: number]} longitudes
 * @param {[from: string, to: string]} validity
 * @param {[south: number, north: number]} latitudes
 * @returns {Billow.Feature} */
const area = (id, [west, east], [from, to], [south, north] = [-2, 2]) => ({
    geometry: { type: "Polygon",
        coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]] },
    properties: { id, validFrom: `2026-07-21T${from}:00Z`, validTo: `2026-07-21T${to}:00Z` },
});

test("an area lies ahead only where the flight passes it while it is valid", () => {
    // The flight is at 180 degrees, after 300 NM, at 15:30, and at 170 W, after 900 NM, at 16:30.
    const { valid, other } = hazardsOfPassage([
        area("expired", [-180, -170], ["12:00", "15:20"]),
        area("renewed", [-180, -170], ["15:20", "18:00"]),
        area("ends meanwhile", [-180, -170], ["12:00", "16:00"]),
        area("later", [176, 179], ["18:00", "21:00"]),
        area("beside", [-176, -175], ["12:00", "18:00"], [0.3, 0.4]),
        area("at the edge of the corridor", [-176, -175], ["12:00", "18:00"], [0.45, 0.5]),
    ], PLACES, FLIGHT);
    equal(other.map(({ id }) => id), ["later", "expired"]);
    const stretches = Object.fromEntries(valid.map(({ id, stretches }) => [id, stretches[0].map(Math.round)]));
    const near = (/** @type {number[]} */ [from, to], /** @type {[number, number]} */ [first, last]) =>
        Math.abs(from - first) < 12 && Math.abs(to - last) < 12;
    ok(near(stretches.renewed, [276, 924]), `${stretches.renewed}`);
    ok(near(stretches["ends meanwhile"], [276, 600]), `${stretches["ends meanwhile"]}`);
    ok(near(stretches.beside, [530, 610]), `${stretches.beside}`);
    ok(stretches["at the edge of the corridor"] !== undefined, "the server decides what is in the corridor");
    equal(valid.length, 4);
});

test("without the positions of its waypoints, a route has an area along its whole length", () => {
    const { valid } = hazardsOfPassage([area("any", [0, 1], ["12:00", "16:00"])], [], FLIGHT);
    equal(valid.map(({ stretches }) => stretches), [[[0, 1_200]]]);
});

test("a place beyond the antimeridian is as far from an area as on this side", () => {
    const { geometry } = area("any", [-179, -178], ["12:00", "16:00"]);
    equal([-181, 179, 539].map((longitude) => Math.round(milesFrom(geometry, [longitude, 0]))), [120, 120, 120]);
});

test("reports have their own time, and their age at the passage or departure", () => {
    const [oldest, newest] = [DEPARTURE - 72 * 60_000, DEPARTURE - 60 * 60_000];
    equal(reportedText([newest, oldest], DEPARTURE, "the departure"),
        "reported 13:48–14:00Z, 1 h 00 min before the departure");
    equal([reportedText([oldest]), reportedText([])], ["reported 13:48Z", null]);
    const found = {
        clusters: [{ severity: 1, text: "", members: ["a"], longitude: 0, latitude: 0 }], hazards: [],
        items: [{ h3: "a", altitude: 35_000, observedAt: "2026-07-21T14:00:00Z" }],
    };
    equal([undefined, DEPARTURE].map((departure) => alertGroups(found, departure)[0].lines[0].note), [
        "FL350, 1 cell, reported 14:00Z", "FL350, 1 cell, reported 14:00Z, 1 h 00 min before the departure",
    ]);
});
