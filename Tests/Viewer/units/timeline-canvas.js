// @ts-check
import { MapLibreCanvasFrames } from "/timeline/maplibre-canvas.js";
import { cornersOf, gridOf, placesOf, tileSizeOf } from "/timeline/tile-grid.js";
import { equal, ManualTime, ok, test } from "../harness.js";

/** @param {number[]} sides */
const bounds = ([west, south, east, north]) => ({
    getWest: () => west, getSouth: () => south, getEast: () => east, getNorth: () => north,
});
/** @param {number[]} sides
 * @param {number} zoom */
const grid = (sides, zoom) => Object.values(gridOf(bounds(sides), zoom, 14));

test("a grid has the tiles of a window, and its middle lies in the world", () => {
    equal(grid([-180, -85.06, 180, 85.06], 0), [1, 0, 0, 2, 2]);
    equal(grid([-100, 30, -90, 40], 3.4), [4, 3, 6, 1, 1]);
    equal(grid([-100, 30, -80, 45], 4), [5, 7, 11, 2, 3]);
    equal(grid([170, 10, 200, 20], 4), [5, -1, 14, 3, 2], "over the antimeridian");
    equal(grid([-190, 10, -160, 20], 4), [5, -1, 14, 3, 2], "the same from the other side");
    equal(grid([500, 10, 520, 20], 4), [5, 28, 14, 3, 2], "a world further east");
    equal(grid([-400, -50, 400, 50], 1), [2, 0, 1, 4, 2], "the map repeats the world");
    const tilted = gridOf(bounds([-90, -80, 90, 85]), 8, 14);
    ok(tilted.columns * tilted.rows <= 240, JSON.stringify(tilted));
});

test("a grid of tiles of 512 points covers the window with the detail of standard tiles", () => {
    equal(["/{z}/{x}/{y}.png", "/t.png?hours=2&size=512", "/t.png?size=512&v=1", "/t.png?size=5120"].map(tileSizeOf),
        [256, 512, 512, 256]);
    /** @param {number[]} sides
     * @param {number} zoom */
    const large = (sides, zoom) => Object.values(gridOf(bounds(sides), zoom, 14, 512));
    equal(large([-180, -85.06, 180, 85.06], 0), [0, 0, 0, 1, 1]);
    equal(large([-100, 30, -80, 45], 4), [4, 3, 5, 2, 2]);
    equal(large([170, 10, 200, 20], 4), [4, -1, 7, 2, 1], "over the antimeridian");
    equal(large([-100, 30, -99.99, 30.01], 15)[0], 13, "the detail of zoom 14");
    for (const zoom of [0.4, 2.5, 3.49, 6, 9.5]) {
        const standard = gridOf(bounds([-100, 30, -90, 40]), zoom, 14);
        equal(gridOf(bounds([-100, 30, -90, 40]), zoom, 14, 512).z, standard.z - 1);
    }
    const tilted = gridOf(bounds([-90, -80, 90, 85]), 8, 14, 512);
    ok(tilted.columns * tilted.rows <= 60, JSON.stringify(tilted));
});

test("the tiles of a grid have columns of the world, and its corners are those of its tiles", () => {
    const antimeridian = gridOf(bounds([170, 10, 185, 20]), 4, 14);
    equal(placesOf(antimeridian).map(({ key, column, row }) => `${key} ${column} ${row}`).sort(), [
        "5/0/14 1 0", "5/0/15 1 1", "5/31/14 0 0", "5/31/15 0 1",
    ]);
    equal(cornersOf(antimeridian).map((corner) => corner.map(Math.round)),
        [[-191, 22], [-169, 22], [-169, 0], [-191, 0]]);
    const [first] = placesOf(gridOf(bounds([-180, -85, 180, 85]), 2.2, 14));
    ok([3, 4].includes(first?.x ?? 0) && [3, 4].includes(first?.y ?? 0), "the first tile is in the middle");
});

const COLOURS = { red: [255, 0, 0, 255], blue: [0, 0, 255, 255] };

/** A tile in a colour, as an address.
 * @param {string} colour */
function tileOf(colour) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 256;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.fillStyle = colour;
    context.fillRect(0, 0, 256, 256);
    return canvas.toDataURL();
}

/** A MapLibre map that records its source and layer. */
class FakeMap {
    /** @type {Map<string, () => void>} */
    listeners = new Map();
    /** @type {any} */
    source = null;
    /** @type {any} */
    layer = null;
    uploads = 0;
    /** @type {any} */
    coordinates = null;
    sides = [-100, 30, -90, 40];
    /** @param {string} name
     * @param {() => void} listener */
    on(name, listener) { this.listeners.set(name, listener); }
    /** @param {string} name */
    off(name) { this.listeners.delete(name); }
    getZoom() { return 3.4; }
    getBounds() { return bounds(this.sides); }
    /** @param {string} _id
     * @param {{ coordinates: unknown }} source */
    addSource(_id, source) {
        this.coordinates = source.coordinates;
        this.source = {
            ...source, play() {}, pause: () => { this.uploads += 1; },
            setCoordinates: (/** @type {unknown} */ coordinates) => { this.coordinates = coordinates; },
        };
    }
    /** @param {any} layer
     * @param {string} [before] */
    addLayer(layer, before) { this.layer = { ...layer, before }; }
    getSource() { return this.source; }
    /** @param {string} id */
    getLayer(id) { return id === "names" ? {} : this.layer; }
    removeLayer() { this.layer = null; }
    removeSource() { this.source = null; }
    /** @returns {number[]} */
    pixel(x = 10, y = 10) { return [...this.source.canvas.getContext("2d").getImageData(x, y, 1, 1).data]; }
}

const setRealTimeout = setTimeout;
/** A pause of the real clock, for tests with a manual one. */
const realPause = () => new Promise((resolve) => setRealTimeout(resolve, 10));

/** @param {() => boolean} condition */
async function until(condition) {
    for (let tries = 0; !condition(); tries += 1) {
        if (tries > 500) throw new Error(`never: ${condition}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
}

test("a frame on a canvas is ready with all tiles, and a step changes the pixels of one layer at once", async () => {
    const map = new FakeMap();
    const frames = new MapLibreCanvasFrames(map, { prefix: "f", before: "names", opacity: 0.5, attribution: "Billow" });
    const [red, blue] = [frames.add(tileOf("red")), frames.add(tileOf("blue"))];
    equal([frames.isReady(red), map.source], [false, null], "a loading frame does not touch the map");
    await until(() => frames.isReady(red) && frames.isReady(blue));
    frames.show(red);
    equal(map.pixel(), COLOURS.red);
    equal([map.layer.before, map.layer.paint["raster-opacity"], map.source.attribution], ["names", 0.5, "Billow"]);
    frames.show(blue);
    equal([map.pixel(), map.uploads], [COLOURS.blue, 1]);
    frames.remove(red);
    ok(map.layer, "the visible frame stays");
    frames.remove(blue);
    equal([map.layer, map.source, map.listeners.size], [null, null, 0]);
});

test("the parts of a frame on a canvas are drawn over each other with their opacities", async () => {
    const map = new FakeMap();
    const frames = new MapLibreCanvasFrames(map, {
        address: (url) => url, parts: (url) => [{ url, opacity: 1 }, { url: tileOf("red"), opacity: 0.4 }],
    });
    const frame = frames.add(tileOf("blue"));
    await until(() => frames.isReady(frame));
    frames.show(frame);
    ok(Math.abs((map.pixel()[0] ?? 0) - 102) < 3 && Math.abs((map.pixel()[2] ?? 0) - 153) < 3, `${map.pixel()}`);
});

test("after a move the canvas keeps its pixels until the visible frame has its new tiles", async () => {
    const map = new FakeMap();
    const frames = new MapLibreCanvasFrames(map);
    const [frame, other] = [frames.add(tileOf("red")), frames.add(tileOf("blue"))];
    await until(() => frames.isReady(frame) && frames.isReady(other));
    frames.show(frame);
    const before = map.coordinates;
    map.sides = [-10, 30, 10, 40];
    map.listeners.get("moveend")?.();
    equal([frames.isReady(frame), frames.isReady(other), map.coordinates], [false, false, before]);
    await until(() => frames.isReady(frame));
    ok(map.coordinates !== before && map.source.canvas.width === 512, "the canvas has the new tiles");
    equal([map.pixel(), map.pixel(500)], [COLOURS.red, COLOURS.red]);
});

test("a canvas is never larger than the map's device can draw: it would be black", async () => {
    for (const largest of [64, 511, 512, 4096]) {
        const map = Object.assign(new FakeMap(), {
            sides: [-22.5, 30, 0, 45],
            getCanvas: () => ({ getContext: () => ({ MAX_TEXTURE_SIZE: 1, getParameter: () => largest }) }),
        });
        const frames = new MapLibreCanvasFrames(/** @type {any} */ (map));
        const frame = frames.add(tileOf("red"));
        await until(() => frames.isReady(frame));
        frames.show(frame);
        const { width, height } = map.source.canvas;
        ok(Math.max(width, height) <= largest, `${width} × ${height} of ${largest}`);
        equal(map.pixel(width / 2, Math.floor(height / 2) - 2), COLOURS.red);
        frames.remove(frame);
    }
});

test("a tile whose address has no version is requested anew, because late reports change it", async () => {
    const map = new FakeMap();
    const frames = new MapLibreCanvasFrames(map);
    /** @type {(string | undefined)[]} */
    const modes = [];
    const real = window.fetch;
    window.fetch = async (_url, options) => {
        modes.push(options?.cache);
        return real(tileOf(modes.length > 1 ? "blue" : "red"));
    };
    try {
        for (const colour of /** @type {const} */ (["red", "blue"])) {
            const frame = frames.add("/tile.png?hours=2");
            await until(() => frames.isReady(frame));
            frames.show(frame);
            equal(map.pixel(), COLOURS[colour]);
            frames.remove(frame);
        }
        equal(modes, ["no-cache", "no-cache"]);
    } finally {
        window.fetch = real;
    }
});

test("frames with tiles of 512 points request those of the zoom before", async () => {
    const map = new FakeMap();
    /** @type {string[]} */
    const asked = [];
    const real = window.fetch;
    window.fetch = async (url) => {
        asked.push(String(url));
        return real(tileOf("red"));
    };
    try {
        const frames = new MapLibreCanvasFrames(map, { headers: () => ({ "X-API-Key": "secret" }) });
        const standard = frames.add("/{z}/{x}/{y}.png");
        await until(() => frames.isReady(standard));
        const large = frames.add("/{z}/{x}/{y}.png?size=512");
        await until(() => frames.isReady(large));
        equal([asked.includes("/4/3/6.png"), asked.includes("/3/1/3.png?size=512")], [true, true]);
    } finally {
        window.fetch = real;
    }
});

test("a frame on a canvas fails with a tile that can't be loaded, and a removed one requests nothing", async () => {
    const map = new FakeMap();
    const frames = new MapLibreCanvasFrames(map);
    const [failing, removed] = [frames.add("/no-such-tile.png"), frames.add("/no-such-tile.png?removed")];
    frames.remove(removed);
    await until(() => frames.hasFailed(failing));
    equal([frames.isReady(failing), frames.hasFailed(removed)], [false, false]);
    frames.remove(failing);
});

test("a visible frame with failed tiles shows the others, names the failed ones, and retries them", async () => {
    const map = new FakeMap();
    map.sides = [-100, 30, -80, 45];
    let isBusy = false;
    const real = window.fetch;
    window.fetch = async (url) =>
        (isBusy && String(url).startsWith("/4/5/") ? new Response("", { status: 503 }) : real(tileOf("red")));
    try {
        const frames = new MapLibreCanvasFrames(map, { headers: () => ({ "X-API-Key": "secret" }) });
        const frame = frames.add("/{z}/{x}/{y}.png");
        const other = frames.add("/other/{z}/{x}/{y}.png");
        await until(() => frames.isReady(frame));
        frames.show(frame);
        ok([...frames.states.values()].every((state) => state === "loaded"), "the frame is complete");
        const known = [...frames.states.keys()];
        isBusy = true;
        await ManualTime.use(async (time) => {
            map.sides = [-70, 30, -40, 45];
            map.listeners.get("moveend")?.();
            equal([...frames.states.keys()], known, "until then the canvas has its old tiles");
            const isDrawn = () => frames.states.has("4/6/6");
            for (let tries = 0; !isDrawn() && tries < 500; tries += 1) await realPause();
            const failed = [...frames.states].filter(([, state]) => state === "failed").map(([key]) => key);
            equal(failed.sort(), ["4/5/5", "4/5/6"]);
            equal([map.pixel(10), map.pixel(300)[3]], [COLOURS.red, 0]);
            equal([frames.isReady(frame), frames.hasFailed(frame)], [false, true]);
            isBusy = false;
            // Other frames that load meanwhile do not delay this.
            for (let step = 0; step < 15; step += 1) {
                frames.remove(frames.add(`/${step}/{z}/{x}/{y}.png`));
                time.advance(1_000);
            }
            for (let tries = 0; !frames.isReady(frame) && tries < 500; tries += 1) await realPause();
            equal([[...frames.states.values()].includes("failed"), map.pixel(300)], [false, COLOURS.red]);
        });
        for (const each of [frame, other]) frames.remove(each);
        equal(frames.states.size, 0);
    } finally {
        window.fetch = real;
    }
});

test("with headers, the tiles of a canvas are requested by fetch", async () => {
    const map = new FakeMap();
    /** @type {string[]} */
    const asked = [];
    const real = window.fetch;
    window.fetch = async (url, options) => {
        asked.push(/** @type {Record<string, string>} */ (options?.headers)["X-API-Key"] ?? "");
        return real(tileOf("red"));
    };
    try {
        const frames = new MapLibreCanvasFrames(map, { headers: () => ({ "X-API-Key": "secret" }) });
        const frame = frames.add("/tile.png");
        await until(() => frames.isReady(frame) || frames.hasFailed(frame));
        equal([asked, frames.hasFailed(frame)], [["secret"], false]);
    } finally {
        window.fetch = real;
    }
});
