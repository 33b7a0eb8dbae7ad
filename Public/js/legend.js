// @ts-check
// The legend, made from the server's: the page defines no colours of severities.
import { element, swatch } from "./dom.js";
import { getJSON } from "./server.js";
import { CELLS, isArea, layerName, showsCells } from "./layers.js";
import { severitiesOf, showsSeverity } from "./view.js";

export class Legend {
    #root;
    #changed;
    /** @type {Map<number, Billow.LegendEntry>} */
    #entries = new Map();
    #style = "";
    #loaded = "";
    /** @type {Billow.View | null} */
    #view = null;
    #field = element("p", { className: "note caution", hidden: true });
    #symbols = element("details", { className: "symbols", hidden: true });
    #lastOne = element("p", { className: "note caution", role: "status", hidden: true },
        "The last severity stays: an empty map would look like smooth air.");

    #unrated = element("p", { className: "note caution", hidden: true },
        "Hazard areas without a severity are hidden too.");

    /** @param {HTMLElement} root
     * @param {(difference: Partial<Billow.View>) => void} changed */
    constructor(root, changed) {
        this.#root = root;
        this.#changed = changed;
    }

    /** The entry of a severity from 0 to 4, or undefined.
     * @param {number} severity */
    entry(severity) { return this.#entries.get(severity); }

    /** Fetches and shows the legend of the style, unless it is shown. Throws ServerError. */
    async load() {
        const style = this.#style;
        if (style === this.#loaded) return;
        /** @type {Billow.Legend} */
        const legend = await getJSON("legend.json", new URLSearchParams({ layer: CELLS, style }));
        if (style !== this.#style) return;
        this.#loaded = style;
        this.#entries = new Map(legend.entries.map((entry) => [entry.severity, entry]));
        const list = element("ul", {}, ...legend.entries.map((entry) =>
            element("li", {}, element("button", {
                type: "button", "data-severity": entry.severity, title: "Show or hide",
                onclick: () => this.#toggle(entry.severity),
            }, swatch(entry), element("span", {}, entry.label)))));
        // Banners state that data is simulated, stale or incomplete, because this legend is loaded once.
        const passing = /^(Simulated data$|Stale:|Incomplete:)/;
        const notes = (legend.notes ?? []).filter((note) => !passing.test(note)).map(
            (note) => element("p", { className: "note" }, note)
        );
        this.#root.replaceChildren(
            element("h2", {}, legend.title), list, this.#lastOne, this.#unrated, ...notes, this.#field, this.#symbols,
            element("p", { className: "note caution" }, "Not for navigation."));
        this.#mark();
    }

    /** Explains the layers of a view.
     * @param {Billow.View} view
     * @param {Billow.Style} style */
    show(view, { id, theme }) {
        this.#style = id;
        this.#view = view;
        document.body.dataset.theme = theme;
        this.#mark();
        this.#showSymbols(view.layers, id, theme);
    }

    /** Names the turbulence field that the map shows; null for none.
     * @param {string | null} text */
    showField(text) {
        this.#field.hidden = text === null;
        this.#field.textContent = text;
    }

    /** The signs of layers other than turbulence, as the server draws them.
     * @param {string[]} layers
     * @param {string} style
     * @param {string} theme */
    #showSymbols(layers, style, theme) {
        const others = layers.filter((id) => !showsCells(id));
        this.#symbols.hidden = !others.length;
        const parameters = new URLSearchParams({ layer: others.join(), style, theme });
        if (!others.length || this.#symbols.dataset.shown === `${parameters}`) return;
        this.#symbols.dataset.shown = `${parameters}`;
        const image = element(
            "img",
            {
                src: `legend.svg?${parameters}`,
                alt: `Symbols of ${others.map(layerName).join(", ")}`, loading: "lazy",
            },
        );
        this.#symbols.replaceChildren(element("summary", {}, "Other symbols"), image);
    }

    /** Shows or hides a severity. The last one stays, because an empty map would look like smooth air.
     * @param {number} severity */
    #toggle(severity) {
        const view = this.#view;
        if (!view) return;
        const shown = [...this.#entries.keys()].filter((each) => showsSeverity(view, each) !== (each === severity));
        this.#lastOne.hidden = shown.length > 0;
        if (shown.length) this.#changed(severitiesOf(shown));
    }

    #mark() {
        const view = this.#view;
        // An area of thunderstorms or wind shear has no severity, so no filter for severities selects it.
        this.#unrated.hidden = !(view && (view.severities || view.minSeverity > 0) && view.layers.some(isArea));
        for (const item of this.#root.querySelectorAll("[data-severity]")) {
            const isShown = view === null || showsSeverity(view, Number(item.getAttribute("data-severity")));
            item.classList.toggle("filtered-out", !isShown);
            item.setAttribute("aria-pressed", String(isShown));
        }
    }
}
