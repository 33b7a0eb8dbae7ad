// @ts-check
import { Pictures } from "/js/picture.js";
import { drawnView } from "/js/picture-request.js";
import { parseHash } from "/js/view.js";
import { equal, flushMicrotasks, ManualTime, ok, test, withResponses } from "../harness.js";

/** A map whose loaded sources a test defines. */
class FakeMap {
    /** @type {Map<string, { tiles: string[], opacity: number }>} */
    layers = new Map();
    /** @type {Set<string>} */
    loaded = new Set();

    /** @param {string} id
     * @param {{ tiles: string[] }} source */
    addSource(id, { tiles }) { this.layers.set(id, { tiles, opacity: 0 }); }
    addLayer() {}
    on() {}
    /** @param {string} id */
    getSource(id) { return this.layers.get(id); }
    removeLayer() {}
    /** @type {string[]} */
    moved = [];
    /** @param {string} id */
    moveLayer(id) { this.moved.push(id); }
    /** @param {string} id */
    removeSource(id) { this.layers.delete(id); }
    /** @param {string} id
     * @param {string} _name
     * @param {number} opacity */
    setPaintProperty(id, _name, opacity) {
        const layer = this.layers.get(id);
        if (layer) layer.opacity = opacity;
    }
    /** @param {string} id */
    isSourceLoaded(id) { return this.loaded.has(id); }

    /** The visible layers: id → opacity. */
    get shown() {
        return Object.fromEntries(
            [...this.layers].filter(([, { opacity }]) => opacity > 0).map(([id, { opacity }]) => [id, opacity])
        );
    }
}

const DRAWN = drawnView(parseHash("").view);

/** @param {string} subject
 * @param {string} version */
const request = (subject, version) =>
    ({
        tileJSON: { tiles: [] }, subject, key: `${subject} ${version}`, time: null, asOf: 1, view: DRAWN,
        parts: [{ layers: [subject], key: version, template: `tiles/${subject}/{z}/{x}/{y}.png`, opacity: 1 }],
    });

/** @param {(world: { map: FakeMap, pictures: Pictures, time: ManualTime, load: (url: string) => Promise<unknown> }) =>
 * void | Promise<void>} body */
const withPictures = (body) => ManualTime.use(async (time) => {
    const map = new FakeMap();
    /** @type {(request: { url: string }, abort: AbortController) => Promise<unknown>} */
    let load = async () => null;
    const library = {
        addProtocol: (/** @type {string} */ _name, /** @type {typeof load} */ action) => { load = action; },
    };
    const pictures = new Pictures(/** @type {any} */ (map), /** @type {any} */ (library), () => {});
    await body({ map, pictures, time, load: (url) => load({ url }, new AbortController()) });
});

test("an unchanged part stays on the map without a request, with its order and opacity",
    () => withPictures(({ map, pictures, time }) => {
    /** @type {(field: string, cells: string) => Billow.PictureRequest} */
    const both = (field, cells) => ({ ...request("a", cells), parts: [
        { layers: ["gtg"], key: field, template: "tiles/gtg/", opacity: 0.5 },
        { layers: ["hexagons"], key: cells, template: "tiles/cells/", opacity: 1 },
    ] });
    pictures.show(both("1", "1"));
    for (const id of ["turbulence-1", "turbulence-2"]) map.loaded.add(id);
    time.advance(100);
    equal(map.shown, { "turbulence-1": 0.5, "turbulence-2": 1 });
    pictures.show(both("1", "2"));
    const [old] = [...map.layers.keys()].slice(-1);
    map.loaded.add(old);
    time.advance(100);
    equal(map.shown, { "turbulence-1": 0.5, [old]: 1 }, "the field is the same source");
    equal(map.moved, []);
    pictures.show({ ...both("2", "2"), key: "a 2 2" });
    const [field] = [...map.layers.keys()].slice(-1);
    map.loaded.add(field);
    time.advance(100);
    equal(map.shown, { [old]: 1, [field]: 0.5 });
    equal(map.moved, [field, old], "the newer field lies below the older cells again");
}));

test("a picture appears when all its tiles are loaded, and replaces the previous one at once",
    () => withPictures(({ map, pictures, time }) => {
    pictures.show(request("a", "1"));
    equal([map.shown, pictures.isBusy, pictures.current], [{}, true, null]);
    time.advance(1_000);
    equal(map.shown, {}, "not before it is loaded");
    map.loaded.add("turbulence-1");
    time.advance(100);
    equal([map.shown, pictures.isBusy], [{ "turbulence-1": 1 }, false]);
    pictures.show(request("a", "2"));
    equal(map.shown, { "turbulence-1": 1 }, "the old one stays");
    map.loaded.add("turbulence-2");
    time.advance(100);
    equal([map.shown, [...map.layers.keys()]], [{ "turbulence-2": 1 }, ["turbulence-2"]]);
    time.advance(1_000);
    equal(time.timers, 0, "nothing is looked for any more");
}));

test("a newer snapshot loads in the background; another subject dims the old picture",
    () => withPictures(({ map, pictures, time }) => {
    pictures.show(request("a", "1"));
    map.loaded.add("turbulence-1");
    time.advance(100);
    pictures.show(request("a", "2"));
    equal([pictures.isBusy, pictures.isOutdated], [false, false], "the same, newer");
    pictures.show(request("b", "2"));
    equal([pictures.isBusy, pictures.isOutdated], [true, true], "other filters");
    equal(map.shown, { "turbulence-1": 0.3 });
}));

test("snapshots that arrive faster than pictures load do not prevent a picture",
    () => withPictures(({ map, pictures, time }) => {
    pictures.show(request("a", "1"));
    for (const version of ["2", "3", "4"]) pictures.show(request("a", version));
    map.loaded.add("turbulence-1");
    time.advance(100);
    equal(map.shown, { "turbulence-1": 1 }, "the first is shown");
    equal(pictures.next?.request.key, "a 4", "the newest is next, those between are left out");
}));

test("a newer picture with failed tiles does not replace a complete one, but reports them",
    () => withPictures(async ({ map, pictures, time, load }) => {
    pictures.show(request("a", "1"));
    map.loaded.add("turbulence-1");
    time.advance(100);
    pictures.show(request("a", "2"));
    await withResponses(() => new Response("", { status: 503, statusText: "Busy" }), async () => {
        await load("billow-tile://2/tiles/a/1/1/1.png").catch(() => {});
    });
    map.loaded.add("turbulence-2");
    time.advance(100);
    equal([map.shown, pictures.current?.request.key, pictures.failed], [{ "turbulence-1": 1 }, "a 1", true]);
}));

test("a picture with holes is replaced by one with no more of them, and reports the state of each tile",
    () => withPictures(async ({ map, pictures, time, load }) => {
    pictures.show(request("a", "1"));
    const answer = (/** @type {{ url: URL }} */ { url }) =>
        new Response("", { status: url.pathname.endsWith("/1.png") ? 503 : 200 });
    await withResponses(answer, async () => {
        for (const tile of ["1/1/0", "1/1/1"]) await load(`billow-tile://1/tiles/a/${tile}.png`).catch(() => {});
        map.loaded.add("turbulence-1");
        time.advance(100);
        const [part] = pictures.current?.parts ?? [];
        equal(part?.states, new Map([["1/1/0", "loaded"], ["1/1/1", "failed"]]));
        pictures.show(request("a", "2"));
        await load("billow-tile://2/tiles/a/1/1/1.png").catch(() => {});
        map.loaded.add("turbulence-2");
        time.advance(100);
        equal([pictures.current?.request.key, pictures.failed], ["a 2", true]);
    });
}));

test("a picture has the headers of its tiles", () => withPictures(async ({ pictures, load }) => {
    pictures.show(request("a", "1"));
    const headers = { "X-Simulated": "true", "X-Incomplete": "true", "X-Frame-Time": "2026-07-21T20:00:00Z" };
    await withResponses(() => new Response("x", { headers }), async () => {
        await load("billow-tile://1/tiles/a/1/1/1.png");
        await flushMicrotasks();
    });
    ok(pictures.next?.simulated && pictures.next.incomplete, "simulated and incomplete");
    equal(pictures.next?.frameTime, Date.UTC(2026, 6, 21, 20));
}));

test("a picture with tiles of different fields, or with saved tiles, is loaded anew though nothing changed",
    () => withPictures(async ({ map, pictures, time, load }) => {
    /** @type {[Record<string, string>, Record<string, string>][]} */
    const pairs = [
        [{ "X-Field": "gtgn" }, {}], [{ "X-Field": "gtgn" }, { "X-Field": "gtg" }],
        [{}, { "X-Billow-Cached-At": "2026-07-21T20:00:00Z" }],
    ];
    for (const [number, [one, other]] of pairs.entries()) {
        pictures.clear();
        const id = 2 * number + 1;
        pictures.show(request("a", "1"));
        /** @type {(headers: Record<string, string>, tile: string, source?: number) => Promise<void>} */
        const answer = (headers, tile, source = id) => withResponses(() => new Response("x", { headers }), async () => {
            await load(`billow-tile://${source}/tiles/a/${tile}.png`);
        });
        await answer(one, "1/0/0");
        map.loaded.add(`turbulence-${id}`);
        time.advance(100);
        equal([pictures.current?.isTorn, pictures.current?.hasField], [false, "X-Field" in one]);
        pictures.show(request("a", "1"));
        equal(pictures.next, null, "nothing changed");
        // The map has moved, and needs another tile.
        await answer(other, "1/1/0");
        equal(pictures.current?.isTorn, true);
        pictures.show(request("a", "1"));
        await answer(other, "1/0/0", id + 1);
        map.loaded.add(`turbulence-${id + 1}`);
        time.advance(100);
        equal([pictures.current?.parts.map(({ number }) => number), pictures.next], [[id + 1], null]);
    }
}));

test("clearing removes every picture",
    () => withPictures(({ map, pictures, time }) => {
    pictures.show(request("a", "1"));
    map.loaded.add("turbulence-1");
    time.advance(100);
    equal(map.shown, { "turbulence-1": 1 });
    pictures.clear();
    equal([map.layers.size, pictures.isBusy], [0, true]);
}));
