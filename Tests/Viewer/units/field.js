// @ts-check
import { FieldNote, fieldName, fieldSections, fieldText, statementsOf } from "/js/field.js";
import { parseHash } from "/js/view.js";
import { equal, json, ok, test, withResponses } from "../harness.js";

const FIRST = { ...parseHash("").view, layers: ["gtg"], minAltitude: 30_000, maxAltitude: 40_000 };
const FORECAST = { product: "gtg", run: "2026-07-21T18:00:00Z", lead: 10_800, validTime: "2026-07-21T21:00:00Z" };
const NOWCAST = { product: "gtgn", run: "2026-07-21T20:15:00Z", lead: 0, validTime: "2026-07-21T20:15:00Z" };

test("a field's name states nowcast or forecast, run, lead time and valid time", () => {
    equal(fieldName(FORECAST), "Forecast GTG, run 21 Jul 18:00Z + 3 h 00 min, valid 21 Jul 21:00Z");
    equal(fieldName(NOWCAST), "Nowcast GTGN, valid 21 Jul 20:15Z");
    equal(fieldName({ ...NOWCAST, source: "centre-78" }), "Nowcast of WMO centre 78, valid 21 Jul 20:15Z");
});

test("the legend names the field, that it is computed, and whether one is missing", async () => {
    /** @type {string[]} */
    const requested = [];
    const features = [{ geometry: {}, properties: FORECAST }];
    await withResponses(({ url }) => {
        if (url.pathname.endsWith(".json")) return json({ time: { extent: [NOWCAST.run, FORECAST.validTime] } });
        requested.push(url.search);
        return json({ features: requested.length === 1 ? features : [] });
    }, async () => {
        const at = { ...FIRST, time: Date.UTC(2026, 6, 21, 21) };
        equal(await fieldText(at), `${fieldName(FORECAST)}. Computed, not observed.`);
        const before = { ...FIRST, time: Date.UTC(2026, 6, 21, 20) };
        ok((await fieldText(before))?.startsWith("No turbulence field is stored"), "before all");
        ok((await fieldText(FIRST))?.startsWith("No turbulence field is stored"), "none");
        equal(await fieldText({ ...FIRST, layers: ["hexagons"] }), null, "not shown");
    });
    equal(requested, ["?limit=1&time=2026-07-21T21%3A00%3A00Z", "?limit=1"]);
});

test("without contact, the legend says that the time of the field is not known, and not that it failed", async () => {
    /** @type {(string | null)[]} */
    const shown = [];
    await withResponses(() => Promise.reject(new TypeError("Failed to fetch")),
        () => new FieldNote((text) => shown.push(text)).show(FIRST));
    equal(shown.at(-1), "The time of the turbulence field is not known without contact with the server.");
});

test("the description of a field follows the frames, from a cache, and a late one replaces no newer one", async () => {
    const times = [20, 30, 40].map((minute) => Date.UTC(2026, 6, 21, 20, minute));
    /** @type {(string | null)[]} */
    const shown = [];
    /** @type {Map<string, () => void>} */
    const held = new Map();
    let count = 0;
    await withResponses(async ({ url }) => {
        if (url.pathname.endsWith(".json")) return json({ time: { extent: [NOWCAST.run, FORECAST.validTime] } });
        count += 1;
        const validTime = url.searchParams.get("time") ?? "";
        await new Promise((resolve) => held.set(validTime.slice(14, 16), () => resolve(null)));
        return json({ features: [{ geometry: {}, properties: { ...NOWCAST, validTime } }] });
    }, async () => {
        const note = new FieldNote((text) => shown.push(text));
        /** @param {string} minute */
        const answer = async (minute) => {
            while (!held.has(minute)) await new Promise((resolve) => setTimeout(resolve, 5));
            held.get(minute)?.();
        };
        const all = times.map((time) => note.show({ ...FIRST, time }));
        await answer("40");
        for (const release of held.values()) release();
        await Promise.all(all);
        equal(shown.at(-1)?.includes("20:40Z"), true, "the newest request");
        const before = count;
        await note.show({ ...FIRST, time: times[2] ?? null });
        equal([shown.at(-1)?.includes("20:40Z"), count], [true, before], "from the cache");
        // A slow response leaves no words about another instant.
        const slow = note.show({ ...FIRST, time: Date.UTC(2026, 6, 21, 20, 50) });
        while (!shown.at(-1)?.startsWith("Loading")) await new Promise((resolve) => setTimeout(resolve, 20));
        await answer("50");
        await slow;
        equal(shown.at(-1)?.includes("20:50Z"), true);
    });
});

test("the card lists the field's values, the most severe first, and missing values", async () => {
    const at = [{ altitude: 31_000, edr: 0.12, severity: 1 }, { altitude: 35_000, edr: 0.31, severity: 3 }, {
        altitude: 39_000,
    }];
    const features = at.map((properties) => ({ geometry: {}, properties: { ...NOWCAST, ...properties } }));
    await withResponses(({ url }) => {
        const requested = ["coords", "z"].map((name) => url.searchParams.get(name));
        equal(requested, ["POINT(-97.50000 35.00000)", "30000/40000"]);
        return json({ features });
    }, async () => {
        const [section] = await fieldSections(FIRST, -97.5, 35, new AbortController().signal);
        equal([...section?.querySelectorAll("li") ?? []].map((line) => line.textContent), [
            "FL350EDR 0.31, moderate", "FL310EDR 0.12, light", "FL390no value here",
        ]);
        ok(section?.textContent?.includes("Nowcast GTGN, valid 21 Jul 20:15Z. Computed, not observed."), "named");
    });
});

test("the card counts the values that it leaves out, one or several", async () => {
    /** @param {number} count */
    const lastNote = async (count) => {
        const features = Array.from({ length: count }, (_, index) => ({
            geometry: {},
            properties: { ...NOWCAST, altitude: 30_000 + 1_000 * index, edr: 0.5 - index / 100, severity: 3 },
        }));
        /** @type {HTMLElement | undefined} */
        let section;
        await withResponses(() => json({ features }), async () => {
            [section] = await fieldSections(FIRST, -97.5, 35, new AbortController().signal);
        });
        const lines = section?.querySelectorAll("li").length ?? 0;
        return [count - lines, section?.lastElementChild?.textContent];
    };
    const [, most] = await lastNote(3);
    ok(!/lower value/.test(`${most}`), `all values are listed: ${most}`);
    const [many, words] = await lastNote(20);
    ok(Number(many) > 1, `${many} are left out`);
    equal(words, `and ${many} lower values`);
    equal(await lastNote(20 - Number(many) + 1), [1, "and 1 lower value"]);
});

test("a click beside a worse cell of the field means that cell, within 12 pixels", async () => {
    /** A cell east of the place. A pixel has 0.044 degrees at zoom 4.
     * @param {number} east
     * @param {number} severity */
    const cell = (east, severity) => {
        const [west, side] = [-97.5 + east, 0.1];
        const ring = [[west, 34.95], [west + side, 34.95], [west + side, 35.05], [west, 35.05], [west, 34.95]];
        return { geometry: { type: "Polygon", coordinates: [ring] }, properties: { ...NOWCAST, severity, edr: 0.4 } };
    };
    await withResponses(({ url }) => json({ features: url.pathname.endsWith("position")
        ? [{ geometry: {}, properties: { ...NOWCAST, edr: 0.2, severity: 2 } }] : [cell(0.3, 3), cell(0.9, 4)] }),
    async () => {
        const view = { ...FIRST, minSeverity: 3 };
        const [section] = await fieldSections(view, -97.5, 35, new AbortController().signal, 4);
        const text = section?.textContent ?? "";
        ok(/Moderate [^-].*of the marker/.test(text), text);
    });
});

test("with a filter for sources, the legend and the card describe only the field that the map shows", async () => {
    const view = { ...FIRST, category: "C40", sources: ["a", "b c"] };
    /** @type {string[]} */
    const requested = [];
    await withResponses(({ url }) => {
        requested.push(...["source", "category"].map((name) => `${url.searchParams.get(name)}`));
        return json({ features: [] });
    }, async () => {
        equal(await fieldText(view),
            "No turbulence field of a or b c is stored for this time. This does not mean smooth air.");
        const [section] = await fieldSections(view, -97.5, 35, new AbortController().signal);
        ok(section?.textContent?.includes("No field of a or b c has a value here at this time."), "said");
    });
    equal(requested, ["a,b c", "C40", "a,b c", "C40"]);
});

test("a card states each value of a field once, with its levels", () => {
    const value = (/** @type {number | undefined} */ altitude, /** @type {number} */ edr, severity = 0) =>
        ({ altitude, edr, severity });
    equal(statementsOf([value(undefined, 0.1), value(42_000, 0.1), value(40_000, 0.1), value(10_000, 0.08)]), [
        { names: ["FL400", "FL420"], text: "EDR 0.10, smooth" }, { names: ["FL100"], text: "EDR 0.08, smooth" },
    ]);
    // The map's colour is that of the column, so its value stays where no level has it.
    equal(statementsOf([value(undefined, 0.3, 2), value(10_000, 0.08)]).map(({ names }) => names),
        [["Whole column"], ["FL100"]]);
    equal(statementsOf([value(undefined, 0.1, 1), value(10_000, 0.1, 0)]).length, 2, "of different severities");
});
