// @ts-check
import { LeafletFrames, MapLibreFrames, MapLibrePoints, OpenLayersFrames, OpenLayersPoints } from "/timeline.js";
import { equal, ManualTime, ok, test } from "../harness.js";

/** A MapLibre map that records sources, layers and opacities. */
class FakeMap {
    /** @type {Map<string, any>} */
    sources = new Map();
    /** @type {Map<string, { before: string | undefined, opacity: number, filter: any }>} */
    layers = new Map();
    /** @type {Set<string>} */
    loaded = new Set();
    /** Whether no tile of any source is loading. */
    isComplete = true;
    /** @type {Map<string, (event: { sourceId?: string, tile?: object }) => void>} */
    listeners = new Map();

    /** @param {string} name
     * @param {(event: { sourceId?: string, tile?: object }) => void} listener */
    on(name, listener) { this.listeners.set(name, listener); }
    /** @param {string} name
     * @param {{ sourceId?: string, tile?: object }} event */
    fire(name, event) { this.listeners.get(name)?.(event); }
    /** @param {string} id
     * @param {object} source */
    addSource(id, source) { this.sources.set(id, source); }
    /** @param {{ id: string, filter?: unknown }} layer
     * @param {string} [before] */
    addLayer({ id, filter }, before) { this.layers.set(id, { before, opacity: 0, filter }); }
    /** @param {string} id */
    getSource(id) { return this.sources.get(id); }
    /** @param {string} id */
    getLayer(id) { return this.layers.get(id) ?? (id === "names" ? {} : undefined); }
    /** @param {string} id */
    removeSource(id) { this.sources.delete(id); }
    /** @param {string} id */
    removeLayer(id) { this.layers.delete(id); }
    /** @param {string} id */
    isSourceLoaded(id) { return this.loaded.has(id); }
    areTilesLoaded() { return this.isComplete; }
    /** @param {string} id
     * @param {string} _name
     * @param {number} opacity */
    setPaintProperty(id, _name, opacity) { Object.assign(this.layers.get(id) ?? {}, { opacity }); }
    /** @param {string} id
     * @param {unknown} filter */
    setFilter(id, filter) { Object.assign(this.layers.get(id) ?? {}, { filter }); }
    get opacities() { return Object.fromEntries([...this.layers].map(([id, { opacity }]) => [id, opacity])); }
}

test("a frame on MapLibre may have several parts, and is ready when all are loaded", () => {
    const map = new FakeMap();
    const frames = new MapLibreFrames(/** @type {any} */ (map), {
        prefix: "f", before: "names", opacity: 0.5, address: (url) => url.replace(".png", "@2x.png"),
        parts: (url) => [{ url: `low/${url}`, opacity: 1 }, { url: `high/${url}`, opacity: 0.4 }],
    });
    const [one, other] = [frames.add("1.png"), frames.add("2.png")];
    equal([...map.sources].map(([id, { tiles }]) => `${id} ${tiles}`), [
        "f-1 low/1@2x.png", "f-1-1 high/1@2x.png", "f-2 low/2@2x.png", "f-2-1 high/2@2x.png",
    ]);
    equal(map.layers.get("f-1")?.before, "names");
    map.loaded.add("f-1");
    equal(frames.isReady(one), false);
    map.loaded.add("f-1-1");
    equal(frames.isReady(one), true);
    frames.show(one, null);
    frames.show(other, one);
    equal(map.opacities, { "f-1": 0, "f-1-1": 0, "f-2": 0.5, "f-2-1": 0.2 });
    map.fire("error", { sourceId: "f-2-1" });
    equal([frames.hasFailed(one), frames.hasFailed(other)], [false, true]);
    frames.remove(one);
    equal([...map.sources.keys()], ["f-2", "f-2-1"]);
});

test("a frame on MapLibre has failed when a tile never came, which MapLibre counts as loaded", () => {
    const map = new FakeMap();
    const frames = new MapLibreFrames(/** @type {any} */ (map), { prefix: "f" });
    const frame = frames.add("1.png");
    const state = () => [frames.isReady(frame), frames.hasFailed(frame)];
    const [one, other] = [{}, {}];
    for (const tile of [one, other]) map.fire("sourcedataloading", { sourceId: "f-1", tile });
    equal(state(), [false, false]);
    map.fire("sourcedata", { sourceId: "f-1", tile: one });
    map.fire("sourcedata", { sourceId: "f-1" });
    equal(state(), [false, false]);
    map.loaded.add("f-1");
    equal(state(), [false, true]);
    // The map left the place, or asked again.
    map.fire("sourcedataabort", { sourceId: "f-1", tile: other });
    equal(state(), [true, false]);
});

test("frames of tiles of 512 points tell each library so", () => {
    const url = "/tiles/hexagons/20261128T120000Z/{z}/{x}/{y}.png?v=1&size=512";
    const map = new FakeMap();
    const frames = new MapLibreFrames(/** @type {any} */ (map), { prefix: "f" });
    frames.add(url);
    frames.add(url.replace("&size=512", ""));
    equal([...map.sources.values()].map(({ tileSize, maxzoom }) => [tileSize, maxzoom]), [[512, 13], [256, 14]]);
    /** @type {any[]} */
    const layers = [];
    const leaflet = { tileLayer: (/** @type {string} */ _template, /** @type {any} */ options) => {
        layers.push(options);
        return { on: () => {}, addTo: () => {} };
    } };
    new LeafletFrames({}, /** @type {any} */ (leaflet)).add(url);
    equal([layers[0].tileSize, layers[0].zoomOffset, layers[0].maxNativeZoom], [512, -1, 14]);
    const library = new FakeLibrary();
    new OpenLayersFrames({ on: () => {}, addLayer: () => {} }, library).add(url);
    equal(library.options.map(({ tileSize, maxZoom }) => [tileSize, maxZoom]), [[512, 13]]);
});

test("points on MapLibre are filtered by time", () => {
    const map = new FakeMap();
    const points = new MapLibrePoints(/** @type {any} */ (map), { prefix: "p", before: "missing" });
    const id = points.add([{ geometry: { type: "Point", coordinates: [1, 2] }, properties: { severity: 3 }, time: 5 }]);
    equal(map.sources.get(id).data.features[0].properties, { severity: 3, "billow:time": 5 });
    equal(map.layers.get(id)?.before, undefined, "the map has no such layer");
    points.show(id, 4, 6);
    equal(map.layers.get(id)?.filter.slice(1), [[">", ["get", "billow:time"], 4], ["<=", ["get", "billow:time"], 6]]);
    points.remove(id);
    equal([map.sources.size, map.layers.size], [0, 0]);
});

test("a frame on Leaflet is ready only after Leaflet's fade", () => ManualTime.use((time) => {
    /** @type {Record<string, (event?: object) => void>} */
    const listeners = {};
    /** @type {number[]} */
    const opacities = [];
    const layer = {
        on: (/** @type {string} */ name, /** @type {() => void} */ listener) => { listeners[name] = listener; },
        addTo: () => {}, remove: () => {}, setOpacity: (/** @type {number} */ opacity) => opacities.push(opacity),
    };
    const frames = new LeafletFrames({}, /** @type {any} */ ({ tileLayer: () => layer }), { opacity: 0.7 });
    const frame = frames.add("1");
    listeners.load?.();
    equal(frames.isReady(frame), false);
    time.advance(250);
    equal(frames.isReady(frame), true);
    listeners.loading?.();
    equal(frames.isReady(frame), false, "the map has moved");
    const [one, other] = [{ src: "1" }, { src: "2" }];
    /** @type {(name: string, tile: object, x: number) => void} */
    const fire = (name, tile, x) => listeners[name]?.({ coords: { x, y: 5, z: 4 }, tile });
    fire("tileload", one, -1);
    fire("tileerror", other, 16);
    ok(frames.hasFailed(frame), "a tile failed");
    frames.show(frame, null);
    frames.show(frame, frame);
    equal(opacities, [0.7, 0.7], "a frame does not hide itself");
    equal([...frames.states], [["4/15/5", "loaded"], ["4/0/5", "failed"]]);
    // A failed tile is requested again, until it comes or the map leaves it.
    /** @type {string[]} */
    const asked = [];
    for (const [name, tile] of Object.entries({ one, other })) {
        Object.defineProperty(tile, "src", { get: () => "same", set: () => asked.push(name) });
    }
    time.advance(15_000);
    time.advance(15_000);
    equal(asked, ["other", "other"]);
    fire("tileload", other, 16);
    time.advance(15_000);
    equal([asked.length, frames.hasFailed(frame), frames.states.get("4/0/5")], [2, false, "loaded"]);
    fire("tileerror", one, -1);
    fire("tileunload", one, -1);
    time.advance(15_000);
    equal([asked.length, [...frames.states.keys()]], [2, ["4/0/5"]]);
    frames.remove(frame);
    equal(frames.states.size, 0);
}));

test("frames on Leaflet have tiles of twice the pixels on fine screens", () => {
    /** @type {string[]} */
    const templates = [];
    const library = { tileLayer: (/** @type {string} */ template) => {
        templates.push(template);
        return { on: () => {}, addTo: () => {} };
    } };
    const url = "/tiles/hexagons/20261128T120000Z/{z}/{x}/{y}.png?v=1.a";
    new LeafletFrames({}, /** @type {any} */ (library)).add(url);
    new LeafletFrames({}, /** @type {any} */ (library), { address: (own) => own }).add(url);
    equal(templates, [url.replace("{y}", "{y}{r}"), url]);
});

/** OpenLayers with layers that record their opacity, and sources that a test drives. */
class FakeLibrary {
    /** @type {Record<string, (event: object) => void>[]} */
    sources = [];
    /** The options of the sources.
     * @type {any[]} */
    options = [];
    source = { XYZ: this.#source(), Vector: this.#plain() };
    layer = { Tile: this.#plain(), Vector: this.#plain() };
    style = { Style: this.#plain(), Circle: this.#plain(), Fill: this.#plain(), Stroke: this.#plain() };
    geom = { Point: this.#plain() };
    proj = { fromLonLat: (/** @type {unknown} */ place) => place };
    Feature = this.#plain();

    /** A class of objects with the given options. */
    #plain() {
        return class {
            opacity = 0;
            changes = 0;
            /** @param {object} options */
            constructor(options) { Object.assign(this, options); }
            /** @param {string} name */
            get(name) { return /** @type {any} */ (this)[name]; }
            /** @param {number} opacity */
            setOpacity(opacity) { this.opacity = opacity; }
            changed() { this.changes += 1; }
        };
    }

    #source() {
        const { sources, options: all } = this;
        return class {
            /** @type {Record<string, (event: object) => void>} */
            listeners = {};
            /** @param {object} options */
            constructor(options) {
                sources.push(this.listeners);
                all.push(options);
            }
            /** @param {string} name
             * @param {() => void} listener */
            on(name, listener) { this.listeners[name] = listener; }
        };
    }
}

test("a frame on OpenLayers is ready when the map has drawn all its tiles", () => ManualTime.use((time) => {
    const library = new FakeLibrary();
    let draw = () => {};
    const map = {
        on: (/** @type {string} */ _name, /** @type {() => void} */ listener) => { draw = listener; },
        addLayer: () => {}, removeLayer: () => {},
    };
    const frames = new OpenLayersFrames(map, library, { opacity: 0.7 });
    const [one, other] = [frames.add("1"), frames.add("2")];
    draw();
    equal(frames.isReady(one), false, "no tile is requested yet");
    let loads = 0;
    const tile = { getTileCoord: () => [4, -1, 5], load: () => { loads += 1; } };
    library.sources[0]?.tileloadstart?.({ tile });
    draw();
    equal(frames.isReady(one), false);
    library.sources[0]?.tileloadend?.({ tile });
    draw();
    equal([frames.isReady(one), frames.isReady(other)], [true, false]);
    library.sources[1]?.tileloadstart?.({ tile });
    library.sources[1]?.tileloaderror?.({ tile });
    equal([frames.hasFailed(one), frames.hasFailed(other)], [false, true]);
    frames.show(one, null);
    equal([...frames.states], [["4/15/5", "loaded"]]);
    frames.show(other, one);
    equal([one.layer.opacity, other.layer.opacity], [0, 0.7]);
    equal([...frames.states], [["4/15/5", "failed"]]);
    time.advance(15_000);
    equal(loads, 1);
    library.sources[1]?.tileloadstart?.({ tile });
    equal(frames.states.get("4/15/5"), "failed", "the map still shows nothing there");
    library.sources[1]?.tileloadend?.({ tile });
    equal([frames.hasFailed(other), frames.states.get("4/15/5"), other.layer.changes], [false, "loaded", 1]);
    time.advance(15_000);
    equal(loads, 1);
}));

test("a visible frame on MapLibre names failed tiles, and another source with them replaces its own", () =>
    ManualTime.use((time) => {
        const map = new FakeMap();
        const frames = new MapLibreFrames(/** @type {any} */ (map), { prefix: "f", opacity: 0.5 });
        const frame = frames.add("1.png");
        const [one, other] = [3, 4].map((x) => ({ tileID: { key: `${x}`, canonical: { z: 4, x, y: 5 } } }));
        for (const tile of [one, other]) map.fire("sourcedataloading", { sourceId: "f-1", tile });
        map.fire("sourcedata", { sourceId: "f-1", tile: one });
        map.fire("error", { sourceId: "f-1", tile: other });
        map.loaded.add("f-1");
        equal(frames.states.size, 0, "the frame is not visible");
        frames.show(frame, null);
        equal([...frames.states], [["4/3/5", "loaded"], ["4/4/5", "failed"]]);
        // After an error MapLibre calls the source loaded, although another tile is still loading.
        const third = { tileID: { key: "5", canonical: { z: 4, x: 5, y: 5 } } };
        map.isComplete = false;
        map.fire("sourcedataloading", { sourceId: "f-1", tile: third });
        equal(frames.states.get("4/5/5"), "loading");
        map.isComplete = true;
        map.fire("sourcedata", { sourceId: "f-1", tile: third });
        // The first retry fails too.
        time.advance(15_000);
        equal([map.layers.get("f-2")?.before, map.opacities], ["f-1", { "f-1": 0.5, "f-2": 0 }]);
        map.fire("error", { sourceId: "f-2", tile: other });
        equal(frames.states.get("4/4/5"), "failed");
        time.advance(15_000);
        equal([...map.sources.keys()], ["f-1", "f-3"]);
        for (const tile of [one, other]) map.fire("sourcedata", { sourceId: "f-3", tile });
        equal(map.opacities, { "f-1": 0.5, "f-3": 0 }, "other tiles are missing");
        map.loaded.add("f-3");
        map.fire("sourcedata", { sourceId: "f-3" });
        equal([map.opacities, frames.hasFailed(frame)], [{ "f-3": 0.5 }, false]);
        equal([...frames.states], [["4/3/5", "loaded"], ["4/4/5", "loaded"]]);
        time.advance(15_000);
        equal([...map.sources.keys()], ["f-3"]);
        frames.remove(frame);
        equal([map.sources.size, frames.states.size], [0, 0]);
    }));

test("points on OpenLayers have a style only at their time", () => {
    const points = new OpenLayersPoints({ addLayer: () => {}, removeLayer: () => {} }, new FakeLibrary());
    const shown = points.add([10, 20].map((time) =>
        ({ geometry: { type: "Point", coordinates: [1, 2] }, properties: { severity: 3 }, time })));
    const visible = () => shown.layer.source.features.map((/** @type {any} */ feature) =>
        shown.layer.style(feature) !== undefined);
    equal(visible(), [false, false]);
    points.show(shown, 9, 10);
    points.show(shown, 9, 10);
    equal([visible(), shown.layer.changes], [[true, false], 1]);
});
