// @ts-check
// The signs of layers other than turbulence, and the marks of the timeline, below the legend.
import { element } from "./dom.js";
import { isField, layerName, showsCells } from "./layers.js";

/** The bars of the timeline have the colour of this severity: moderate. */
const BAR_SEVERITY = 3;

/** Shows the signs of layers as the server draws them, and above them the marks of the timeline.
 * @param {HTMLElement} symbols
 * @param {string[]} layers
 * @param {string} style
 * @param {string} theme
 * @param {Map<number, Billow.LegendEntry>} entries  of the severities */
export function showSymbols(symbols, layers, style, theme, entries) {
    showTimelineKey(symbols, layers, entries.get(BAR_SEVERITY)?.fill ?? "");
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

/** Explains the marks of the timeline in a line with samples of them.
 * @param {HTMLElement} symbols  below the line
 * @param {string[]} layers
 * @param {string} fill  the colour of the bars */
function showTimelineKey(symbols, layers, fill) {
    // Before the server's legend has loaded, there is no place for the line.
    if (!symbols.parentElement) return;
    const before = symbols.previousElementSibling;
    const line = before instanceof HTMLElement && before.matches(".timeline-key") ? before : timelineKey();
    if (line !== before) symbols.before(line);
    line.classList.toggle("has-field", layers.some(isField));
    line.style.setProperty("--bar", fill);
}

function timelineKey() {
    /** @param {string} name */
    const sample = (name) => element("i", { className: name });
    return element("p", { className: "note caution timeline-key" }, "Timeline: ",
        element("span", {}, sample("count"), " moderate or worse", element("small", {}, " turbulence of each frame")),
        element("span", { className: "striped" }, sample("count of-field"), " computed"),
        element("span", {}, sample("lacks"), " incomplete"));
}
