// @ts-check
// The style sheet positions the cards. This module gives it their heights, so that no card covers another.
import { byId } from "./dom.js";

const LOW_PIXELS = 560;
/** Narrow or low windows: the settings are a sheet, the legend is a strip. viewer.css has the same limits. */
export const COMPACT = matchMedia("(max-width: 900px), (max-height: 560px)");

/** Closes the sheet of the settings, which covers the map in narrow or low windows. */
export function closeSheet() {
    const toggle = byId("toggle");
    if (COMPACT.matches && toggle.getAttribute("aria-expanded") === "true") toggle.click();
}

/** The width of the map's edges that cards cover while a card is open, in pixels. */
export function coveredEdges() {
    // The card of a route is wider in a wide window.
    if (!COMPACT.matches) return { left: 350, right: innerWidth >= 1300 ? 450 : 350, top: 70, bottom: 150 };
    // A low window, such as a phone held sideways, has the card at the right and the timeline below. Others have the
    // card in the lower half. viewer.css has the same limits.
    if (innerHeight <= LOW_PIXELS) return { left: 30, right: 400, top: 70, bottom: byId("dock").offsetHeight + 30 };
    return { left: 40, right: 70, top: byId("top").offsetHeight + 30, bottom: innerHeight / 2 + 30 };
}

/** The centre of the uncovered part of the map, in pixels from the centre of the map.
 * @returns {[x: number, y: number]} */
export function uncoveredCentre() {
    const { left, right, top, bottom } = coveredEdges();
    return [(left - right) / 2, (top - bottom) / 2];
}

/** Sets --top, --dock and --legend to the heights of the cards at the edges, and updates them on resize. */
export function measureCards() {
    const cards = { "--top": byId("top"), "--dock": byId("dock"), "--legend": byId("legend") };
    // The browser calls back after its first layout, and before it paints.
    const measure = () => {
        const heights = Object.values(cards).map((card) => card.offsetHeight);
        for (const [index, name] of Object.keys(cards).entries()) {
            document.documentElement.style.setProperty(name, `${heights[index]}px`);
        }
    };
    const observer = new ResizeObserver(measure);
    for (const card of Object.values(cards)) observer.observe(card);
}
