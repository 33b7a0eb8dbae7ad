// @ts-check
import { recordNoResponse, recordResponse } from "/js/contact.js";
import { Inspector } from "/js/inspect.js";
import { parseHash } from "/js/view.js";
import { equal, json, ok, test, withResponses } from "../harness.js";

const NAMES = ["Smooth", "Light", "Light-Moderate", "Moderate", "Moderate-Occasionally Severe"];
const PLACE = { lng: 0, lat: 0, wrap() { return this; } };
const canvas = document.createElement("canvas");

/** Runs a test with a card whose layer is pilot reports.
 * @param {(world: { inspector: Inspector, view: Billow.View, words: (selector: string) => string }) => Promise<void>
 * } body */
async function withCard(body) {
    const { view } = parseHash("#layers=pireps");
    const project = () => ({ x: 300, y: 300 });
    const map = { on() {}, getCanvas: () => canvas, getZoom: () => 4, project, easeTo() {} };
    class Marker {
        setLngLat() { return this; }
        addTo() { return this; }
        remove() { return this; }
    }
    const legend = { entry: (/** @type {number} */ severity) => ({ fill: "#000000", label: NAMES[severity] }) };
    const callbacks = { left() {}, changed() {}, placed() {}, follow() {}, loaded() {} };
    const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
    const inspector = new Inspector(any(map), any({ Marker }), any(legend), () => view, callbacks);
    const words = (/** @type {string} */ selector) =>
        [...document.querySelectorAll(`#details ${selector}`)].filter((node) => node.getClientRects().length > 0)
            .map(({ textContent }) => textContent).join(" ");
    try {
        await body({ inspector, view, words });
    } finally {
        inspector.close();
        recordResponse(Date.now());
    }
}

/** Answers with a report here, whose severity the instant decides.
 * @param {{ url: URL }} request */
const answer = ({ url }) => json({ features: url.searchParams.has("time") ? [] : [{
    geometry: { type: "Point", coordinates: [0, 0] }, properties: { severity: 3, observedAt: "2026-07-21T20:00:00Z" },
}] });

test("the hidden text of a card says what the card says, also at another time and after closing",
    () => withResponses(answer, () => withCard(async ({ inspector, view, words }) => {
        inspector.open(PLACE);
        await inspector.refresh();
        equal(words("[role=status]"), "Moderate. The worst shown here, a pilot's report.");
        view.time = Date.UTC(2026, 6, 21, 8);
        await inspector.refresh();
        equal(words("[role=status]"), "Nothing here.");
        ok(words("#details-body").startsWith("Nothing here"), words("#details-body"));
        view.time = null;
        await inspector.refresh();
        equal(words("[role=status]"), "Moderate. The worst shown here, a pilot's report.");
        inspector.close();
        equal(document.querySelector("#details [role=status]")?.textContent, "");
    })));

test("the card of a lost flight is for the instant without a position",
    () => withResponses(answer, () => withCard(async ({ inspector, view }) => {
        inspector.open(PLACE);
        await inspector.refresh();
        const later = { ...view, time: Date.UTC(2026, 6, 21, 8) };
        inspector.lose("TEST1", "This flight is not tracked at 08:00:00Z.", later);
        equal(inspector.shown?.view.time, later.time);
    })));

test("a live card names its time while contact is lost, and a card of another time does not",
    () => withResponses(answer, () => withCard(async ({ inspector, view, words }) => {
        inspector.open(PLACE);
        await inspector.refresh();
        equal(words(".problem"), "");
        recordNoResponse("the request timed out");
        ok(/^No contact with the server\. This card is of \d\d:\d\d:\d\dZ/.test(words(".problem")), words(".problem"));
        recordResponse(Date.now());
        equal(words(".problem"), "");
        view.time = Date.UTC(2026, 6, 21, 8);
        await inspector.refresh();
        recordNoResponse("the request timed out");
        equal(words(".problem"), "");
    })));

test("a new card shows each layer as it arrives, and its headline when all have arrived", () => {
    let release = () => {};
    /** @type {Promise<void>} */
    const held = new Promise((resolve) => { release = resolve; });
    return withResponses(async (request) => {
        if (request.url.pathname.includes("pireps")) return answer(request);
        await held;
        return json({ features: [] });
    }, () => withCard(async ({ inspector, view, words }) => {
        view.layers = ["hexagons", "pireps"];
        inspector.open(PLACE);
        while (!words("h3")) await new Promise((resolve) => setTimeout(resolve));
        equal([words("h3"), words(".headline"), inspector.shown], ["PIREPs", "", null]);
        ok(words("#details-body").startsWith("Loading the other layers…"), words("#details-body"));
        release();
        while (!inspector.shown) await new Promise((resolve) => setTimeout(resolve));
        ok(words("#details-body").startsWith("ModerateThe worst shown here"), words("#details-body"));
        ok(words("h3").includes("PIREPs"), words("h3"));
    }));
});

test("layers that arrive soon after each other are shown together", () => {
    const begin = window.setTimeout;
    /** @type {(() => void)[]} */
    const waiting = [];
    let release = () => {};
    /** @type {Promise<void>} */
    const held = new Promise((resolve) => { release = resolve; });
    /** @type {any} */ (window).setTimeout = (/** @type {() => void} */ callback, /** @type {number} */ wait) =>
        (wait > 0 && wait <= 80 ? waiting.push(callback) : begin(callback, wait));
    const step = () => new Promise((resolve) => begin(resolve));
    return withResponses(async (request) => {
        if (request.url.pathname.includes("pireps")) return answer(request);
        await held;
        return json({ features: [] });
    }, () => withCard(async ({ inspector, view, words }) => {
        // A slow machine takes longer than the wait.
        performance.now = () => 0;
        view.layers = ["hexagons", "pireps"];
        inspector.open(PLACE);
        while (!waiting.length) await step();
        equal(words("#details-body"), "Loading…");
        for (const show of waiting) show();
        ok(words("#details-body").startsWith("Loading the other layers…PIREPs"), words("#details-body"));
        release();
        while (!inspector.shown) await step();
        for (const show of waiting) show();
        ok(words("#details-body").startsWith("ModerateThe worst shown here"), words("#details-body"));
    })).finally(() => {
        window.setTimeout = begin;
        delete /** @type {any} */ (performance).now;
    });
});
