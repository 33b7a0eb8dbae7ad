// @ts-check
import { sourceState as stateOfSource } from "/js/source-state.js";
import { showSources } from "/js/sources.js";
import { banners, emptyKnowledge, stateOf, timesOf } from "/js/status.js";
import { edgeText, isEmpty } from "/js/missing-areas.js";
import { drawnView } from "/js/picture-request.js";
import { now } from "/js/server.js";
import { parseHash } from "/js/view.js";
import { equal, ok, test } from "../harness.js";

/** A page's knowledge of a live picture without problems, with some differences.
 * @param {Partial<import("/js/status.js").Knowledge>} difference
 * @returns {import("/js/status.js").Knowledge} */
function knowing(difference) {
    const time = now();
    const iso = new Date(time - 5_000).toISOString();
    const picture = {
        request: {
            subject: "s", key: "k", time: difference.view?.time ?? null, asOf: time - 5_000,
            view: drawnView(difference.view ?? parseHash("").view),
        },
        frameTime: null, simulated: false, incomplete: false, failures: new Map(),
    };
    return {
        ...emptyKnowledge(parseHash("").view),
        billow: { version: 1, asOf: iso, dataTime: iso, stale: false, simulated: false, incomplete: false },
        server: {
            sources: [{ id: "awc", kind: "awc", state: "waiting", update: "PT1M", reachable: true }], layers: {},
        },
        contact: { since: time, problem: null }, pictures: { current: picture, next: null, isOutdated: false },
        ...difference,
    };
}

/** @param {Partial<import("/js/status.js").Knowledge>} difference */
function shown(difference) {
    const knowledge = knowing(difference);
    const found = banners(knowledge);
    return { found, keys: [...found.keys()], state: stateOf(knowledge, found) };
}

const FRAME = {
    time: now() - 600_000, live: false, forecast: false, incomplete: true, playing: false, ready: true,
    view: drawnView(parseHash("").view),
};
const HOLE = /INCOMPLETE: Some data is missing from this picture/;

test("the header states the age of a live picture that is older than a minute", () => {
    const { current } = knowing({}).pictures;
    ok(current, "there is a picture");
    /** @param {number} age */
    const times = (age) => timesOf(knowing({
        pictures: { current: { ...current, frameTime: now() - age }, next: null, isOutdated: false },
    }));
    ok(/^Picture [^,]*Z · data 5 s old$/.test(times(2_000)), times(2_000));
    ok(/^Picture [^,]*Z · data 30 s old$/.test(times(30_000)), times(30_000));
    // The picture shows no data that is newer than itself.
    ok(/^Picture [^,]*Z, 1 min 30 s old · data 1 min 30 s old$/.test(times(90_000)), times(90_000));
});

test("without contact, a banner says that the map does not have the new settings, and names its own", () => {
    const { pictures, view } = knowing({});
    const wanted = { ...view, minSeverity: 3 };
    const contact = { since: now(), problem: "no response" };
    const text = shown({ view: wanted, pictures, contact }).found.get("other")?.text ?? "";
    ok(text.startsWith("The map does not show your new settings yet. It still shows: ")
        && text.includes("All severities"), text);
    equal(shown({ view: wanted, pictures }).state, { level: "wait", text: "Loading…" });
    // With contact, the banner comes if the new picture takes long.
    const waiting = knowing({ view: wanted, pictures });
    equal([false, true].map((hasWaited) => banners(waiting, hasWaited).has("other")), [false, true]);
    const playing = { ...FRAME, playing: true, incomplete: false };
    equal(shown({ view: wanted, frame: playing }).state, { level: "wait", text: "Loading…" });
});

test("an old picture and a silent server are not live", () => {
    const { pictures, contact } = knowing({});
    const { current } = pictures;
    ok(current, "there is a picture");
    /** @param {number} age */
    const aged = (age) => shown({ pictures: {
        ...pictures, current: { ...current, frameTime: now() - age },
    } });
    equal(aged(170_000).state, { level: "good", text: "Live" });
    equal([aged(190_000).state, aged(190_000).keys], [{ level: "warn", text: "Old picture" }, ["stale"]]);
    equal(shown({ contact: { ...contact, isSilent: true } }).state, { level: "wait", text: "Checking contact…" });
});

test("the header has the age of a past or future picture, and not that of the newest data", () => {
    /** @param {Partial<import("/js/status.js").Knowledge>} difference */
    const times = (difference) => timesOf(knowing(difference));
    const { view } = parseHash("");
    const past = times({ view: { ...view, time: now() - 3 * 86_400_000 } });
    ok(/^Picture \d+ \w+ [\d:]+Z · 3 d 0 h ago$/.test(past), past);
    const ahead = times({ view: { ...view, time: now() + 7_200_500 } });
    ok(/^Picture .*Z · in 2 h 00 min$/.test(ahead), ahead);
    const playing = times({ frame: { ...FRAME, playing: true } });
    ok(/^Picture .*Z · 10 min ago$/.test(playing), playing);
    const empty = { current: null, next: null, isOutdated: false };
    equal(times({ view: { ...view, time: now() - 60_000 }, pictures: empty }), "", "nothing is shown");
    equal(times({ pictures: empty }), "data 5 s old", "the live picture is loading");
});

test("without problems there are no banners, and the state is Live", () => {
    const { keys, state } = shown({});
    equal(keys, []);
    equal(state, { level: "good", text: "Live" });
});

test("an incomplete live picture has a banner with the time from which data is complete", () => {
    const { found, state } = shown({
        billow: { ...knowing({}).billow, incomplete: true, completeSince: "2026-07-21T20:00:00Z" },
    });
    ok(HOLE.test(found.get("incomplete")?.text ?? ""), "it says so");
    ok((found.get("incomplete")?.text ?? "").includes("complete from 21 Jul 2026 20:00Z"), "since when");
    equal(state, { level: "warn", text: "Live, with a warning" });
});

test("beside a picture of another day, the time from which data is complete has its day", () => {
    const view = parseHash("#layers=hexagons").view;
    const hour = 3_600_000, day = 24 * hour;
    /** @param {number} time  of the picture
     * @param {number} since */
    const text = (time, since) => {
        const completeSince = new Date(since).toISOString();
        return banners(knowing({
            view, frame: { ...FRAME, time, view: drawnView(view) }, lacking: ["hexagons"], absent: [],
            server: { sources: [], layers: { hexagons: { completeSince } } },
        })).get("incomplete")?.text ?? "";
    };
    const noon = Math.floor(Date.now() / day) * day + 12 * hour;
    ok(/complete from \d\d:\d\d:\d\dZ for/.test(text(noon - hour, noon)), text(noon - hour, noon));
    const early = text(noon - 6 * day, noon);
    ok(/complete from \d+ \w+ \d{4} 12:00Z for/.test(early), early);
});

test("an instant before the complete data of some layers names those, and is hatched if all are", () => {
    const [early, late] = [60_000, -60_000].map((later) => new Date(FRAME.time + later).toISOString());
    const view = parseHash("#layers=hexagons,hazards").view;
    const frame = { ...FRAME, view: drawnView(view) };
    /** @param {string} hexagons  when they are complete
     * @param {string[]} lacking */
    const at = (hexagons, lacking) => {
        const knowledge = knowing({ view, frame, lacking, absent: [], server: {
            sources: [], layers: { hexagons: { completeSince: hexagons }, hazards: { completeSince: early } },
        } });
        knowledge.isEmpty = isEmpty(knowledge);
        return { text: banners(knowledge).get("incomplete")?.text ?? "", isEmpty: knowledge.isEmpty };
    };
    const part = at(late, ["hazards"]);
    ok(part.text.includes("for Hazards, of which little or nothing is stored for this time"), part.text);
    equal(part.isEmpty, false, "the hexagons are complete");
    const all = at(early, ["hexagons", "hazards"]);
    ok(all.text.includes("for Hexagons, of which") && all.text.includes("The whole map is hatched"), all.text);
    equal(all.isEmpty, true);
});

test("the banner of incomplete data names the layers that lack data in view, if any do", () => {
    const billow = { ...knowing({}).billow, incomplete: true };
    equal(shown({ billow, lacking: [] }).keys, []);
    const { pictures } = knowing({}), { current } = pictures;
    ok(current, "there is a picture");
    /** @param {Partial<import("/js/picture-state.js").ShownPicture>} marks */
    const lacking = (marks) => shown({
        billow, lacking: ["gtg"], pictures: { ...pictures, current: { ...current, ...marks } },
    }).found.get("incomplete")?.text ?? "";
    const marked = { incomplete: true, hasField: true };
    ok(lacking(marked).includes("hatched areas have no data"), lacking(marked));
    // The server describes a newer picture than the one on the map.
    for (const marks of [{}, { ...marked, hasField: false }, { ...marked, isTorn: true }]) {
        const text = lacking(marks);
        ok(text.includes("GTG is not in this picture, or only in a part") && !text.includes("hatched"), text);
    }
    const grid = shown({ billow, lacking: ["gtg"], pictures: {
        ...pictures, current: { ...current, ...marked },
    } }).found.get("incomplete")?.text ?? "";
    ok(/^INCOMPLETE: GTG does not cover the whole map/.test(grid) && !grid.includes("Some data"), grid);
    const none = shown({ billow, lacking: ["gtg"], absent: ["gtg"] }).found.get("incomplete")?.text ?? "";
    ok(none.includes("No GTG is stored for this time.") && !none.includes("hatched"), none);
    const both = shown({ billow, lacking: ["gtg", "hexagons"], pictures: {
        ...pictures, current: { ...current, ...marked },
    } }).found.get("incomplete")?.text ?? "";
    ok(both.includes("GTG does not cover the whole map") && both.includes("missing from this picture: Hexagons"), both);
});

test("the header is no better than the list of sources, in the live picture and in past ones", () => {
    equal(shown({ lacksSource: true }).state, { level: "warn", text: "Live, source missing" });
    equal(shown({ lacksSource: false }).state, { level: "good", text: "Live" });
    const view = { ...parseHash("").view, time: FRAME.time };
    equal(shown({ view, lacksSource: true, frame: { ...FRAME, incomplete: false } }).state,
        { level: "warn", text: "Past" });
    equal(shown({ lacksSource: true, billow: { unknown: true } }).state.text, "Live, with a warning");
});

test("the list of sources tells whether one of the layers on the map is late or worse", () => {
    const update = "PT1M";
    /** @param {number} minutes */
    const received = (minutes) => new Date(now() - minutes * 60_000).toISOString();
    /** @param {object} difference */
    const isLacking = (difference) => showSources({ layers: {}, sources: [
        { id: "awc", kind: "awc", state: "waiting", update, lastSuccess: received(1), ...difference },
    ] }, false, ["hexagons"]);
    const states = [{}, { lastSuccess: received(9) }, { state: "failing" }, { stale: true }, { state: "stopped" }];
    equal(states.map(isLacking), [false, true, true, true, false]);
    equal([["traffic"], ["traffic", "hexagons"]].map((layers) => isLacking({ state: "failing", layers })),
        [false, true], "only the layers on the map count");
    equal(showSources(null, false, []), false);
});

test("the legend names a field that ends at the edge of the view, and the header and banners name all lacks", () => {
    const billow = { ...knowing({}).billow, incomplete: true };
    const { pictures } = knowing({}), { current } = pictures;
    ok(current, "there is a picture");
    const hatched = { ...pictures, current: { ...current, incomplete: true, hasField: true } };
    const lacking = Object.assign(["gtg"], { edges: ["gtg"] });
    const edge = { billow, pictures: hatched, lacking };
    equal([shown(edge).keys, shown(edge).state], [[], { level: "warn", text: "Live, incomplete" }]);
    equal(edgeText(knowing(edge)), "Hatched: no GTG, which may hide turbulence.");
    // Without a hatch, nobody sees where the field ends.
    const bare = { ...edge, pictures: { ...pictures, current: { ...current, incomplete: true, hasField: false } } };
    equal([shown(bare).keys, edgeText(knowing(bare))], [["incomplete"], ""]);
    const other = { ...edge, lacking: Object.assign(["gtg", "hexagons"], { edges: ["gtg"] }) };
    ok(/INCOMPLETE: Some data is missing from this picture: Hexagons/.test(
        shown(other).found.get("incomplete")?.text ?? ""), "other layers");
    equal(edgeText(knowing({ ...edge, absent: ["gtg"] })), "");
});

test("a layer of which nothing is stored at the instant has a banner, though the server marks nothing", () => {
    const view = { ...parseHash("").view, time: now() - 3_600_000 };
    const known = knowing({ view });
    const { current } = known.pictures;
    ok(current, "there is a picture");
    Object.assign(current.request, { time: view.time });
    const { found } = shown({ view, pictures: known.pictures, absent: ["gtg"] });
    equal(found.get("incomplete")?.text,
        "INCOMPLETE: No GTG is stored for this time. Missing data may hide turbulence.");
    equal(shown({ view, pictures: known.pictures, absent: [] }).found.has("incomplete"), false);
});

test("an incomplete past picture has a banner, whether its TileJSON or a tile is marked", () => {
    const view = { ...parseHash("").view, time: now() - 3_600_000 };
    const first = shown({ view, billow: { ...knowing({}).billow, incomplete: true } });
    ok(HOLE.test(first.found.get("incomplete")?.text ?? ""), "by its TileJSON");
    const { pictures } = knowing({});
    ok(pictures.current, "there is a picture");
    const { current } = pictures;
    const request = { ...current.request, time: view.time };
    const tiles = { ...pictures, current: { ...current, request, incomplete: true } };
    const second = shown({ view, pictures: tiles });
    ok(HOLE.test(second.found.get("incomplete")?.text ?? ""), "by a tile");
    equal(second.state, { level: "warn", text: "Past" }, "it is no live picture");
});

test("an incomplete frame has a banner while the timeline is paused and while it plays", () => {
    ok(shown({ frame: FRAME }).keys.includes("incomplete"), "standing");
    const playing = shown({ frame: { ...FRAME, playing: true }, lacking: ["gtg", "hexagons"] });
    ok(HOLE.test(playing.found.get("incomplete")?.text ?? ""), "playing: each frame says so");
    ok(!shown({ frame: { ...FRAME, incomplete: false } }).keys.includes("incomplete"), "complete");
});

test("stale data has a banner with layers and age, and missing data is not smooth air", () => {
    const stale = { ...knowing({}).billow, stale: true };
    const { found } = shown({ billow: stale, server: { sources: [], layers: { hexagons: { stale: true } } } });
    ok(
        /^The data is stale: Hexagons\. Last received .* ago\.$/.test(found.get("stale")?.text ?? ""),
        `${found.get("stale")?.text}`,
    );
    const field = shown({
        view: { ...parseHash("").view, layers: ["gtg"] }, billow: stale,
        server: { sources: [], layers: { gtg: { stale: true } } },
    }).found.get("stale")?.text ?? "";
    ok(
        /^The data is stale: GTG\. A newer field is overdue\. Last answer .* ago\.$/.test(field),
        `a field is stale although its source answered: ${field}`,
    );
    const never = shown({ billow: { ...stale, dataTime: null } }).found.get("stale")?.text ?? "";
    ok(never.startsWith("No data has been received yet"), never);
    ok(
        shown({ billow: { unknown: true } }).found.get("stale")?.text.includes("does not say how old"),
        "an unknown age is said",
    );
});

test("beside a picture of another day, banners of stale data and of lost contact have the day of their times", () => {
    const stale = { ...knowing({}).billow, stale: true };
    /** @param {number} time  of the picture */
    const texts = (time) => {
        const { found } = shown({
            billow: stale, frame: { ...FRAME, time }, contact: { since: now(), problem: "no response" },
        });
        return ["stale", "contact"].map((key) => found.get(key)?.text ?? "");
    };
    for (const text of texts(now() - 3 * 86_400_000)) ok(/\d+ \w+ \d{4} \d\d:\d\d(:\d\d)?Z/.test(text), text);
    for (const text of texts(now())) ok(/ \d\d:\d\d:\d\dZ/.test(text) && !/\d{4}/.test(text), text);
});

test("the banner of simulated data comes first", () => {
    const { keys, state } = shown({
        billow: {
            ...knowing({}).billow, simulated: true, incomplete: true, stale: true,
        }, contact: { since: null, problem: "refused" },
    });
    equal(keys[0], "simulated");
    equal(state.level, "bad");
});

test("past pictures and forecasts have a banner with their time", () => {
    const past = shown({ view: { ...parseHash("").view, time: now() - 7_200_000 } });
    ok(
        /^Past picture: .*, 2 h 00 min ago\. Not live\.$/.test(past.found.get("past")?.text ?? ""),
        `${past.found.get("past")?.text}`,
    );
    const ahead = shown({ frame: { ...FRAME, time: now() + 3_600_500, forecast: true, incomplete: false } });
    const words = ahead.found.get("past")?.text ?? "";
    ok(/^Forecast for .*Not live\. No observations for this time yet: Hexagons, PIREPs\.$/.test(words), words);
    equal(shown({ frame: { ...FRAME, playing: true } }).state, { level: "warn", text: "Playing" });
    const complete = { ...FRAME, incomplete: false, playing: true };
    equal(shown({ frame: complete }).state, { level: "past", text: "Playing" });
    /** @param {object} difference */
    const banner = (difference) => shown({ frame: { ...complete, ...difference } }).found.get("past")?.text ?? "";
    ok(/^Past picture: .* 10 min ago\. Not live\.$/.test(banner({})), banner({}));
    ok(banner({ time: now() + 3_600_000, forecast: true }).startsWith("Forecast for "), "each frame has its banner");
    ok(banner({ live: true }).startsWith("Live picture: "), "nothing moves at the live frame");
});

test("failed tiles, unreachable sources and invalid links have banners", () => {
    const { pictures } = knowing({});
    ok(pictures.current, "there is a picture");
    const holes = { ...pictures, current: { ...pictures.current, failures: new Map([["a", "503"], ["b", "503"]]) } };
    const hatched = shown({ pictures: holes, missing: 2 });
    equal([hatched.found.get("tiles")?.level, hatched.state.text], ["bad", "Problem"]);
    ok(/^HATCHED places have no picture.+\(503\)/.test(hatched.found.get("tiles")?.text ?? ""), "hatched");
    equal(shown({ missing: 1, frame: FRAME }).found.get("tiles")?.level, "bad", "a part of a frame");
    const coarse = shown({ pictures: holes }).found.get("tiles");
    equal([coarse?.level, coarse?.text.includes("less detail")], ["warn", true], "coarser tiles took their place");
    const missed = { ...pictures, current: { ...pictures.current, missedFailures: new Map([["a", "503"]]) } };
    const old = shown({ pictures: missed }).found.get("tiles");
    equal([old?.level, old?.text.startsWith("A newer picture could not be loaded (503)")], ["bad", true]);
    const broken = {
        sources: [{ id: "awc", kind: "awc", state: "failing", reachable: false, lastError: { message: "refused" } }],
    };
    equal(shown({ server: broken }).found.get("sources")?.text, "Unreachable sources: awc (refused).");
    equal(shown({ problems: new Map([["This link", "hours is 9"]]) }).found.get("problem This link")?.level, "warn");
});

test("the banner of the simulation comes first, then the worst ones", () => {
    const { keys } = shown({
        problems: new Map([["This link", "hours is 9"], ["The map", "no WebGL"]]), missing: 1,
        server: { simulated: true, sources: [], layers: {} },
    });
    equal(keys.slice(0, 4), ["simulated", "problem The map", "tiles", "problem This link"]);
});

test("a page without a picture is loading", () => {
    const { state } = shown({ pictures: { current: null, next: null, isOutdated: false } });
    equal(state, { level: "wait", text: "Loading…" });
});

test("a source's level follows its state, its disabled types and its freshness", () => {
    const source = { id: "x", kind: "skypath", state: "waiting" };
    equal(stateOfSource(source), ["good", "up to date"]);
    equal(stateOfSource({ ...source, stale: true }), ["warn", "no data yet"]);
    equal(stateOfSource({ ...source, stale: true, lastSuccess: "2026-07-21T20:00:00Z" }), ["warn", "no recent data"]);
    equal(
        stateOfSource({ ...source, disabled: { polygons: "403", nowcast: "403" } }),
        ["warn", "no access to nowcast, polygons"],
    );
    equal(stateOfSource({ ...source, state: "refused" }), ["bad", "key refused"]);
    equal(stateOfSource({ ...source, state: "something new" }), ["wait", "something new"]);
});

test("without contact, a picture of tiles that were saved at different times has a banner with both times", () => {
    const { current } = knowing({}).pictures;
    ok(current, "there is a picture");
    /** @type {(problem: string | null, minutes: number) => string | undefined} */
    const text = (problem, minutes) => banners(knowing({
        contact: { since: now(), problem },
        pictures: {
            current: { ...current, frameTime: now() - minutes * 60_000, newestTime: now() }, next: null,
            isOutdated: false,
        },
    })).get("mixed")?.text;
    const found = text("the server can't be reached", 10) ?? "";
    ok(/saved at different times, from .*Z to .*Z\. Turbulence has moved between them\.$/.test(found), found);
    equal([text("the server can't be reached", 0.5), text(null, 10)], [undefined, undefined]);
});
