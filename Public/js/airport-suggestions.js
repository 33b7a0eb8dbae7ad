// @ts-check
// Suggests airports that match the typed text, under the field of the route. It is an ARIA combobox with a list.
// Source: W3C ARIA Authoring Practices Guide, "Combobox Pattern"
import { element } from "./dom.js";
import { normalisePosition } from "./position.js";

const MAX_SUGGESTIONS = 6;
const LONGEST_NAME_WORDS = 4;
/** The words of a flight plan between its waypoints. */
const NOT_A_NAME = /^(DCT|FL?\d{0,3}|[NKM]\d.*|[A-Z]{1,2}\d.*|\d.*|[-/(].*)$/;

export class Suggestions {
    #input;
    #list;
    #airports;
    /** @type {import("./airports.js").Airport[]} */
    #shown = [];
    #active = -1;
    /** The index in the text of the part that the suggestions complete. */
    #start = 0;

    /** @param {HTMLInputElement} input
     * @param {HTMLElement} list
     * @param {import("./airports.js").Airports} airports */
    constructor(input, list, airports) {
        this.#input = input;
        this.#list = list;
        this.#airports = airports;
        input.addEventListener("input", () => this.#suggest());
        input.addEventListener("keydown", (event) => this.#key(event));
        input.addEventListener("blur", () => this.close());
        // Keeps the focus in the field. Otherwise its blur would close the list before the click.
        list.addEventListener("pointerdown", (event) => event.preventDefault());
        list.addEventListener("click", (event) => {
            const option = /** @type {Element} */ (event.target).closest("[role=option]");
            if (option) this.#choose([...list.children].indexOf(option));
        });
        if (document.activeElement === input) this.#suggest();
    }

    close() {
        this.#shown = [];
        this.#show(-1);
    }

    #suggest() {
        const { text, start } = typedName(this.#input.value.slice(0, this.#input.selectionStart ?? undefined),
            this.#airports);
        this.#start = start;
        this.#shown = text.length > 1 ? this.#airports.search(text, MAX_SUGGESTIONS) : [];
        // A code needs no suggestion. For a name, Enter selects the first airport, which matches best.
        const isCode = this.#airports.find(text) !== null;
        if (isCode && this.#shown.length === 1 && this.#shown[0].icao === text.toUpperCase()) this.#shown = [];
        this.#list.replaceChildren(...this.#shown.map(({ icao, iata, name, city, country }, index) =>
            element("li", { role: "option", id: `route-place-${index}` },
                element("strong", {}, icao), element("span", {}, [iata, name].filter(Boolean).join(" · ")),
                element("small", {}, name.includes(city) ? country : `${city}, ${country}`))));
        this.#show(isCode || !this.#shown.length ? -1 : 0);
    }

    /** @param {number} active */
    #show(active) {
        this.#active = active;
        const isOpen = this.#shown.length > 0;
        this.#list.hidden = !isOpen;
        this.#input.setAttribute("aria-expanded", String(isOpen));
        if (active >= 0) this.#input.setAttribute("aria-activedescendant", `route-place-${active}`);
        else this.#input.removeAttribute("aria-activedescendant");
        for (const [index, option] of [...this.#list.children].entries()) {
            option.setAttribute("aria-selected", String(index === active));
            if (index === active) option.scrollIntoView({ block: "nearest" });
        }
    }

    /** @param {KeyboardEvent} event */
    #key(event) {
        const count = this.#shown.length;
        if (!count || event.isComposing) return;
        const { key } = event;
        if (key === "ArrowDown" || key === "ArrowUp") {
            const step = key === "ArrowDown" ? 1 : -1;
            // Beyond the ends of the list nothing is selected, and Enter submits the text as typed.
            this.#show(((this.#active + 1 + step + count + 1) % (count + 1)) - 1);
        } else if (key === "Enter" && this.#active >= 0) this.#choose(this.#active);
        else if (key === "Escape") this.close();
        else return;
        event.preventDefault();
        // Escape closes the list only, and not the settings as well.
        event.stopPropagation();
    }

    /** @param {number} index */
    #choose(index) {
        const { value, selectionStart } = this.#input;
        const before = value.slice(0, this.#start);
        const after = value.slice(selectionStart ?? value.length).trimStart();
        const text = `${before}${this.#shown[index].icao} `;
        this.#input.value = text + after;
        this.#input.setSelectionRange(text.length, text.length);
        this.close();
    }
}

/** The name or code at the end of a text. It contains the last words that are neither positions nor other parts of a
 * plan.
 * @param {string} text
 * @param {Pick<import("./airports.js").Airports, "search">} airports
 * @returns {{ text: string, start: number }} */
export function typedName(text, airports) {
    const words = [...text.matchAll(/\S+/g)];
    if (!words.length || /\s$/.test(text)) return { text: "", start: text.length };
    let start = words[words.length - 1].index ?? 0;
    if (NOT_A_NAME.test(text.slice(start).toUpperCase())) return { text: "", start: text.length };
    for (const word of words.slice(-LONGEST_NAME_WORDS, -1).reverse()) {
        const upper = word[0].toUpperCase();
        if (NOT_A_NAME.test(upper) || normalisePosition(upper)) break;
        // "kjfk london": an earlier word belongs to the name only if an airport matches all words.
        const longer = text.slice(word.index);
        if (!airports.search(longer, 1).length) break;
        start = word.index ?? 0;
    }
    return { text: text.slice(start), start };
}
