// @ts-check
// The form of the settings. It shows the filters and the instant of a view, and calls `changed` with each difference.
import { bandText, dateTime, hoursText, inputText, parseInput } from "./format.js";
import { byId, element, onPageKey } from "./dom.js";
import { now } from "./server.js";
import { allStyles } from "./styles.js";
import { inDrawingOrder, LAYERS } from "./layers.js";
import { COMPACT } from "./layout.js";
import { CEILING_FEET, HISTORIES, SEVERITIES, severityText } from "./view.js";

const FEET_PER_STEP = 1000;
/** The level if neither the route nor the band names one: jets cruise here. */
const USUAL_FEET = 35_000;
const STEP_MILLISECONDS = 600_000;
/** @param {string} id */
const inputById = (id) => byId(id, HTMLInputElement);
/** @param {string} id */
const inputsIn = (id) => byId(id).querySelectorAll("input");
/** @param {Event} event */
const valueOf = (event) => /** @type {HTMLInputElement | HTMLSelectElement} */ (event.target).value;

/** @typedef {(difference: Partial<Billow.View>) => void} Changed */

export class Controls {
    #changed;
    #view;
    #extent;
    #isOneLevel = false;
    /** The band to which the user moved two thumbs. Both stay, even if it has one level: else neither could move on. */
    #movedBand = "";
    /** Loaded when the list of layers first opens.
     * @type {typeof import("./layer-list.js").showLayerList} */
    #showLayerList = () => {};

    /** @param {Billow.View} view
     * @param {Changed} changed
     * @param {() => (number | null)[] | null} extent  returns the first and the last instant with a picture */
    constructor(view, changed, extent) {
        this.#changed = changed;
        this.#extent = extent;
        byId("layers").append(...LAYERS.map(({ id, name }) => element("label", {},
            element("input", { type: "checkbox", name: "layers", value: id }),
            element("span", {}, name, " ", element("small")))));
        byId("history").append(...HISTORIES.map((hours) => element("label", {},
            element("input", { type: "radio", name: "hours", value: hours }), element("span", {}, hoursText(hours)))));
        byId("severity").append(...SEVERITIES.map((_, value) => element("option", { value }, severityText(value))));
        this.#view = view;
        this.show(view);

        byId("filters").addEventListener("submit", (event) => event.preventDefault());
        byId("layers").addEventListener("change", (event) => {
            const wanted = inDrawingOrder(
                [...inputsIn("layers")].filter((input) => input.checked).map((input) => input.value), this.#view.order,
            );
            // The last layer stays, because an empty map would look like smooth air.
            byId("layers-note").hidden = wanted.length > 0;
            if (wanted.length) changed({ layers: wanted });
            else /** @type {HTMLInputElement} */ (event.target).checked = true;
        });
        byId("order").addEventListener("toggle", async () => {
            this.#showLayerList = (await import("./layer-list.js")).showLayerList;
            this.#showLayerList(this.#view, changed);
        }, { once: true });
        byId("history").addEventListener("change", (event) => changed({ hours: Number(valueOf(event)) }));
        byId("severity").addEventListener("change", (event) => changed({
            minSeverity: Number(valueOf(event)), severities: null,
        }));
        byId("style").addEventListener("change", (event) => changed({ style: valueOf(event) || null }));
        byId("frames").addEventListener("change", (event) => changed({ frames: Number(valueOf(event)) || null }));
        byId("lowest").addEventListener("input", () => this.#dragBand("lowest"));
        byId("highest").addEventListener("input", () => this.#dragBand("highest"));
        for (const id of ["lowest", "highest"]) byId(id).addEventListener("change", () => {
            const band = this.#band();
            this.#movedBand = this.#isOneLevel ? "" : bandText(band.minAltitude, band.maxAltitude);
            changed(band);
        });
        byId("all-levels").addEventListener("click", () => changed({ minAltitude: null, maxAltitude: null }));
        inputById("one-level").addEventListener("change", () => this.#chooseOneLevel());
        byId("when").addEventListener("change", (event) => this.#chooseWhen(valueOf(event)));
        byId("instant").addEventListener("change", () => this.#chooseInstant());
        byId("earlier").addEventListener("click", () => this.#step(-STEP_MILLISECONDS));
        byId("later").addEventListener("click", () => this.#step(STEP_MILLISECONDS));
        byId("toggle").addEventListener("click", () => this.#toggle());
        byId("filters").addEventListener("change", ({ target }) => {
            // As a sheet, the form shrinks and uncovers the map with the new filter.
            document.body.classList.add("settings-low");
            if (COMPACT.matches) /** @type {Element} */ (target).scrollIntoView({ block: "nearest" });
        });
        onPageKey((event) => {
            if (event.key === "Escape" && COMPACT.matches && this.#isOpen) this.#toggle();
        });
        // The form is initially open only if the window has room for it beside the map.
        const openIfWide = () => this.#open(!COMPACT.matches && innerWidth >= 960);
        COMPACT.addEventListener("change", openIfWide);
        openIfWide();
    }

    /** Shows a view's values.
     * @param {Billow.View} view */
    show(view) {
        this.#view = view;
        this.#showLayerList(view, this.#changed);
        for (const box of inputsIn("layers")) box.checked = view.layers.includes(box.value);
        for (const radio of inputsIn("history")) radio.checked = Number(radio.value) === view.hours;
        const select = byId("severity", HTMLSelectElement);
        // A choice in the legend is not a minimum severity.
        if (view.severities === null) select.options[SEVERITIES.length]?.remove();
        else if (select.length === SEVERITIES.length) select.append(
            element("option", { value: "some", disabled: true }, "Set in the legend"));
        select.value = view.severities === null ? String(view.minSeverity) : "some";
        inputById("lowest").value = String((view.minAltitude ?? 0) / FEET_PER_STEP);
        inputById("highest").value = String((view.maxAltitude ?? CEILING_FEET) / FEET_PER_STEP);
        const { minAltitude, maxAltitude } = view;
        this.#isOneLevel = (maxAltitude ?? CEILING_FEET) - (minAltitude ?? 0) === FEET_PER_STEP
            && bandText(minAltitude, maxAltitude) !== this.#movedBand;
        this.#showBand();
        this.#showStyles();
        byId("frames", HTMLSelectElement).value = String(view.frames ?? "");
        const { time } = view;
        const past = time !== null;
        for (const radio of inputsIn("when")) radio.checked = (radio.value === "past") === past;
        byId("instant-row").hidden = !past;
        if (past && document.activeElement !== byId("instant")) inputById("instant").value = inputText(time);
        this.#problem(null);
    }

    #showStyles() {
        const select = byId("style", HTMLSelectElement);
        const styles = allStyles();
        if (select.length !== styles.length + 1) select.replaceChildren(
            element("option", { value: "" }, "Automatic (day or night)"),
            ...styles.map(({ id, title, description }) => element("option", { value: id, title: description }, title)));
        select.value = this.#view.style ?? "";
    }

    /** Selects a block of 1,000 feet, which the slider then moves. It starts at the lowest block of the band. Without a
     * band, it starts at the planned level. */
    #chooseOneLevel() {
        this.#movedBand = "";
        const { level, minAltitude, maxAltitude } = this.#view;
        if (!inputById("one-level").checked) return this.#changed({ minAltitude: null, maxAltitude: null });
        const hasBand = minAltitude !== null || maxAltitude !== null;
        const lowest = Math.min(hasBand ? minAltitude ?? 0 : level ?? USUAL_FEET, CEILING_FEET - FEET_PER_STEP);
        this.#changed({ minAltitude: lowest || null, maxAltitude: lowest + FEET_PER_STEP });
        inputById("lowest").focus();
    }

    /** Keeps the thumbs from crossing, because a band has at least one level.
     * @param {"lowest" | "highest"} moved */
    #dragBand(moved) {
        const low = inputById("lowest");
        const high = inputById("highest");
        if (this.#isOneLevel) {
            low.value = String(Math.min(Number(low.value), Number(low.max)));
            high.value = String(Number(low.value) + 1);
        } else if (Number(low.value) >= Number(high.value)) {
            if (moved === "lowest") low.value = String(Number(high.value) - 1);
            else high.value = String(Number(low.value) + 1);
        }
        this.#showBand();
    }

    #band() {
        const low = Number(inputById("lowest").value) * FEET_PER_STEP;
        const high = Number(inputById("highest").value) * FEET_PER_STEP;
        return { minAltitude: low === 0 ? null : low, maxAltitude: high === CEILING_FEET ? null : high };
    }

    #showBand() {
        const { minAltitude, maxAltitude } = this.#band();
        const low = inputById("lowest");
        const high = inputById("highest");
        byId("band", HTMLOutputElement).value = bandText(minAltitude, maxAltitude);
        inputById("one-level").checked = this.#isOneLevel;
        high.hidden = this.#isOneLevel;
        byId("range").toggleAttribute("data-one", this.#isOneLevel);
        low.setAttribute("aria-label", this.#isOneLevel ? "Flight level" : "Lowest flight level");
        byId("all-levels").hidden = minAltitude === null && maxAltitude === null;
        for (const input of [low, high]) input.setAttribute(
            "aria-valuetext", `flight level ${Number(input.value) * 10}`
        );
        byId("range").style.setProperty("--low", `${(Number(low.value) / 60) * 100}%`);
        byId("range").style.setProperty("--high", `${(Number(high.value) / 60) * 100}%`);
        // If both thumbs are far right, the lower one must be on top. Otherwise neither could be moved.
        low.style.zIndex = Number(low.value) > 30 ? "3" : "2";
    }

    /** @param {string} choice */
    #chooseWhen(choice) {
        if (choice === "live") return this.#changed({ time: null });
        const minute = 60_000;
        this.#changed({ time: Math.floor(now() / minute) * minute });
        byId("instant").focus();
    }

    #chooseInstant() {
        const instant = parseInput(inputById("instant").value);
        if (instant === null) return this.#problem("Enter a UTC date and time, such as 2026-07-21 20:00.");
        const [first = null, last = null] = this.#extent() ?? [];
        if (last !== null && instant > last) return this.#problem(
            `That time is in the future: forecasts end at ${dateTime(last)}.`
        );
        if (first !== null && instant < first) return this.#problem(`The data begins at ${dateTime(first)}.`);
        this.#changed({ time: instant });
    }

    /** @param {number} milliseconds */
    #step(milliseconds) {
        const last = this.#extent()?.[1] ?? now();
        const instant = Math.min((this.#view.time ?? now()) + milliseconds, last);
        this.#changed({ time: Math.floor(instant / 1000) * 1000 });
    }

    /** @param {string | null} text */
    #problem(text) {
        byId("instant").setAttribute("aria-invalid", String(text !== null));
        byId("instant-problem").hidden = text === null;
        byId("instant-problem").textContent = text ?? "";
    }

    get #isOpen() { return byId("toggle").getAttribute("aria-expanded") === "true"; }

    #toggle() {
        this.#open(!this.#isOpen);
        if (!this.#isOpen) byId("toggle").focus();
    }

    /** @param {boolean} isOpen */
    #open(isOpen) {
        byId("toggle").setAttribute("aria-expanded", String(isOpen));
        document.body.classList.toggle("settings-open", isOpen);
        document.body.classList.remove("settings-low");
    }
}
