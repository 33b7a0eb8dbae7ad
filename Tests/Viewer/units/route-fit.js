// @ts-check
import { freeArea } from "/js/free-area.js";
import { boxOf } from "/js/route-fit.js";
import { equal, test } from "../harness.js";

/** @type {(left: number, top: number, right: number, bottom: number) => import("/js/free-area.js").Area} */
const area = (left, top, right, bottom) => ({ left, top, right, bottom });
/** @param {import("/js/free-area.js").Area} free */
const pixels = ({ left, top, right, bottom }) => (right - left) * (bottom - top);

test("the free area touches the cards, and its shape is that of its content", () => {
    equal(freeArea(800, 400, [], pixels), area(0, 0, 800, 400));
    const header = area(8, 8, 338, 150);
    const card = area(476, 0, 844, 390);
    const dock = area(8, 290, 460, 382);
    const cards = [header, card, dock];
    equal(freeArea(844, 390, cards, pixels), area(0, 150, 476, 290), "below the header");
    /** @param {import("/js/free-area.js").Area} free */
    const height = (free) => (free.right - free.left > 100 ? free.bottom - free.top : 0);
    equal(freeArea(844, 390, cards, height), area(338, 0, 476, 290), "beside the header");
    equal(freeArea(100, 100, [area(-5, -5, 120, 40)], pixels), area(0, 40, 100, 100), "cards may be cut off");
});

test("the box of a corridor across the antimeridian extends beyond 180 degrees", () => {
    const ring = [[-10, 40], [20, 45], [0, 50], [-10, 40]];
    equal(boxOf({ type: "Polygon", coordinates: [ring] }), [[-10, 40], [20, 50]]);
    const parts = [[[[170, 40], [180, 40], [180, 42]]], [[[-180, 40], [-150, 50], [-180, 42]]]];
    equal(boxOf({ type: "MultiPolygon", coordinates: parts }), [[170, 40], [210, 50]]);
});
