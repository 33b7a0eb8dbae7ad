// @ts-check
// The legend, made from the server's: the page defines no colours of severities.
import { element, swatch } from "./dom.js";
import { getJSON } from "./server.js";
import { CELLS } from "./layers.js";
import { severitiesOf, showsSeverity } from "./view.js";

export class Legend {
    #root;
    #changed;
    /** @type {Map<number, Billow.LegendEntry>} */
    #entries = new Map();
    #style = "";
    #loaded = "";
    /** The view of the pixels on the map, whose colours the legend explains.
     * @type {Billow.View | null} */
    #view = null;
    /** The user's view, which the buttons change.
     * @type {Billow.View | null} */
    #wanted = null;
    #field = element("p", { className: "note caution", hidden: true });
    /** Explains the hatch at the edges of fields. */
    edges = element("p", { className: "note caution" });
    #symbols = element("details", { className: "symbols", hidden: true });
    #lastOne = element("p", { className: "note caution", role: "status", hidden: true },
        "The last severity stays: an empty map would look like smooth air.");

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
                type: "button", "data-severity": entry.severity,
                onclick: () => this.#toggle(entry.severity),
            }, swatch(entry), element("span", {}, entry.label)))));
        // Banners state that data is simulated, stale or incomplete, because this legend is loaded once.
        const passing = /^(Simulated data$|Stale:|Incomplete:)/;
        const notes = (legend.notes ?? []).filter((note) => !passing.test(note)).map(
            (note) => element("p", { className: "note" }, note)
        );
        this.#root.replaceChildren(
            element("h2", {}, legend.title), list, this.#lastOne, ...notes, this.#field, this.edges,
            this.#symbols, element("p", { className: "note caution" }, "Not for navigation."));
        this.#mark();
    }

    /** Explains the layers of a view. The buttons change the wanted view, which the map may not show yet.
     * @param {Billow.View} view
     * @param {Billow.Style} style
     * @param {Billow.View} wanted */
    show(view, { id, theme }, wanted) {
        this.#style = id;
        this.#view = view;
        this.#wanted = wanted;
        document.body.dataset.theme = theme;
        this.#mark();
    }

    /** Names the turbulence field that the map shows; null for none.
     * @param {string | null} text */
    showField(text) {
        this.#field.hidden = text === null;
        this.#field.textContent = text;
    }

    /** Shows or hides a severity. The last one stays, because an empty map would look like smooth air.
     * @param {number} severity */
    #toggle(severity) {
        const view = this.#wanted;
        if (!view) return;
        const shown = [...this.#entries.keys()].filter((each) => showsSeverity(view, each) !== (each === severity));
        this.#lastOne.hidden = shown.length > 0;
        if (shown.length) this.#changed(severitiesOf(shown));
    }

    #mark() {
        const view = this.#view;
        if (view) import("./legend-symbols.js").then(({ showSymbols }) =>
            showSymbols(this.#symbols, view, this.#style, this.#entries, this.#changed)).catch(() => {});
        for (const item of this.#root.querySelectorAll("[data-severity]")) {
            const severity = Number(item.getAttribute("data-severity"));
            const isShown = view === null || showsSeverity(view, severity);
            const isWanted = this.#wanted === null || showsSeverity(this.#wanted, severity);
            item.classList.toggle("filtered-out", !isShown);
            item.setAttribute("aria-pressed", String(isWanted));
            item.setAttribute("title", isShown === isWanted ? "Show or hide" : "Not on the map yet");
            item.setAttribute("aria-busy", String(isShown !== isWanted));
        }
    }
}
