// @ts-check
import { contact, recordResponse } from "/js/contact.js";
import {
    BROKEN_TICKS, Changes, CHECK_MILLISECONDS, CHECK_TIMEOUT_MILLISECONDS, isUrgent, listen, parseEvent, SILENT_TICKS,
} from "/js/events.js";
import { equal, flushMicrotasks, ManualTime, ok, test, withResponses } from "../harness.js";

/** Parses some blocks. Returns their events and the last id.
 * @param {...string} blocks */
function parsed(...blocks) {
    /** @type {[string, string][]} */
    const events = [];
    /** @type {import("/js/events.js").State} */
    const state = { lastEventID: null };
    for (const block of blocks) parseEvent(block, (name, data) => events.push([name, data]), state);
    return { events, id: state.lastEventID };
}

test("an event has its name, its lines of data and its id", () => {
    equal(parsed("event: data\nid: 4-1\ndata: {\"a\":1}\ndata: 2"), { events: [["data", "{\"a\":1}\n2"]], id: "4-1" });
    equal(parsed("data:bare"), { events: [["message", "bare"]], id: null });
});

test("a comment and a block without data are no events, but their id is stored", () => {
    equal(parsed(": still here", "event: data", "id: 7", ""), { events: [], id: "7" });
});

test("an event changes the layers of its collection, and the parts of a combined layer", () => {
    const turbulence = '{"collection":"turbulence","version":7}';
    const layers = [["hexagons"], ["polygons", "traffic"], ["traffic"]];
    const changes = new Changes();
    equal(layers.map((some) => changes.record(turbulence, some)), [true, true, false]);
    equal(layers.map((some) => changes.versionOf(some)), [7, 7, 0]);
    ok(changes.record('{"area":"all","version":9}', ["traffic"]), "all may have changed");
    equal(layers.map((some) => changes.versionOf(some)), [9, 9, 9]);
    ok(!changes.record("no JSON", ["traffic"]), "no JSON");
});

test("an event of hazards or a field, or of the first data of a layer, is urgent, and one of all collections is not",
    () => {
    const view = ["gtg", "hexagons", "hazards"];
    const status = { layers: { hexagons: { dataTime: "2026-07-21T20:00:00Z" }, gtg: { dataTime: null } } };
    /** @param {Billow.Status | null} server */
    const urgent = (server) => ["gtg", "hazards", "turbulence", "advisories"].filter((collection) =>
        isUrgent(JSON.stringify({ collection, version: 2 }), view, server));
    equal(urgent(status), ["gtg", "hazards"]);
    equal(urgent({ layers: { hexagons: { dataTime: null } } }), ["gtg", "hazards", "turbulence"]);
    equal(urgent(null), ["gtg", "hazards"], "the status is not known");
    ok(!isUrgent('{"area":"all","version":9}', view, status), "the first event of a connection");
});

/** Listens to a stream whose lines and whose server a test controls.
 * @param {(world: {
 *     time: ManualTime, line: () => Promise<void>, server: { answers: boolean },
 *     counts: { checks: number, lost: number },
 * }) => Promise<void>} body */
const withStream = (body) => ManualTime.use(async (time) => {
    recordResponse(1);
    const server = { answers: true }, counts = { checks: 0, lost: 0 };
    let isPaused = false;
    /** @type {(result: { done: boolean, value: Uint8Array }) => void} */
    let arrive = () => {};
    await withResponses(({ url, signal }) => {
        const aborted = new Promise((_, reject) => {
            signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
        aborted.catch(() => {});
        if (url.pathname.endsWith("/healthz")) {
            counts.checks += 1;
            return server.answers ? new Response("ok") : /** @type {Promise<never>} */ (aborted);
        }
        const read = () => Promise.race([aborted, new Promise((resolve) => { arrive = resolve; })]);
        return /** @type {any} */ ({ ok: true, headers: new Headers(), body: { getReader: () => ({ read }) } });
    }, async () => {
        listen("events", () => {}, () => { counts.lost += 1; }, () => isPaused);
        await flushMicrotasks();
        await body({
            time, server, counts, line: async () => {
                arrive({ done: false, value: new TextEncoder().encode(": alive\n\n") });
                await flushMicrotasks();
            },
        });
        isPaused = true;
        document.dispatchEvent(new Event("visibilitychange"));
        await flushMicrotasks();
        time.advance(10_000);
        await flushMicrotasks();
    });
    recordResponse(1);
});

/** @param {ManualTime} time
 * @param {number} seconds */
async function pass(time, seconds) {
    for (let second = 0; second < seconds; second += 1) {
        time.advance(1_000);
        await flushMicrotasks();
    }
}

test("a frozen server is not live within seconds, and is again with its first line",
    () => withStream(async ({ time, server, counts, line }) => {
    for (let count = 0; count < 10; count += 1) {
        await pass(time, SILENT_TICKS - 1);
        await line();
    }
    equal([counts.checks, contact.problem, contact.isSilent], [0, null, false], "a line came in time");
    server.answers = false;
    await pass(time, SILENT_TICKS);
    time.advance(CHECK_MILLISECONDS);
    equal([counts.checks, contact.isSilent], [1, true]);
    time.advance(CHECK_TIMEOUT_MILLISECONDS);
    await flushMicrotasks();
    equal([contact.problem, contact.isSilent], ["the server is silent", false]);
    ok(SILENT_TICKS * 1_000 + CHECK_TIMEOUT_MILLISECONDS < 10_000, "within ten seconds");
    await line();
    equal([contact.problem, counts.lost], [null, 0]);
}));

test("silent events of a server that answers raise no alarm, and are requested again",
    () => withStream(async ({ time, counts }) => {
    await pass(time, BROKEN_TICKS - 1);
    equal([counts.checks, counts.lost, contact.problem, contact.isSilent], [4, 0, null, false]);
    await pass(time, 1);
    equal([counts.lost, contact.problem], [1, null]);
}));
