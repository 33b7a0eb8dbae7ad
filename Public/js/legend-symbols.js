// @ts-check
// The signs of layers other than turbulence, and the marks of the timeline, below the legend. A warning names the
// severities that the map hides.
import { element, setText } from "./dom.js";
import { countedText, warnOfHidden } from "./hidden-severities.js";
import { isArea, isField, layerName, showsCells } from "./layers.js";

/** The bars of the timeline have the colour of this severity: moderate. */
const BAR_SEVERITY = 3;

/** Shows the signs of layers as the server draws them, and above them the marks of the timeline.
 * @param {HTMLElement} symbols
 * @param {Billow.View} view  of the pixels on the map
 * @param {string} style
 * @param {Map<number, Billow.LegendEntry>} entries  of the severities
 * @param {(difference: Partial<Billow.View>) => void} changed */
export function showSymbols(symbols, view, style, entries, changed) {
    const { layers } = view;
    const theme = `${document.body.dataset.theme}`;
    warnOfHidden(view, changed).catch(() => {});
    showTimelineKey(symbols, view, entries.get(BAR_SEVERITY)?.fill ?? "");
    showUnrated(symbols, view);
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

/** Says that a filter for severities hides areas without one, such as of thunderstorms or wind shear.
 * @param {HTMLElement} symbols  below the words
 * @param {Billow.View} view */
function showUnrated(symbols, view) {
    const legend = symbols.parentElement;
    const isHidden = (view.severities !== null || view.minSeverity > 0) && view.layers.some(isArea);
    const words = legend?.querySelector(".unrated");
    if (!isHidden) return words?.remove();
    if (!words) legend?.querySelector("ul")?.after(element("p", { className: "note caution unrated" },
        "Hazard areas without a severity are hidden too."));
}

/** Explains the marks of the timeline in a line with samples of them.
 * @param {HTMLElement} symbols  below the line
 * @param {Billow.View} view
 * @param {string} fill  the colour of the bars */
function showTimelineKey(symbols, view, fill) {
    // Before the server's legend has loaded, there is no place for the line.
    if (!symbols.parentElement) return;
    const before = symbols.previousElementSibling;
    const line = before instanceof HTMLElement && before.matches(".timeline-key") ? before : timelineKey();
    if (line !== before) symbols.before(line);
    line.classList.toggle("has-field", view.layers.some(isField));
    setText(line.querySelector(".counted"), countedText(view).replace("M", "m"));
    line.style.setProperty("--bar", fill);
}

function timelineKey() {
    /** @param {string} name */
    const sample = (name) => element("i", { className: name });
    return element("p", { className: "note caution timeline-key" }, "Timeline: ",
        element("span", {}, sample("count"), " ", element("span", { className: "counted" }),
            element("small", {}, " turbulence of each frame")),
        element("span", { className: "striped" }, sample("count of-field"), " computed"),
        element("span", {}, sample("lacks"), " incomplete"));
}
