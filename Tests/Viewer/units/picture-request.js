// @ts-check
import { groupsOf, pictureRequest, subjectOf } from "/js/picture-request.js";
import { parseHash } from "/js/view.js";
import { equal, ok, test } from "../harness.js";

const FIRST = { ...parseHash("").view, layers: ["hexagons"], hours: 2 };
const TILES = {
    tiles: [
        "http://127.0.0.1/tiles/hexagons/latest/{z}/{x}/{y}.png?style=skypath",
    ], version: 5,
    billow: { version: 7, asOf: "2026-07-21T20:00:01Z" },
};

test("a live picture's address has the filters and the style, and is stable", () => {
    const { parts: [{ template }], asOf, key } = pictureRequest(TILES, FIRST, 1);
    equal(
        template,
        "http://127.0.0.1/tiles/hexagons/latest/{z}/{x}/{y}.png?style=skypath&hours=2",
    );
    equal(asOf, Date.UTC(2026, 6, 21, 20, 0, 1));
    ok(key.endsWith(` 7-${Date.UTC(2026, 6, 21, 20) / 60_000}`), key);
});

test("a picture of an instant has the time in its address, and dense screens get @2x tiles", () => {
    const { parts: [{ template }], asOf } = pictureRequest(TILES, { ...FIRST, time: Date.UTC(2026, 6, 21, 18) }, 2);
    ok(template.startsWith("http://127.0.0.1/tiles/hexagons/20260721T180000Z/{z}/{x}/{y}@2x.png?"), template);
    equal(asOf, Date.UTC(2026, 6, 21, 18));
});

test("with events, a new version alone does not change a picture's key, but the next minute does", () => {
    /** @type {(version: number, asOf: string) => string} */
    const keyOf = (version, asOf) => pictureRequest({ ...TILES, billow: { version, asOf } }, FIRST, 1, () => 6).key;
    equal(keyOf(9, "2026-07-21T20:00:11Z"), keyOf(7, "2026-07-21T20:00:01Z"), "within the minute");
    ok(keyOf(7, "2026-07-21T20:01:01Z") !== keyOf(7, "2026-07-21T20:00:01Z"), "reports have aged");
});

test("other filters, layers or instants are other subjects; a newer snapshot is not", () => {
    const subjects = [
        FIRST, { ...FIRST, hours: 4 }, { ...FIRST, minSeverity: 1 }, { ...FIRST, layers: ["hexagons", "traffic"] },
        { ...FIRST, time: 5 },
    ]
        .map(subjectOf);
    equal(new Set(subjects).size, subjects.length);
    const newer = pictureRequest({ ...TILES, billow: { version: 8, asOf: "2026-07-21T20:00:11Z" } }, FIRST, 1);
    equal(newer.subject, pictureRequest(TILES, FIRST, 1).subject);
    ok(newer.key !== pictureRequest(TILES, FIRST, 1).key, "another key");
    ok(pictureRequest(TILES, FIRST, 2).key !== pictureRequest(TILES, FIRST, 1).key, "finer tiles are another picture");
});

test("fields and layers of another opacity are separate parts, in the order of the layers", () => {
    const view = { ...FIRST, layers: ["gtg", "hazards", "hexagons", "pireps"], opacities: { hazards: 40 } };
    equal(groupsOf(view).map(({ layers, opacity }) => `${layers}:${opacity}`),
        ["gtg:1", "hazards:0.4", "hexagons,pireps:1"]);
    const { parts } = pictureRequest(TILES, view, 1, (layers) => (layers.includes("gtg") ? 3 : 7));
    equal(parts.map(({ template }) => template.split("/")[4]), ["gtg", "hazards", "hexagons,pireps"]);
    ok(parts[0].key.startsWith("3-") && parts[1].key.startsWith("7-"), "each by what changed it");
});

test("a filter that selects smooth air leaves the smooth air of a field transparent", () => {
    const view = { ...FIRST, layers: ["gtg", "hexagons", "pireps"], severities: [0, 1, 2, 4] };
    /** @type {[number | null, boolean][]} */
    const requests = [[null, true], [null, false], [0, true]];
    for (const [time, isFirst] of requests) {
        const { parts } = pictureRequest(TILES, { ...view, time }, 1, null, isFirst);
        equal(parts.map(({ layers, template, opacity }) =>
            [layers.join(), new URL(template).searchParams.get("severity"), opacity]),
        [["gtg", "1,2,4", 1], ["hexagons,pireps", "0,1,2,4", 1]]);
    }
    // A field of smooth air alone is as transparent, but its hatch stays.
    const { parts: [field, others] } = pictureRequest(TILES, { ...view, severities: [0] }, 1);
    equal([field, others].map(({ template, opacity }) => [new URL(template).searchParams.get("opacity"), opacity]),
        [["0", 1], [null, 1]]);
    equal(groupsOf({ ...view, time: 0, severities: [1, 3] }).length, 1, "without smooth air one part suffices");
    ok(subjectOf({ ...view, severities: [0] }) !== subjectOf(view), "each selection is another subject");
});

test("the first picture of a subject has a field and other layers in one part, and its renewal does not", () => {
    const view = { ...FIRST, layers: ["gtg", "hexagons"] };
    const [first, renewed] = [true, false].map((isFirst) => pictureRequest(TILES, view, 1, null, isFirst));
    equal(first?.parts.map(({ layers }) => layers.join()), ["gtg,hexagons"]);
    equal(renewed?.parts.map(({ layers }) => layers.join()), ["gtg", "hexagons"]);
    equal(first?.subject, renewed?.subject);
});
