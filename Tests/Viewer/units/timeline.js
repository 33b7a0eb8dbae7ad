// @ts-check
import { LeafletPoints, middle, TimelineClock, TimelinePlayer, TimelinePoints } from "/timeline.js";
import { equal, json, ManualTime, ok, test, throws, withResponses } from "../harness.js";

const START = Date.UTC(2026, 6, 21, 20);
const MINUTE = 60_000;

/** Frames without a map; a test defines which are ready. */
class FakeFrames {
    /** @type {Set<string>} */
    held = new Set();
    /** @type {Set<string>} */
    slow = new Set();
    /** @type {Set<string>} */
    broken = new Set();
    /** @type {string | null} */
    shown = null;
    /** @type {string[]} */
    order = [];

    /** @param {string} url */
    add(url) {
        this.held.add(url);
        return url;
    }
    /** @param {string} url */
    isReady(url) { return !this.slow.has(url); }
    /** @param {string} url */
    hasFailed(url) { return this.broken.has(url); }
    /** @param {string} url */
    show(url) {
        this.shown = url;
        this.order.push(url);
    }
    /** @param {string} url */
    remove(url) { this.held.delete(url); }
}

/** A manifest of frames some minutes after the start; `ahead` of them are forecasts.
 * @param {number[]} minutes */
const manifest = (minutes, { ahead = 0, layer = "hexagons" } = {}) => ({
    layers: [{
        id: layer,
        frames: minutes.map((minute, place) => ({
            time: new Date(START + minute * MINUTE).toISOString(), tiles: `${layer}/${minute}`,
            ...(
                place >= minutes.length - ahead ? { forecast: true } : {}
            ), ...(minute === 10 ? { incomplete: true } : {}),
        })),
    }],
});

/** @param {object} body
 * @param {(world: { time: ManualTime, frames: FakeFrames, player: TimelinePlayer, events: { name: string, detail: any
 * }[], requested: URL[] }) => void | Promise<void>} action
 * @param {import("/timeline/player.js").PlayerOptions} options */
const withPlayer = (body, action, options = {}) => ManualTime.use(async (time) => {
    const frames = new FakeFrames();
    /** @type {URL[]} */
    const requested = [];
    await withResponses(({ url }) => {
        requested.push(url);
        return json(body);
    }, async () => {
        const player = new TimelinePlayer(frames, options);
        /** @type {{ name: string, detail: any }[]} */
        const events = [];
        for (const name of ["frame", "state", "problem", "progress", "manifest"]) {
            player.addEventListener(
                name, (event) => events.push({ name, detail: /** @type {CustomEvent} */ (event).detail }),
            );
        }
        await player.load();
        time.advance(50);
        await action({ time, frames, player, events, requested });
        player.destroy();
    });
});

test("the newest frame that is no forecast is shown first, and forecasts follow it", () =>
    withPlayer(manifest([0, 10, 20, 30], { ahead: 1 }), ({ player, frames }) => {
        equal(frames.shown, "hexagons/20");
        equal(player.times.map((time) => (time - START) / MINUTE), [0, 10, 20, 30]);
        equal(player.currentTime, START + 20 * MINUTE);
    }));

test("frames play at the clock's speed, the last one is held, then the loop restarts", () =>
    withPlayer(manifest([0, 10, 20]), ({ player, frames, time }) => {
        player.play({ from: START });
        const times = [];
        for (let step = 0; step < 8; step += 1) {
            times.push(frames.shown);
            time.advance(500);
        }
        // The last stays three times as long.
        equal(times, [0, 10, 20, 20, 20, 0, 10, 20].map((minute) => `hexagons/${minute}`));
        player.speed = 2;
        player.play({ from: START });
        time.advance(300);
        equal(frames.shown, "hexagons/10");
        player.pause();
        time.advance(10_000);
        equal([frames.shown, player.isPlaying], ["hexagons/10", false]);
    }));

test("the previous frame stays until the next one is ready", () =>
    withPlayer(manifest([0, 10, 20]), ({ player, frames, time, events }) => {
        frames.slow.add("hexagons/10");
        player.play({ from: START });
        time.advance(5_000);
        equal(frames.shown, "hexagons/0");
        ok(events.some(({ name, detail }) => name === "state" && detail.waiting), "it says that it waits");
        frames.slow.clear();
        time.advance(100);
        equal(frames.shown, "hexagons/10");
        equal(events.filter(({ name }) => name === "state").at(-1)?.detail, { playing: true, waiting: false });
    }));

test("a failed frame is skipped", () => withPlayer(manifest([0, 10, 20]), ({ player, frames, time }) => {
    frames.broken.add("hexagons/10");
    player.play({ from: START });
    time.advance(600);
    equal(frames.shown, "hexagons/20");
}));

test("playing ends after the given number of loops",
    () => withPlayer(manifest([0, 10]), ({ player, time, frames }) => {
    player.play({ from: START });
    time.advance(10_000);
    equal([player.isPlaying, frames.shown], [false, "hexagons/10"]);
}, { loops: 1 }));

test("frame indexes and instants beyond the ends are clamped to a frame", () =>
    withPlayer(manifest([0, 10, 20]), ({ player, frames, time }) => {
        const shown = [];
        for (
            const go of [
                () => player.goToFrame(0), () => player.goToFrame(99), () => player.goTo(START + 15 * MINUTE),
                () => player.goTo(0),
            ]
        ) {
            go();
            time.advance(50);
            shown.push(frames.shown);
        }
        equal(shown, ["hexagons/0", "hexagons/20", "hexagons/10", "hexagons/0"]);
    }));

test("a frame event has the time, and whether the frame is live and incomplete", () =>
    withPlayer(manifest([0, 10, 20]), ({ player, events, time }) => {
        player.goTo(START + 10 * MINUTE);
        time.advance(50);
        const last = events.filter(({ name }) => name === "frame").at(-1)?.detail;
        equal(
            last, { time: START + 10 * MINUTE, index: 1, live: false, forecast: false, incomplete: true, ready: true },
        );
    }));

test("the manifest is requested with layer, span and filters, composed for several layers", () =>
    withPlayer(manifest([0], { layer: "hexagons,pireps" }), ({ requested }) => {
        equal(requested[0]?.search, "?layers=hexagons%2Cpireps&composed=true&start=-1h&end=now&hours=2");
    }, { layer: "hexagons,pireps", start: "-1h", end: "now", parameters: { hours: 2, minSeverity: null } }));

test("a change of filters loads only changed frames, and stops playing", () =>
    withPlayer(manifest([0, 10, 20]), async ({ player, frames, requested, time }) => {
        player.play();
        await player.change({ parameters: { minSeverity: 3 } });
        time.advance(50);
        equal([player.isPlaying, requested.length, requested[1]?.searchParams.get("minSeverity")], [false, 2, "3"]);
        ok(frames.held.has("hexagons/0"), "the same frames are kept");
    }));

test("a failed request dispatches the server's text, and the frames stay", () => withPlayer(manifest([0]), async ({
    player, frames, events,
}) => {
    await withResponses(() => json({ detail: "no such span" }, { status: 400 }), () => player.refresh());
    equal([events.at(-1), frames.shown], [{ name: "problem", detail: "no such span" }, "hexagons/0"]);
    await withResponses(() => { throw new TypeError("gone"); }, () => player.refresh());
    equal(events.at(-1)?.detail, "the server can't be reached");
}));

test("the number of cached frames is limited, and the shown frame is never evicted", () =>
    withPlayer(manifest([0, 10, 20, 30, 40, 50]), ({ player, frames, time }) => {
        for (const index of [0, 1, 2, 3, 4, 5]) {
            player.goToFrame(index);
            time.advance(50);
            ok(frames.held.size <= 3, `${frames.held.size} are kept`);
            ok(frames.shown !== null && frames.held.has(frames.shown), "the shown one is there");
        }
    }, { keep: 3 }));

test("an idle clock has no timer, and a destroyed player leaves no frames", () =>
    withPlayer(manifest([0, 10]), ({ player, frames, time }) => {
        time.advance(1_000);
        equal(time.timers, 1, "the poll of the manifest");
        player.destroy();
        equal(frames.held.size, 0);
    }));

test("several players share a clock, and each shows its newest frame at every instant",
    () => ManualTime.use((time) =>
    withResponses(({ url }) => {
        const layer = url.searchParams.get("layers") ?? "";
        return json(manifest(layer === "traffic" ? [0, 5, 20] : [0, 10, 20], { layer }));
    }, async () => {
        const clock = new TimelineClock({ speed: 1 });
        const [one, other] = [new FakeFrames(), new FakeFrames()];
        const players = [
            new TimelinePlayer(one, { layer: "hexagons", clock }),
            new TimelinePlayer(other, { layer: "traffic", clock }),
        ];
        await Promise.all(players.map((player) => player.load()));
        equal(clock.times.map((instant) => (instant - START) / MINUTE), [0, 5, 10, 20]);
        clock.play({ from: START });
        const seen = [];
        for (let step = 0; step < 4; step += 1) {
            seen.push([one.shown, other.shown]);
            time.advance(500);
        }
        equal(
            seen,
            [
                ["hexagons/0", "traffic/0"], ["hexagons/0", "traffic/5"], ["hexagons/10", "traffic/5"],
                ["hexagons/20", "traffic/20"],
            ],
        );
        // A part that is not ready delays all.
        other.slow.add("traffic/5");
        clock.play({ from: START });
        time.advance(3_000);
        equal([one.shown, other.shown, clock.isWaiting], ["hexagons/0", "traffic/0", true]);
        for (const player of players) player.destroy();
    })));

test("points appear at their own time for their lifetime, from all pages",
    () => ManualTime.use(() =>
    withResponses(({ url }) => {
        const page = Number(url.searchParams.get("page") ?? 0);
        const features = [
            {
                geometry: { type: "Point", coordinates: [1, 2] },
                properties: { observedAt: new Date(START + page * MINUTE).toISOString(), severity: 3 },
            },
        ];
        return json({ features, links: page < 2 ? [{ rel: "next", href: `?page=${page + 1}` }] : [] });
    }, async () => {
        /** @type {{ points: any[], ranges: [number, number][] }} */
        const map = { points: [], ranges: [] };
        const adapter = {
            add: (/** @type {any[]} */ points) => { map.points = points; return "handle"; },
            show: (
                /** @type {string} */ _handle, /** @type {number} */ after, /** @type {number} */ until,
            ) => { map.ranges.push([after, until]); },
            remove: () => {},
        };
        const span = { start: new Date(START).toISOString(), end: new Date(START + 10 * MINUTE).toISOString() };
        const points = new TimelinePoints(adapter, { ...span, lifetime: 5 * MINUTE });
        await points.load();
        equal(map.points.map(({ time }) => (time - START) / MINUTE), [0, 1, 2]);
        equal(map.ranges.at(-1), [START + 5 * MINUTE, START + 10 * MINUTE]);
        points.destroy();
        await throws(() => new TimelinePoints(adapter).load(), /no time range/);
    })));

test("Leaflet points appear and disappear by the clock", () => {
    /** @type {string[]} */
    const log = [];
    const library = { circleMarker: () => ({ addTo: () => log.push("on"), remove: () => log.push("off") }) };
    const points = new LeafletPoints({}, /** @type {any} */ (library));
    const handle = points.add([{ geometry: { type: "Point", coordinates: [1, 2] }, properties: {}, time: 100 }]);
    points.show(handle, 0, 99);
    points.show(handle, 0, 100);
    points.show(handle, 50, 150);
    points.show(handle, 100, 200);
    equal(log, ["on", "off"], "after the first end of the range, up to its last");
});

test(
    "a speed of 0 is rejected",
    () => throws(() => new TimelineClock({ speed: 0 }), /it must be above 0/),
);

test("the middle of a feature is its position or the mean of its outline, also across 180°", () => {
    equal(middle({ type: "Point", coordinates: [5, 6] }), [5, 6]);
    equal(middle({ type: "Polygon", coordinates: [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]] }), [1, 1]);
    equal(
        middle({ type: "MultiPolygon", coordinates: [[[[179, 0], [-179, 0], [-179, 2], [179, 2], [179, 0]]]] }),
        [180, 1],
    );
});
