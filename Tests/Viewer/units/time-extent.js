// @ts-check
import { extentOf, isOutside, outsideText } from "/js/time-extent.js";
import { now } from "/js/server.js";
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

test("an instant without a picture is explained in plain words", async () => {
    const day = 86_400_000, soon = new Date(now() + day).toISOString();
    await withResponses(({ url }) => json(url.pathname.includes("/e.") ? { time: { extent: [FIRST, soon] } } : {}),
        async () => {
            equal(await outsideText("e", Date.UTC(2020, 0, 1)),
                "Nothing is stored for 1 Jan 2020 00:00Z. The data begins at 21 Jul 2026 12:00Z.");
            const ahead = await outsideText("e", Date.UTC(2999, 0, 1));
            equal(ahead.startsWith("Nothing is stored for 1 Jan 2999 00:00Z yet. Forecasts end at "), true, ahead);
            equal(await outsideText("f", Date.UTC(2999, 0, 1)),
                "Nothing is stored for 1 Jan 2999 00:00Z yet. There is no forecast.");
            equal(await outsideText("f", 0), "Nothing is stored for 1 Jan 1970 00:00Z.");
        });
});
