// @ts-check
import { freeSpot, reportsAround, spotsOf } from "/js/label-spots.js";
import { parseHash } from "/js/view.js";
import { equal, ok, test, withResponses } from "../harness.js";

const SIZE = { width: 50, height: 20 };

test("a label is to the right of its waypoint, or at the first spot that hides no report, or nowhere", () => {
    equal(freeSpot(SIZE, () => false), { x: 34, y: 0 });
    equal(freeSpot(SIZE, (left) => left > 0), { x: -34, y: 0 });
    equal(freeSpot(SIZE, (left, top, right, bottom) => top < 0 && bottom > 0), { x: 0, y: -19 });
    equal(freeSpot(SIZE, () => true), null);
    for (const { x, y } of spotsOf(SIZE)) {
        ok(Math.abs(x) >= 25 + 6 || Math.abs(y) >= 10 + 6, `the spot ${x}, ${y} leaves the dot free`);
    }
});

test("reports are read from the tiles of the layers with reports alone, across the antimeridian too", async () => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 256;
    const context = canvas.getContext("2d");
    ok(context, "a canvas");
    // In each tile the right half has reports.
    context.fillRect(128, 0, 128, 256);
    /** @type {Blob | null} */
    const tile = await new Promise((resolve) => canvas.toBlob(resolve));
    /** @type {string[]} */
    const requested = [];
    const view = { ...parseHash("#layers=hazards,hexagons,pireps&hours=4").view, zoom: 3 };
    await withResponses(({ url }) => {
        requested.push(`${url.pathname.slice(url.pathname.indexOf("/tiles/"))} ${url.searchParams.get("hours")}`);
        return new Response(tile);
    }, async () => {
        // The middle of a tile: the reports begin there.
        const hasReport = await reportsAround(view, { longitude: 11.25, latitude: 0.1 }, SIZE);
        equal([hasReport(1, -10, 50, -1), hasReport(-50, -10, -1, -1)], [true, false]);
        equal(freeSpot(SIZE, hasReport), { x: -34, y: 0 });
        await reportsAround(view, { longitude: 180, latitude: 11 }, SIZE);
        const none = await reportsAround({ ...view, layers: ["hazards"] }, { longitude: 0, latitude: 0 }, SIZE);
        equal(none(-99, -99, 99, 99), false);
    });
    equal(requested.sort(), ["/tiles/hexagons,pireps/latest/4/0/7.png 4", "/tiles/hexagons,pireps/latest/4/15/7.png 4",
        "/tiles/hexagons,pireps/latest/4/8/7.png 4", "/tiles/hexagons,pireps/latest/4/8/8.png 4"].sort());
});
