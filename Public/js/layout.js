// @ts-check
// Where the cards lie is the style sheet's. It is told how high they are, so that none covers another.
import { byId } from "./dom.js";

const LOW_PIXELS = 560;
/** Narrow or low windows: the settings are a sheet, the legend is a strip. viewer.css has the same. */
export const COMPACT = matchMedia("(max-width: 900px), (max-height: 560px)");

/** How many pixels of the map cards cover at its edges while a card is open: what one is to see lies between. */
export function coveredEdges() {
    if (!COMPACT.matches) return { left: 350, right: 350, top: 70, bottom: 150 };
    // A phone that lies has the card at its right, any other at the lower half: viewer.css has the same.
    if (innerHeight <= LOW_PIXELS) return { left: 30, right: 400, top: 70, bottom: 30 };
    return { left: 40, right: 70, top: byId("top").offsetHeight + 30, bottom: innerHeight / 2 + 30 };
}

/** Where the middle of what the cards leave free is, in pixels from the middle of the map.
 * @returns {[x: number, y: number]} */
export function middleOfRoom() {
    const { left, right, top, bottom } = coveredEdges();
    return [(left - right) / 2, (top - bottom) / 2];
}

/** Tells the style sheet the heights of the cards at the edges, as --top, --dock and --legend. */
export function measureCards() {
    const cards = { "--top": byId("top"), "--dock": byId("dock"), "--legend": byId("legend") };
    const measure = () => {
        for (const [name, card] of Object.entries(cards)) {
            document.documentElement.style.setProperty(name, `${card.offsetHeight}px`);
        }
    };
    const observer = new ResizeObserver(measure);
    for (const card of Object.values(cards)) observer.observe(card);
    measure();
}
