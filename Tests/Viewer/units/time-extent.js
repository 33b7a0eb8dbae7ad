// @ts-check
import { extentOf, isOutside } from "/js/time-extent.js";
import { equal, json, test, withResponses } from "../harness.js";

const [FIRST, LAST] = ["2026-07-21T12:00:00Z", "2026-07-21T18:00:00Z"];

test("the extent of layers is requested once, and instants outside of it are known", async () => {
    /** @type {string[]} */
    const requested = [];
    await withResponses(({ url }) => {
        requested.push(url.pathname);
        return json({ time: { extent: [FIRST, LAST] } });
    }, async () => {
        equal(await extentOf("a,b"), [Date.parse(FIRST), Date.parse(LAST)]);
        const instants = [null, Date.parse(FIRST) - 1, Date.parse(FIRST), Date.parse(LAST), Date.parse(LAST) + 1];
        equal(await Promise.all(instants.map((time) => isOutside("a,b", time))), [false, true, false, false, true]);
    });
    equal(requested, ["/tiles/a,b.json"]);
});

test("an unknown extent excludes nothing, and a failed request is repeated", async () => {
    await withResponses(() => json({}), async () => {
        equal([await extentOf("c"), await isOutside("c", 0)], [null, false]);
    });
    await withResponses(() => new Response("", { status: 503 }), async () => equal(await extentOf("d"), null));
    await withResponses(() => json({ time: { extent: [FIRST, LAST] } }), async () => {
        equal(await isOutside("d", 0), true);
    });
});
