// @ts-check
import { byId, element, swatch } from "/js/dom.js";
import { bearingText, centroid, pixelDistance } from "/js/distance.js";
import { boxAround, isUrgent } from "/js/place-features.js";
import { patchChildren } from "/js/dom-patch.js";
import { middle } from "/timeline.js";
import { equal, ok, test, throws } from "../harness.js";

test("a box around a place is as wide as high on the map, and stays on the earth", () => {
    equal(boxAround(10, 0, 0.5), "9.50000,-0.50000,10.50000,0.50000");
    equal(boxAround(10, 60, 0.5), "9.50000,59.75000,10.50000,60.25000");
    equal(boxAround(179.9, 89.999, 0.5).split(",").map(Number).every((side) => Math.abs(side) <= 180), true);
});

test("a place is in a polygon by its outline", () => {
    const square = { type: "Polygon", coordinates: [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]] };
    /** @type {(geometry: { type: string, coordinates: any }, place: [number, number]) => boolean} */
    const contains = (geometry, place) => pixelDistance(geometry, place, 3) === 0;
    ok(contains(square, [1, 1]) && !contains(square, [3, 1]) && !contains(square, [1, 3]), "a square");
    const two = { type: "MultiPolygon", coordinates: [[[[10, 0], [11, 0], [11, 1], [10, 0]]], square.coordinates] };
    ok(contains(two, [1, 1]) && contains(two, [10.9, 0.5]) && !contains(two, [5, 0.5]), "two parts");
});

test("how far a feature is counts in the map's pixels, and where it lies in nautical miles", () => {
    // At zoom 0 the world is 512 pixels wide, so that a degree of longitude is 512 / 360.
    const square = { type: "Polygon", coordinates: [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]] };
    ok(Math.abs(pixelDistance(square, [5, 1], 0) - (3 * 512) / 360) < 1e-9, "beside");
    ok(Math.abs(pixelDistance({ type: "Point", coordinates: [9, 0] }, [0, 0], 1) - (9 * 1024) / 360) < 1e-9, "a point");
    equal(centroid(square), [1, 1]);
    equal(bearingText([0, 0], [0, 1]), "60 NM north");
    equal(bearingText([0, 0], [0.1, 0]), "6.0 NM east");
    equal(bearingText([0, 0], [-1, -1]), "85 NM south-west");
});

test("a card that is asked for again keeps its elements, what is open and the focus", () => {
    const card = document.body.appendChild(element("div"));
    /** @type {string[]} */
    const clicks = [];
    /** @param {string} age */
    const content = (age) => [
        element("h3", {}, "Moderate"), element("p", {}, age),
        element("button", { type: "button", onclick: () => clicks.push(age) }, "Look ahead"),
        element("details", {}, element("summary", {}, "More")),
    ];
    patchChildren(card, content("4 s"));
    const [heading, paragraph, button, details] = card.children;
    /** @type {HTMLElement} */ (button).focus();
    /** @type {HTMLDetailsElement} */ (details).open = true;
    patchChildren(card, content("5 s"));
    equal([card.children[0] === heading, card.children[1] === paragraph], [true, true]);
    equal([paragraph.textContent, document.activeElement === button], ["5 s", true]);
    ok(/** @type {HTMLDetailsElement} */ (details).open, "it stays open");
    /** @type {HTMLElement} */ (button).click();
    equal(clicks, ["5 s"], "it does what it says now");
    patchChildren(card, [element("p", {}, "gone")]);
    equal(card.textContent, "gone");
    card.remove();
});

test("a report is urgent by the service's text for it", () => {
    for (const type of ["Urgent PIREP", "UUA", "urgent"]) ok(isUrgent({ type }), type);
    for (const type of ["PIREP", "AIREP", "", null, undefined]) ok(!isUrgent({ type }), `${type}`);
});

test("the middle of a feature is its place or the mean of its outline, across the antimeridian too", () => {
    equal(middle({ type: "Point", coordinates: [5, 6] }), [5, 6]);
    equal(middle({ type: "Polygon", coordinates: [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]] }), [1, 1]);
    equal(
        middle({ type: "MultiPolygon", coordinates: [[[[179, 0], [-179, 0], [-179, 2], [179, 2], [179, 0]]]] }),
        [180, 1],
    );
});

test("what a server says is text on the page, never markup", () => {
    const node = element(
        "p", { className: "note", "data-x": 5, hidden: true }, "<img src=x onerror=alert(1)>", null,
        element("b", {}, "b"),
    );
    equal(node.children.length, 1);
    equal([node.className, node.getAttribute("data-x"), node.hidden], ["note", "5", true]);
    ok(node.textContent?.startsWith("<img"), "as text");
    const svg = swatch({ severity: 3, label: "x", fill: "#FF7100", opacity: 0.8, border: { colour: "#898989" } });
    equal(svg.querySelector("path")?.getAttribute("stroke"), "#898989");
});

test("an element that the page lacks, or of another kind, is named", async () => {
    equal(byId("scrubber", HTMLInputElement).type, "range");
    await throws(() => byId("nothing"), /no element #nothing/);
    await throws(() => byId("scrubber", HTMLSelectElement), /no HTMLSelectElement #scrubber/);
});
