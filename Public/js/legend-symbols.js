// @ts-check
// The signs of layers other than turbulence, below the legend.
import { element } from "./dom.js";
import { layerName, showsCells } from "./layers.js";

/** Shows the signs of layers as the server draws them.
 * @param {HTMLElement} symbols
 * @param {string[]} layers
 * @param {string} style
 * @param {string} theme */
export function showSymbols(symbols, layers, style, theme) {
    const others = layers.filter((id) => !showsCells(id));
    symbols.hidden = !others.length;
    const parameters = new URLSearchParams({ layer: others.join(), style, theme });
    if (!others.length || symbols.dataset.shown === `${parameters}`) return;
    symbols.dataset.shown = `${parameters}`;
    const image = element("img", {
        src: `legend.svg?${parameters}`, alt: `Symbols of ${others.map(layerName).join(", ")}`, loading: "lazy",
    });
    symbols.replaceChildren(element("summary", {}, "Other symbols"), image);
}
