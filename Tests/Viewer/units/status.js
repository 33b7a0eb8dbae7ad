// @ts-check
import { sourceState as stateOfSource } from "/js/source-state.js";
import { banners, emptyKnowledge, stateOf } from "/js/status.js";
import { now } from "/js/server.js";
import { parseHash } from "/js/view.js";
import { equal, ok, test } from "../harness.js";

/** What a page knows of a live picture that all is well with, but for some of it.
 * @param {Partial<import("/js/status.js").Knowledge>} difference
 * @returns {import("/js/status.js").Knowledge} */
function knowing(difference) {
    const time = now();
    const iso = new Date(time - 5_000).toISOString();
    const picture = {
        request: { subject: "s", key: "k", time: difference.view?.time ?? null, asOf: time - 5_000 },
        frameTime: null, simulated: false, incomplete: false, failures: new Map(),
    };
    return {
        ...emptyKnowledge(parseHash("").view),
        billow: { version: 1, asOf: iso, dataTime: iso, stale: false, simulated: false, incomplete: false },
        server: {
            sources: [{ id: "awc", kind: "awc", state: "waiting", update: "PT1M", reachable: true }], layers: {},
        },
        contact: { since: time, problem: null }, pictures: { current: picture, next: null, isOther: false },
        ...difference,
    };
}

/** @param {Partial<import("/js/status.js").Knowledge>} difference */
function said(difference) {
    const knowledge = knowing(difference);
    const found = banners(knowledge);
    return { found, keys: [...found.keys()], state: stateOf(knowledge, found) };
}

const FRAME = { time: now() - 600_000, live: false, forecast: false, incomplete: true, playing: false, ready: true };
const HOLE = /INCOMPLETE: Some data is missing from this picture/;

test("where all is well nothing is said but Live", () => {
    const { keys, state } = said({});
    equal(keys, []);
    equal(state, { level: "good", text: "Live" });
});

test("an incomplete live picture says so, and since when the log is complete", () => {
    const { found, state } = said({
        billow: { ...knowing({}).billow, incomplete: true, completeSince: "2026-07-21T20:00:00Z" },
    });
    ok(HOLE.test(found.get("incomplete")?.text ?? ""), "it says so");
    ok((found.get("incomplete")?.text ?? "").includes("complete from 21 Jul 2026 20:00Z"), "since when");
    equal(state, { level: "warn", text: "Live, with a warning" });
});

test("a mark of the world isn't said of a map that lacks nothing, and names the layers of one that does", () => {
    const billow = { ...knowing({}).billow, incomplete: true };
    equal(said({ billow, lacking: [] }).keys, []);
    const grid = said({ billow, lacking: ["gtg"] }).found.get("incomplete")?.text ?? "";
    ok(/^INCOMPLETE: GTG does not cover the whole map/.test(grid) && !grid.includes("Some data"), grid);
    const both = said({ billow, lacking: ["gtg", "hexagons"] }).found.get("incomplete")?.text ?? "";
    ok(both.includes("GTG does not cover the whole map") && both.includes("missing from this picture: Hexagons"), both);
});

test("an incomplete picture at an instant says so, whether its TileJSON or a tile told", () => {
    const view = { ...parseHash("").view, time: now() - 3_600_000 };
    const first = said({ view, billow: { ...knowing({}).billow, incomplete: true } });
    ok(HOLE.test(first.found.get("incomplete")?.text ?? ""), "by its TileJSON");
    const { pictures } = knowing({});
    ok(pictures.current, "there is a picture");
    const { current } = pictures;
    const request = { ...current.request, time: view.time };
    const tiles = { ...pictures, current: { ...current, request, incomplete: true } };
    const second = said({ view, pictures: tiles });
    ok(HOLE.test(second.found.get("incomplete")?.text ?? ""), "by a tile");
    equal(second.state, { level: "warn", text: "Past" }, "it is no live picture");
});

test("an incomplete frame of the timeline says so when it stands still", () => {
    ok(said({ frame: FRAME }).keys.includes("incomplete"), "standing");
    ok(!said({ frame: { ...FRAME, playing: true } }).keys.includes("incomplete"), "playing: the timeline says it");
    ok(!said({ frame: { ...FRAME, incomplete: false } }).keys.includes("incomplete"), "complete");
});

test("stale data names its layers and its age, and data that never came is not a smooth map", () => {
    const stale = { ...knowing({}).billow, stale: true };
    const { found } = said({ billow: stale, server: { sources: [], layers: { hexagons: { stale: true } } } });
    ok(
        /^The data is stale: Hexagons\. Last received .* ago\.$/.test(found.get("stale")?.text ?? ""),
        `${found.get("stale")?.text}`,
    );
    const never = said({ billow: { ...stale, dataTime: null } }).found.get("stale")?.text ?? "";
    ok(never.startsWith("No data has been received yet"), never);
    ok(
        said({ billow: { unknown: true } }).found.get("stale")?.text.includes("does not say how old"),
        "an unknown age is said",
    );
});

test("simulated data is said first, whatever else is wrong", () => {
    const { keys, state } = said({
        billow: {
            ...knowing({}).billow, simulated: true, incomplete: true, stale: true,
        }, contact: { since: null, problem: "refused" },
    });
    equal(keys[0], "simulated");
    equal(state.level, "bad");
});

test("a past picture says when, and a forecast that it is one", () => {
    const past = said({ view: { ...parseHash("").view, time: now() - 7_200_000 } });
    ok(
        /^Past picture: .*, 2 h 00 min ago\. Not live\.$/.test(past.found.get("past")?.text ?? ""),
        `${past.found.get("past")?.text}`,
    );
    const ahead = said({ frame: { ...FRAME, time: now() + 3_600_500, forecast: true, incomplete: false } });
    const words = ahead.found.get("past")?.text ?? "";
    ok(/^Forecast for .*Not live\. No observations for this time yet: Hexagons, PIREPs\.$/.test(words), words);
    equal(said({ frame: { ...FRAME, playing: true } }).state, { level: "past", text: "Playing" });
});

test("tiles that failed, sources out of reach and links that can't be read are said", () => {
    const { pictures } = knowing({});
    ok(pictures.current, "there is a picture");
    const holes = { ...pictures, current: { ...pictures.current, failures: new Map([["a", "503"], ["b", "503"]]) } };
    equal(said({ pictures: holes }).found.get("tiles")?.level, "bad");
    const broken = {
        sources: [{ id: "awc", kind: "awc", state: "failing", reachable: false, lastError: { message: "refused" } }],
    };
    equal(said({ server: broken }).found.get("sources")?.text, "Unreachable sources: awc (refused).");
    equal(said({ problems: new Map([["This link", "hours is 9"]]) }).found.get("problem This link")?.level, "warn");
});

test("a page without a picture is loading", () => {
    const { state } = said({ pictures: { current: null, next: null, isOther: false } });
    equal(state, { level: "wait", text: "Loading…" });
});

test("a source is as bad as its state, its refusals and its silence", () => {
    const source = { id: "x", kind: "skypath", state: "waiting" };
    equal(stateOfSource(source), ["good", "up to date"]);
    equal(stateOfSource({ ...source, stale: true }), ["warn", "no data yet"]);
    equal(stateOfSource({ ...source, stale: true, lastSuccess: "2026-07-21T20:00:00Z" }), ["warn", "no recent data"]);
    equal(
        stateOfSource({ ...source, disabled: { polygons: "403", nowcast: "403" } }),
        ["warn", "without nowcast, polygons"],
    );
    equal(stateOfSource({ ...source, state: "refused" }), ["bad", "key refused"]);
    equal(stateOfSource({ ...source, state: "something new" }), ["wait", "something new"]);
});
