// @ts-check
// Where the cards lie is the style sheet's. It is told how high they are, so that none covers another.
import { byId } from "./dom.js";

/** Narrow or low windows: the settings are a sheet, the legend is a strip. viewer.css has the same. */
export const COMPACT = matchMedia("(max-width: 900px), (max-height: 560px)");

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
