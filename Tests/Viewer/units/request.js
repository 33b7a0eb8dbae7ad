// @ts-check
import { pictureRequest, subjectOf } from "/js/request.js";
import { parseHash } from "/js/view.js";
import { equal, ok, test } from "../harness.js";

const FIRST = { ...parseHash("").view, layers: ["hexagons"], hours: 2 };
const TILES = {
    tiles: [
        "http://127.0.0.1/tiles/hexagons/latest/{z}/{x}/{y}.png?style=skypath",
    ], version: 5, time: "2026-07-21T20:00:00Z",
    billow: { version: 7, asOf: "2026-07-21T20:00:01Z" },
};

test("a live picture's address has the filters and the publication", () => {
    const { template, asOf, key } = pictureRequest(TILES, FIRST, 1);
    equal(
        template,
        "http://127.0.0.1/tiles/hexagons/latest/{z}/{x}/{y}.png?style=skypath&hours=2&p=7-2026-07-21T20%3A00%3A01Z",
    );
    equal(asOf, Date.UTC(2026, 6, 21, 20, 0, 1));
    ok(key.endsWith(" 7-2026-07-21T20:00:01Z"), key);
});

test("a picture of an instant is asked for by its time, and dense screens get dense tiles", () => {
    const { template, asOf } = pictureRequest(TILES, { ...FIRST, time: Date.UTC(2026, 6, 21, 18) }, 2);
    ok(template.startsWith("http://127.0.0.1/tiles/hexagons/20260721T180000Z/{z}/{x}/{y}@2x.png?"), template);
    ok(template.endsWith("&p=7"), template);
    equal(asOf, Date.UTC(2026, 6, 21, 18));
});

test("a server that says nothing of its publication is asked by what its TileJSON has", () => {
    const { template, asOf } = pictureRequest({ ...TILES, billow: undefined }, FIRST, 1);
    ok(template.endsWith("&p=5-2026-07-21T20%3A00%3A00Z"), template);
    equal(asOf, Date.UTC(2026, 6, 21, 20));
});

test("pictures of other filters, layers or instants are other subjects; a newer publication is not", () => {
    const subjects = [
        FIRST, { ...FIRST, hours: 4 }, { ...FIRST, minSeverity: 1 }, { ...FIRST, layers: ["hexagons", "traffic"] },
        { ...FIRST, time: 5 },
    ]
        .map(subjectOf);
    equal(new Set(subjects).size, subjects.length);
    const newer = pictureRequest({ ...TILES, billow: { version: 8, asOf: "2026-07-21T20:00:11Z" } }, FIRST, 1);
    equal(newer.subject, pictureRequest(TILES, FIRST, 1).subject);
    ok(newer.key !== pictureRequest(TILES, FIRST, 1).key, "another key");
});
