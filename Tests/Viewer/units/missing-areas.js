// @ts-check
import { recordNoResponse, recordResponse } from "/js/contact.js";
import { MissingAreas, missingPlaces } from "/js/missing-areas.js";
import { equal, ManualTime, test } from "../harness.js";

/** The places of a picture's states that have no picture, as "z/x/y state".
 * @param {string} places
 * @param {Record<string, "loading" | "loaded" | "failed">} states */
const missing = (places, states) => missingPlaces(
    places.split(" ").map((place) => {
        const [z = 0, x = 0, y = 0] = place.split("/").map(Number);
        return { z, x, y };
    }), new Map(Object.entries(states))
).map(({ z, x, y, state }) => `${z}/${x}/${y} ${state}`);

test("a place without a loaded tile is missing, unless a coarser tile is there", () => {
    equal(missing("5/8/11 5/9/11", { "5/8/11": "loaded" }), ["5/9/11 undefined"]);
    equal(missing("5/8/11 5/9/11", { "5/8/11": "failed", "5/9/11": "failed", "4/4/5": "failed" }),
        ["5/8/11 failed", "5/9/11 failed"]);
    equal(missing("5/8/11", { "5/8/11": "failed", "3/2/2": "loaded" }), [], "the map shows the coarser one");
    equal(missing("5/8/11", { "4/4/5": "failed" }), ["5/8/11 failed"], "the tile of this place is larger");
    equal(missing("5/8/11", {}), ["5/8/11 undefined"]);
});

test("while a tile loads, or after it failed, a coarser one or finer ones on the map take its place", () => {
    equal(missing("5/8/11", { "5/8/11": "loading", "4/4/5": "loaded" }), []);
    equal(missing("5/8/11", { "5/8/11": "loading" }), ["5/8/11 loading"]);
    equal(missing("4/4/5", { "4/4/5": "loading", "5/8/10": "loaded", "5/9/10": "loaded", "5/8/11": "loaded" }),
        ["5/9/11 undefined"]);
});

test("of a place that was not requested, only the parts without smaller tiles are missing", () => {
    equal(missing("4/4/5", { "5/8/10": "loaded", "5/9/10": "loaded", "5/8/11": "failed" }),
        ["5/8/11 failed", "5/9/11 undefined"]);
    equal(missing("4/4/5", { "4/4/5": "failed", "5/8/10": "loaded" }),
        ["5/9/10 failed", "5/8/11 failed", "5/9/11 failed"]);
});

/** A map of a window over the tiles 5/7/11 to 5/8/12. */
class FakeMap {
    /** @type {string[]} */
    marked = [];
    changes = 0;
    getBounds() { return { getWest: () => -100, getEast: () => -80, getSouth: () => 33, getNorth: () => 45 }; }
    getZoom() { return 4; }
    getSource() {
        return {
            setData: (/** @type {{ features: { geometry: { coordinates: number[][][] } }[] }} */ { features }) => {
                this.changes += 1;
                this.marked = features.map(({ geometry: { coordinates } }) =>
                    (coordinates[0]?.[0] ?? []).map(Math.round).join());
            },
        };
    }
}

test("a tile counts as loaded only while the map has it", () => {
    /** @param {string} key */
    const tile = (key) => {
        const [z, x, y] = key.split("/").map(Number);
        return { tileID: { canonical: { z, x, y } } };
    };
    const cache = { getRenderableIds: () => ["4/4/5", "5/7/11"], getTileByID: tile };
    const areas = new MissingAreas(/** @type {any} */ ({ style: { sourceCaches: { "turbulence-1": cache } } }));
    /** @type {Map<string, "loading" | "loaded" | "failed">} */
    const states = new Map([["5/8/11", "loading"], ["5/7/11", "loaded"], ["5/9/9", "loaded"], ["5/7/12", "failed"]]);
    equal([...areas.statesOf({ id: "turbulence-1", states })].sort(),
        [["4/4/5", "loaded"], ["5/7/11", "loaded"], ["5/7/12", "failed"], ["5/8/11", "loading"]]);
});

const WINDOW = ["5/7/11", "5/8/11", "5/7/12", "5/8/12"];

test("failed places are marked at once, and places that load only after a while", () => ManualTime.use((time) => {
    const map = new FakeMap();
    const areas = new MissingAreas(/** @type {any} */ (map));
    /** @type {Map<string, "loading" | "loaded" | "failed">} */
    const states = new Map(WINDOW.map((key) => [key, "loaded"]));
    areas.show([states], false);
    equal([map.marked, map.changes, areas.failed], [[], 0, 0]);
    states.set("5/8/12", "failed");
    states.set("5/7/11", "loading");
    areas.show([states], false);
    equal([map.marked, areas.failed], [["-90,41"], 1]);
    time.advance(1_500);
    areas.show([states], false);
    equal([map.marked.sort(), areas.failed], [["-101,49", "-90,41"], 1]);
    areas.show([states], false);
    equal(map.changes, 2, "the same marks stay");
    for (const key of WINDOW) states.set(key, "loaded");
    areas.show([states], false);
    equal([map.marked, areas.failed], [[], 0]);
}));

test("without the server, a place that loads is marked sooner", () => ManualTime.use((time) => {
    const map = new FakeMap();
    const areas = new MissingAreas(/** @type {any} */ (map));
    recordNoResponse("the server can't be reached");
    areas.show([new Map()], false);
    equal(map.marked, []);
    time.advance(400);
    areas.show([new Map()], false);
    equal(map.marked.length, 4);
    recordResponse(0);
}));

test("a place is marked if any raster lacks it, and a map without rasters is marked as a whole", () =>
    ManualTime.use((time) => {
    const map = new FakeMap();
    const areas = new MissingAreas(/** @type {any} */ (map));
    /** @type {Map<string, "loading" | "loaded" | "failed">} */
    const whole = new Map(WINDOW.map((key) => [key, "loaded"]));
    areas.show([whole, new Map([...whole, ["5/8/11", "failed"]])], false);
    equal(map.marked, ["-90,49"]);
    areas.show([], false);
    equal(map.marked, [], "the first picture is loading");
    time.advance(1_500);
    areas.show([], false);
    equal(map.marked.length, 4);
    areas.show([whole], false);
    areas.show([], true);
    equal([map.marked.length, areas.failed], [4, 0], "the server has no picture of this instant");
}));
