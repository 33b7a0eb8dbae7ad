// @ts-check
import { CollectionCopy } from "/js/changes.js";
import { equal, json, ok, test, withResponses } from "../harness.js";

/** @param {string} id
 * @param {number} severity */
const feature = (id, severity) => ({ type: "Feature", id, geometry: null, properties: { severity } });

const MEMBERS = {
    type: "FeatureCollection", time: "2026-11-21T12:00:00Z", dataTime: "2026-11-21T11:59:00Z", stale: false,
    simulated: true, incomplete: false,
};
/** @param {string} cursor
 * @param {object[]} features */
const whole = (cursor, features) => json({ ...MEMBERS, full: true, since: null, cursor, features, removed: [] });
/** @param {string} since
 * @param {string} cursor
 * @param {object[]} features
 * @param {string[]} removed */
const delta = (since, cursor, features, removed) =>
    json({ ...MEMBERS, full: false, since, cursor, features, removed });

/** The ids and severities of a copy, in order.
 * @param {CollectionCopy} copy */
const content = (copy) => [...copy.features.values()].map(({ id, properties }) => `${id}${properties.severity}`).sort();

let number = 0;
/** A copy of a query that no other test has.
 * @param {object} [options] */
const makeCopy = (options) => {
    number += 1;
    return new CollectionCopy({
        server: "/place/", collection: "hexagons", events: false,
        parameters: { minSeverity: 1, source: `test${number}-${Math.random()}` },
        interval: 20, pause: 1, ...options,
    });
};

/** Waits for a condition.
 * @param {() => boolean} condition
 * @param {string} what */
async function until(condition, what) {
    for (let count = 0; count < 2_000; count += 1) {
        if (condition()) return;
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`never: ${what}`);
}

test("a copy applies changes since its cursor, and replaces everything where the server sends everything", async () => {
    const answers = [
        () => whole("c1", [feature("a", 1), feature("b", 2)]),
        () => delta("c1", "c2", [feature("b", 3), feature("c", 4)], ["a", "unknown"]),
        () => delta("c2", "c2", [], []),
        () => whole("c3", [feature("c", 4), feature("d", 1)]),
    ];
    /** @type {(string | null)[]} */
    const since = [];
    /** @type {string[][]} */
    const states = [];
    /** @type {object[]} */
    const changes = [];
    const copy = makeCopy();
    copy.addEventListener("change", (event) => {
        const { full, changed, removed } = /** @type {CustomEvent} */ (event).detail;
        states.push(content(copy));
        changes.push({ full, changed: changed.length, removed });
    });
    await withResponses(({ url }) => {
        equal(url.pathname, "/place/changes/hexagons");
        equal(url.searchParams.get("minSeverity"), "1");
        since.push(url.searchParams.get("since"));
        return (answers.shift() ?? (() => delta("c3", "c3", [], [])))();
    }, async () => {
        await copy.start();
        await until(() => since.length > 5, "six requests");
        copy.stop();
    });
    equal(since.slice(0, 5), [null, "c1", "c2", "c2", "c3"]);
    equal(states, [["a1", "b2"], ["b3", "c4"], ["c4", "d1"]]);
    equal(changes, [
        { full: true, changed: 2, removed: [] }, { full: false, changed: 2, removed: ["a"] },
        { full: true, changed: 2, removed: ["b"] },
    ]);
    equal(copy.state.dataTime, MEMBERS.dataTime);
    ok(copy.state.simulated && copy.state.connected && copy.state.stored, "the state is that of the last answer");
    await copy.forget();
});

test("a stored copy is there before any answer, and continues at its cursor", async () => {
    const options = { parameters: { source: `stored-${Math.random()}` } };
    const one = makeCopy(options);
    await withResponses(() => whole("c1", [feature("a", 1), feature("b", 2)]), async () => {
        await one.start();
        await until(() => one.state.stored, "the copy is stored");
        one.stop();
    });
    const two = makeCopy(options);
    await withResponses(() => Promise.reject(new TypeError("offline")), async () => {
        await two.start();
        equal(content(two), ["a1", "b2"]);
        equal([two.state.time, two.state.connected, two.state.stored], [MEMBERS.time, false, true]);
        two.stop();
    });
    const three = makeCopy(options);
    /** @type {string | null} */
    let since = null;
    await withResponses(({ url }) => {
        since = url.searchParams.get("since");
        return delta("c1", "c2", [feature("c", 3)], ["a"]);
    }, async () => {
        await three.start();
        await until(() => three.features.has("c"), "the change arrives");
        three.stop();
    });
    equal(since, "c1");
    equal(content(three), ["b2", "c3"]);
    // A copy with another query is another one.
    const other = makeCopy();
    await withResponses(() => Promise.reject(new TypeError("offline")), async () => {
        await other.start();
        equal(other.features.size, 0);
        other.stop();
    });
    await three.forget();
    equal(three.features.size, 0);
});

test("two pages with the same copy leave the state of the last one, whole", async () => {
    const options = { parameters: { source: `shared-${Math.random()}` } };
    const [one, two, three] = [makeCopy(options), makeCopy(options), makeCopy(options)];
    /** @param {CollectionCopy} copy
     * @param {() => Response} answer
     * @param {() => boolean} done */
    const step = (copy, answer, done) => withResponses(answer, async () => {
        await copy.start();
        await until(done, "the answer is applied");
        await until(() => copy.state.stored, "it is stored");
        copy.stop();
    });
    await step(one, () => whole("c1", [feature("a", 1), feature("b", 1)]), () => one.features.size === 2);
    await step(two, () => delta("c1", "c2", [feature("a", 2)], ["b"]), () => two.features.size === 1);
    // The first page goes on from its own state. By then `a` was as before, so its change doesn't name it.
    await step(one, () => delta("c1", "c3", [feature("z", 1)], []), () => one.features.has("z"));
    await withResponses(() => Promise.reject(new TypeError("offline")), async () => {
        await three.start();
        three.stop();
    });
    equal(content(three), ["a1", "b1", "z1"]);
    await three.forget();
});

test("an answer about another state changes nothing, and a refused request ends the updates", async () => {
    const copy = makeCopy({ store: false });
    /** @type {(string | null)[]} */
    const problems = [];
    copy.addEventListener("problem", (event) => problems.push(/** @type {CustomEvent} */ (event).detail));
    let requests = 0;
    await withResponses(() => {
        requests += 1;
        if (requests === 1) return whole("c1", [feature("a", 1)]);
        if (requests === 2) return delta("c0", "c2", [feature("x", 1)], []);
        return json({ detail: "There is no source 'x'." }, { status: 400 });
    }, async () => {
        await copy.start();
        await until(() => problems.length > 2, "three results");
        const before = requests;
        await new Promise((resolve) => setTimeout(resolve, 100));
        equal(requests, before);
    });
    equal(content(copy), ["a1"]);
    equal(problems, [null, "the answer is about another state", "There is no source 'x'."]);
    ok(!copy.state.stored && !copy.state.connected, "neither stored nor connected");
});

test("an event of the collection causes a request, one of another does not, and both name the place", async () => {
    const copy = makeCopy({
        events: true, interval: 600_000, pause: 1, store: false, parameters: { bbox: "1,2,3,4", minSeverity: 2 },
        headers: () => ({ "X-API-Key": "secret" }),
    });
    let requests = 0;
    /** @type {ReadableStreamDefaultController<Uint8Array> | null} */
    let stream = null;
    /** @param {string} text */
    const send = (text) => stream?.enqueue(new TextEncoder().encode(text));
    /** @type {(string | null)[]} */
    const keys = [];
    await withResponses(({ url, headers }) => {
        keys.push(headers.get("X-API-Key"));
        if (url.pathname.endsWith("/events")) {
            equal(url.search, "?bbox=1%2C2%2C3%2C4");
            return new Response(new ReadableStream({ start: (controller) => { stream = controller; } }));
        }
        requests += 1;
        return requests === 1 ? whole("c1", []) : delta("c1", "c1", [], []);
    }, async () => {
        await copy.start();
        await until(() => requests === 1 && stream !== null, "a request and a listener");
        send("event: data\nid: 1\ndata: {\"collection\":\"traffic\",\"version\":2}\n\n: still here\n\n");
        await new Promise((resolve) => setTimeout(resolve, 50));
        equal(requests, 1);
        send("event: data\nid: 2\ndata: {\"collection\":\"turb");
        send("ulence\",\"version\":3}\n\n");
        await until(() => requests === 2, "turbulence stands for hexagons");
        send("event: data\ndata: {\"area\":\"all\",\"version\":4}\n\n");
        await until(() => requests === 3, "all stands for every collection");
        copy.stop();
    });
    equal([...new Set(keys)], ["secret"]);
});
