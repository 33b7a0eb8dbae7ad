// @ts-check
// The legend, from the server's own: the page has no colours of its own for severities.
import { element, swatch } from "./dom.js";
import { getJSON } from "./server.js";
import { layerName } from "./view.js";

const PARAMETERS = new URLSearchParams({ layer: "hexagons", style: "skypath" });

export class Legend {
    #root;
    /** @type {Map<number, Billow.LegendEntry>} */
    #entries = new Map();
    #symbols = element("details", { className: "symbols", hidden: true });

    /** @param {HTMLElement} root */
    constructor(root) { this.#root = root; }

    /** True once the server's legend is shown. */
    get isLoaded() { return this.#entries.size > 0; }

    /** The entry of a severity from 0 to 4, or undefined.
     * @param {number} severity */
    entry(severity) { return this.#entries.get(severity); }

    /** Fetches and shows it. Throws ServerError. */
    async load() {
        /** @type {Billow.Legend} */
        const legend = await getJSON("legend.json", PARAMETERS);
        this.#entries = new Map(legend.entries.map((entry) => [entry.severity, entry]));
        const list = element("ul", {}, ...legend.entries.map((entry) =>
            element("li", { "data-severity": entry.severity }, swatch(entry), element("span", {}, entry.label))));
        // Banners say that the data is simulated, stale or incomplete, and this legend is loaded once.
        const passing = /^(Simulated data$|Stale:|Incomplete:)/;
        const notes = (legend.notes ?? []).filter((note) => !passing.test(note)).map(
            (note) => element("p", { className: "note" }, note)
        );
        this.#root.replaceChildren(element("h2", {}, legend.title), list, ...notes, this.#symbols);
    }

    /** Explains the signs of other layers than turbulence, in the server's own drawing.
     * @param {string[]} layers */
    showSymbols(layers) {
        const others = layers.filter((id) => id !== "hexagons" && id !== "polygons");
        this.#symbols.hidden = !others.length;
        if (!others.length || this.#symbols.dataset.layers === others.join()) return;
        this.#symbols.dataset.layers = others.join();
        const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
        const image = element(
            "img",
            {
                src: `legend.svg?layer=${others.join()}&theme=${theme}`,
                alt: `Signs of ${others.map(layerName).join(", ")}`, loading: "lazy",
            },
        );
        this.#symbols.replaceChildren(element("summary", {}, "Other signs"), image);
    }

    /** Strikes what the filter leaves out.
     * @param {number} minSeverity */
    mark(minSeverity) {
        for (const item of this.#root.querySelectorAll("li[data-severity]")) {
            item.classList.toggle("left-out", Number(item.getAttribute("data-severity")) < minSeverity);
        }
    }
}
