// @ts-check
import { inDrawingOrder, layerName, LAYERS } from "/js/layers.js";
import {
    filters, formatHash, filterText, opacityText, parseHash, severitiesOf, severityText, showsSeverity, summary,
} from "/js/view.js";
import { equal, ok, test } from "../harness.js";

const FIRST = parseHash("").view;

test("an empty hash is the default view, without a problem", () => {
    const { view, problems } = parseHash("");
    equal(problems, []);
    equal(view.time, null);
    equal(view.layers, inDrawingOrder(LAYERS.filter(({ isShownAtFirst }) => isShownAtFirst).map(({ id }) => id)));
    ok(view.layers.length > 0, "a layer is shown");
});

test("a view survives a round trip through its hash", () => {
    const times = [null, Date.UTC(2026, 6, 21, 20)];
    for (const time of times) {
        for (const minSeverity of [0, 1, 4]) {
            for (const [minAltitude, maxAltitude] of [[null, null], [18_000, null], [null, 41_000], [1_000, 2_000]]) {
                const view = {
                    ...FIRST, layers: ["hexagons", "traffic"], hours: 0.5, time, minSeverity,
                    zoom: 5.25, longitude: -71.5, latitude: 40.125,
                    minAltitude: minAltitude ?? null, maxAltitude: maxAltitude ?? null,
                    route: "KJFK 4430N05000W EGLL", isRouteOpen: time === null,
                    place: minSeverity ? /** @type {[number, number]} */ ([-71.25, 40.5]) : null,
                };
                const back = parseHash(formatHash(view));
                equal(back.problems, []);
                equal(back.view, view);
            }
        }
    }
    equal(formatHash(FIRST).split("&").length, 1, "members at their default are omitted");
});

test("category and sources are part of the link, of all requests and of the texts", () => {
    const view = { ...FIRST, category: "C40", sources: ["a b", "c&d"] };
    const back = parseHash(formatHash(view));
    equal(back.problems, []);
    equal(back.view, view);
    equal(filters(view).get("category"), "C40");
    equal(filters(view).get("source"), "a b,c&d");
    equal(filterText(view), "Only for C40, from a b and c&d");
    ok(summary(view).includes("for C40 · from a b and c&d"), summary(view));
    equal([filters(FIRST).has("category"), filters(FIRST).has("source")], [false, false]);
});

test("an invalid member keeps its default and is reported", () => {
    const cases = {
        "layers=hexagons,nonsense": "layers", "layers=": "layers", "hours=3": "hours", "hours=": "hours",
        "min=18500": "min", "min=60000": "min",
        "min=30000&max=20000": "max", "max=0": "max", "severity=5": "severity", "time=yesterday": "time",
        "category=heavy": "category", "sources=": "sources", "sources=a,,b": "sources",
        "time=20260230T000000Z": "time",
        "place=95/0": "place", "place=1": "place", "routecard=open": "routecard",
        "map=5/95/0": "map", "map=5//0": "map", "map=x": "map",
    };
    for (const [hash, name] of Object.entries(cases)) {
        const { view, problems } = parseHash(`#${hash}`);
        equal(problems.length, 1, hash);
        ok(problems[0]?.startsWith(`${name} is `), `${problems[0]} names ${name}`);
        equal({ ...view, minAltitude: null }, FIRST, hash);
    }
    ok((parseHash(`#time=${"9".repeat(500)}`).problems[0] ?? "").length < 120, "a long value is cut");
});

test("an unknown name in a link is reported once, in the words of an invalid value", () => {
    for (const hash of ["lyers=hexagons", "lyers=hexagons&lyers=pireps", "lyers"]) {
        const { view, problems } = parseHash(`#${hash}`);
        equal(problems.length, 1, hash);
        ok(/^lyers is unknown; it must be one of layers, .*, map$/.test(problems[0] ?? ""), `${problems[0]}`);
        equal(view, FIRST, hash);
    }
    const { problems } = parseHash(`#${"x".repeat(500)}=1&hours=4`);
    ok(problems.length === 1 && problems[0].startsWith(`${"x".repeat(40)} is unknown`), `${problems}`);
});

test("a link with an unknown layer names it, and counts as one without layers", () => {
    for (const name of ["layers", "order"]) {
        const { view, problems, named } = parseHash(`#${name}=hexagons,nonsens,pireps&hours=4`);
        equal(problems.length, 1);
        ok(problems[0].startsWith(`${name} is "hexagons,nonsens,pireps"; nonsens is unknown; it must be a list of `),
            problems[0]);
        equal([view.layers, named], [FIRST.layers, ["hours"]]);
    }
    equal(parseHash("#layers=hexagons&map=x").named, ["layers"]);
});

test("a severity and all worse ones are a minimum severity; other selections are lists", () => {
    equal(severitiesOf([4, 3]), { minSeverity: 3, severities: null });
    equal(severitiesOf([]), { minSeverity: 0, severities: null });
    equal(severitiesOf([3, 1, 3]), { minSeverity: 1, severities: [1, 3] });
    const { view } = parseHash("#severities=1,3");
    equal(filters(view).get("severity"), "1,3");
    equal([filters(view).has("minSeverity"), showsSeverity(view, 2), showsSeverity(view, 3)], [false, false, true]);
    ok(formatHash(view).endsWith("&severities=1,3"), formatHash(view));
    equal(filterText(view), "Only Light and Moderate");
    const without = { ...view, severities: [0, 1, 2, 4] };
    equal(filterText(without), "Without Moderate", "the shorter text");
    equal(filterText({ ...without, minAltitude: 30_000, sources: ["a"] }),
        "Only FL300 and above, from a, without Moderate");
    ok(summary(without).includes(" · Without Moderate · "), summary(without));
});

test("layers have one order, each once, and areas lie below cells", () => {
    const ids = LAYERS.map(({ id }) => id);
    const ordered = inDrawingOrder([...ids].reverse().concat(ids));
    equal([...ordered].sort(), [...ids].sort());
    equal(inDrawingOrder(["pireps", "hexagons", "hazards"]), ["hazards", "hexagons", "pireps"]);
    equal(inDrawingOrder(["unknown"]), []);
    equal(layerName("unknown"), "unknown");
});

test("the filters are the server's parameters, without open ends", () => {
    equal(filters({ ...FIRST, hours: 2 }).toString(), "hours=2");
    const all = filters({ ...FIRST, hours: 0.5, minAltitude: 18_000, maxAltitude: 41_000, minSeverity: 3 });
    equal(all.toString(), "hours=0.5&minAltitude=18000&maxAltitude=41000&minSeverity=3");
});

test("a text describes the filters", () => {
    equal(filterText(FIRST), null);
    equal(filterText({ ...FIRST, minAltitude: 30_000, minSeverity: 3 }), "Only FL300 and above, Moderate or worse");
    equal(severityText(4), "Moderate-Occasionally Severe");
    ok(summary(FIRST).startsWith("Live · "), summary(FIRST));
});

test("the header names translucent layers, because a pale colour looks like a lighter severity", () => {
    const { view } = parseHash("#layers=hexagons,pireps&opacity=hexagons:30,hazards:40");
    equal(opacityText(view), "Paler than the legend: Hexagons 30 %");
    ok(summary(view).endsWith(" · Hexagons at 30 %, PIREPs"), summary(view));
    equal([opacityText(FIRST), summary(FIRST).includes("%")], [null, false]);
});
