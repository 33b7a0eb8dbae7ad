// @ts-check
// The style sheet positions the cards. This module gives it their heights, so that no card covers another.
import { byId } from "./dom.js";

/** Narrow or low windows: the settings are a sheet, the legend is a strip. viewer.css has the same limits. */
export const COMPACT = matchMedia("(max-width: 900px), (max-height: 560px)");

/** Sets --top, --banners, --dock, --legend and --card-height to the heights of the cards at the edges, and updates them
 * when they change. */
export function measureCards() {
    const cards = {
        "--top": byId("top"), "--banners": byId("banners"), "--dock": byId("dock"), "--legend": byId("legend"),
        "--card-height": byId("right"),
    };
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
