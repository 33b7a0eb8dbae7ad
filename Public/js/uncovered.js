// @ts-check
// Measures the part of the map that no card covers, and uncovers it. The page loads this module with a route, flight or
// card of a place.
import { byId } from "./dom.js";
import { freeArea } from "./free-area.js";
import { COMPACT } from "./layout.js";

/** Windows of at most this height have the card of a place at the right. viewer.css has the same limit. */
const LOW_PIXELS = 560;

/** Closes the sheet of the settings, which covers the map in narrow or low windows. */
export function closeSheet() {
    const toggle = byId("toggle");
    if (COMPACT.matches && toggle.getAttribute("aria-expanded") === "true") toggle.click();
}

/** The parts of the window that cards cover. The settings do not count where they are a sheet, which is open for a
 * moment only. A card of a place or route counts with all the room that it may take, because it grows as it loads.
 * @param {boolean} [hasCard]  whether a card of a place or route is open, or will be
 * @returns {import("./free-area.js").Area[]} */
export function cardAreas(hasCard = isSeen(byId("route")) || isSeen(byId("details"))) {
    const cards = [...document.querySelectorAll(
        ".bar, .banner, .legend, .dock, .maplibregl-ctrl-bottom-right .maplibregl-ctrl")];
    if (!COMPACT.matches) cards.push(byId("settings"));
    const areas = cards.filter(isSeen).map((card) => card.getBoundingClientRect());
    if (!hasCard) return areas;
    const [right, bottom] = [innerWidth, innerHeight];
    const column = document.querySelector(".right")?.getBoundingClientRect();
    // viewer.css has the same limits.
    const isBelow = COMPACT.matches && innerHeight > LOW_PIXELS;
    if (isBelow) return [...areas, new DOMRect(0, bottom / 2, right, bottom / 2)];
    return column ? [...areas, new DOMRect(column.left, 0, right - column.left, column.bottom)] : areas;
}

/** Whether a card or an edge of the window covers a mark.
 * @param {{ x: number, y: number }} centre
 * @param {number} radius */
export function isCovered({ x, y }, radius) {
    const cards = [...document.querySelectorAll(".right > *")].filter(isSeen)
        .map((card) => card.getBoundingClientRect());
    return x < radius || y < radius || x > innerWidth - radius || y > innerHeight - radius
        || [...cards, ...cardAreas(false)].some(({ left, right, top, bottom }) =>
            x > left - radius && x < right + radius && y > top - radius && y < bottom + radius);
}

/** @param {Element} card */
function isSeen(card) {
    return card.getBoundingClientRect().width > 0 && getComputedStyle(card).visibility === "visible";
}

/** Calls back after a card has appeared, disappeared or changed its size.
 * @param {() => void} changed */
export function onCardChange(changed) {
    const observer = new ResizeObserver(changed);
    for (const card of document.querySelectorAll("#top, #banners, .legend, .dock, .settings, .right > *")) {
        observer.observe(card);
    }
}

/** The largest uncovered part of the map while a card is open. */
export const uncoveredArea = () => freeArea(innerWidth, innerHeight, cardAreas(true),
    ({ left, right, top, bottom }) => (right - left) * (bottom - top));

/** The centre of the uncovered part of the map, in pixels from the centre of the map.
 * @returns {[x: number, y: number]} */
export function uncoveredCentre() {
    const { left, right, top, bottom } = uncoveredArea();
    return [(left + right - innerWidth) / 2, (top + bottom - innerHeight) / 2];
}
