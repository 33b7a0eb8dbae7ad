// @ts-check
// The legend, from the server's own: the page has no colours of its own for severities.
import { element, swatch } from "./dom.js";
import { getJSON } from "./server.js";
import { layerName } from "./view.js";

export class Legend {
    #root;
    /** @type {Map<number, Billow.LegendEntry>} */
    #entries = new Map();
    #style = "";
    #loaded = "";
    #least = 0;
    #symbols = element("details", { className: "symbols", hidden: true });

    /** @param {HTMLElement} root */
    constructor(root) { this.#root = root; }

    /** The entry of a severity from 0 to 4, or undefined.
     * @param {number} severity */
    entry(severity) { return this.#entries.get(severity); }

    /** Fetches and shows that of the style, where it isn't there yet. Throws ServerError. */
    async load() {
        const style = this.#style;
        if (style === this.#loaded) return;
        /** @type {Billow.Legend} */
        const legend = await getJSON("legend.json", new URLSearchParams({ layer: "hexagons", style }));
        if (style !== this.#style) return;
        this.#loaded = style;
        this.#entries = new Map(legend.entries.map((entry) => [entry.severity, entry]));
        const list = element("ul", {}, ...legend.entries.map((entry) =>
            element("li", { "data-severity": entry.severity }, swatch(entry), element("span", {}, entry.label))));
        // Banners say that the data is simulated, stale or incomplete, and this legend is loaded once.
        const passing = /^(Simulated data$|Stale:|Incomplete:)/;
        const notes = (legend.notes ?? []).filter((note) => !passing.test(note)).map(
            (note) => element("p", { className: "note" }, note)
        );
        this.#root.replaceChildren(element("h2", {}, legend.title), list, ...notes, this.#symbols);
        this.#mark();
    }

    /** Explains what a view shows.
     * @param {Billow.View} view
     * @param {Billow.Style} style */
    show(view, { id, theme }) {
        this.#style = id;
        this.#least = view.minSeverity;
        this.#root.dataset.theme = theme;
        this.#mark();
        this.#showSymbols(view.layers, id, theme);
    }

    /** The signs of other layers than turbulence, in the server's own drawing.
     * @param {string[]} layers
     * @param {string} style
     * @param {string} theme */
    #showSymbols(layers, style, theme) {
        const others = layers.filter((id) => id !== "hexagons" && id !== "polygons");
        this.#symbols.hidden = !others.length;
        const parameters = new URLSearchParams({ layer: others.join(), style, theme });
        if (!others.length || this.#symbols.dataset.shown === `${parameters}`) return;
        this.#symbols.dataset.shown = `${parameters}`;
        const image = element(
            "img",
            {
                src: `legend.svg?${parameters}`,
                alt: `Signs of ${others.map(layerName).join(", ")}`, loading: "lazy",
            },
        );
        this.#symbols.replaceChildren(element("summary", {}, "Other signs"), image);
    }

    /** Strikes what the filter leaves out. */
    #mark() {
        for (const item of this.#root.querySelectorAll("li[data-severity]")) {
            item.classList.toggle("left-out", Number(item.getAttribute("data-severity")) < this.#least);
        }
    }
}
