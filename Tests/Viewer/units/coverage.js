// @ts-check
import { boxOf, Coverage } from "/js/coverage.js";
import { middleOf } from "/js/middle.js";
import { parseHash } from "/js/view.js";
import { equal, json, ok, test, withResponses } from "../harness.js";

/** @param {number} west
 * @param {number} south
 * @param {number} east
 * @param {number} north */
const bounds = (west, south, east, north) => ({
    getWest: () => west, getSouth: () => south, getEast: () => east, getNorth: () => north,
});

test("a map's box is clamped to the world and wraps at the antimeridian", () => {
    equal(boxOf(bounds(-127.5, 22, -64.25, 53)), "-127.50,22.00,-64.25,53.00");
    equal(boxOf(bounds(-200, -89, 190, 89)), "-180.00,-85.05,180.00,85.05");
    equal(boxOf(bounds(-217.0776931499995, -70, 142.92230684999726, 80)), "-180.00,-70.00,180.00,80.00");
    equal(boxOf(bounds(170, 10, 190, 20)), "170.00,10.00,-170.00,20.00");
    equal(boxOf(bounds(-550, 10, -530, 20)), "170.00,10.00,-170.00,20.00");
});

test("each map is requested once, and the previous result stays until the response arrives", async () => {
    const requested = /** @type {string[]} */ ([]);
    const fetch = window.fetch;
    window.fetch = async (url) => {
        requested.push(String(url));
        const isLacking = String(url).includes("gtg");
        return new Response(null, isLacking ? { headers: { "X-Incomplete": "true" } } : {});
    };
    try {
        const { view } = parseHash("#layers=gtg,hexagons");
        let onChange = () => {};
        const coverage = new Coverage(() => onChange());
        const ask = (/** @type {string} */ box) => new Promise((resolve) => {
            onChange = () => {
                const known = coverage.lackingLayers(view, null, box, "", false);
                if (known) resolve(known);
            };
            coverage.lackingLayers(view, null, box, "", false);
        });
        equal(coverage.lackingLayers(view, null, "0,0,1,1", "", false), null);
        equal(await ask("0,0,2,2"), ["gtg"]);
        equal(coverage.lackingLayers(view, null, "0,0,3,3", "", false), ["gtg"]);
        ok(requested.every((url) => url.startsWith("maps/")), requested.join(" "));
        equal(new Set(requested).size, requested.length, "each once");
    } finally {
        window.fetch = fetch;
    }
});

test("a field of which nothing is stored at an instant is absent then", () => withResponses(
    ({ url }) => url.pathname.endsWith(".json")
        ? json({ time: { extent: ["2026-07-21T20:00:00Z", "2026-07-21T22:00:00Z"] } }) : new Response(null),
    async () => {
        const { view } = parseHash("#layers=gtg,hexagons");
        for (const [hour, absent] of /** @type {[number, string[]][]} */ ([[10, ["gtg"]], [21, []]])) {
            const time = Date.UTC(2026, 6, 21, hour);
            /** @type {Coverage | null} */
            let coverage = null;
            await new Promise((resolve) => {
                coverage = new Coverage(() => resolve(null));
                coverage.lackingLayers(view, time, "0,0,1,1", "", false);
            });
            const found = /** @type {Coverage | null} */ (coverage);
            equal([found?.lackingLayers(view, time, "0,0,1,1", "", false), found?.absentLayers(view, time)],
                [absent, absent], `at ${hour}Z`);
            equal(found?.absentLayers(view, null), [], "live");
        }
    }));

test("the middle of a box is a third of it, also across the antimeridian", () => {
    equal(middleOf("-120.00,20.00,-60.00,50.00"), "-100.00,30.00,-80.00,40.00");
    equal(middleOf("160.00,-15.00,-170.00,15.00"), "170.00,-5.00,180.00,5.00");
    equal(middleOf("170.00,-15.00,-130.00,15.00"), "-170.00,-5.00,-150.00,5.00");
    equal(middleOf("-180.00,-60.00,180.00,60.00"), "-60.00,-20.00,60.00,20.00");
});

test("a field that lacks data only towards the edges of the view is named as such", async () => {
    for (const [missing, edges] of /** @type {[string[], string[]][]} */ ([
        [["0.00,0.00,3.00,3.00"], ["gtg"]], [["0.00,0.00,3.00,3.00", "1.00,1.00,2.00,2.00"], []],
    ])) {
        await withResponses(({ url }) => new Response(null, missing.includes(url.searchParams.get("bbox") ?? "")
            ? { headers: { "X-Incomplete": "true" } } : {}), async () => {
            const { view } = parseHash("#layers=gtg,hexagons");
            for (const isPlaying of [false, true]) {
                /** @type {import("/js/coverage.js").Lacking} */
                const found = await new Promise((resolve) => {
                    /** @type {Coverage} */
                    const coverage = new Coverage(() =>
                        resolve(coverage.lackingLayers(view, null, "0.00,0.00,3.00,3.00", "", isPlaying)));
                    coverage.lackingLayers(view, null, "0.00,0.00,3.00,3.00", "", isPlaying);
                });
                equal(found?.edges, edges);
                equal([...found ?? []].sort(), ["gtg", "hexagons"], "cells have no edge");
            }
        });
    }
});
