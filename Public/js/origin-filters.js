// @ts-check
// The filters for the aircraft category and for sources. The server tells the choices: its API description lists the
// categories, its status the sources. The page loads this module after the first picture.
import { byId, element, setText } from "./dom.js";
import { patchChildren } from "./dom-patch.js";
import { getJSON } from "./server.js";

const select = byId("category", HTMLSelectElement);
const chips = byId("source-filter");
const details = byId("origins", HTMLDetailsElement);
const note = byId("source-note");
const allSources = byId("all-sources", HTMLButtonElement);
/** The categories, or null before they are loaded.
 * @type {{ enum: string[], default?: string } | null} */
let categories = null;
/** @type {(() => void) | null} */
let refresh = null;

/** Shows the choices and those that a view selects.
 * @param {Billow.View} view
 * @param {Billow.Status | null} server  null before the first response
 * @param {(difference: Partial<Billow.View>) => void} changed */
export function showOriginFilters(view, server, changed) {
    if (!refresh) {
        details.addEventListener("toggle", loadCategories);
        if (view.category !== null || view.sources) details.open = true;
    }
    refresh = () => showOriginFilters(view, server, changed);
    showCategories(view);
    select.onchange = () => changed({ category: select.value || null });
    showSourceChoices(view, (server?.sources ?? []).map(({ id }) => id), changed);
}

/** Loads the categories when the filters first open. */
async function loadCategories() {
    if (!details.open || categories) return;
    const problem = byId("category-problem");
    try {
        const { components } = await getJSON("openapi.json");
        categories = components.parameters.category.schema;
        problem.hidden = true;
        refresh?.();
    } catch (error) {
        setText(problem, `The categories could not be loaded: ${error instanceof Error ? error.message : error}.`);
        problem.hidden = false;
    }
}

/** @param {Billow.View} view */
function showCategories({ category }) {
    const usual = categories?.default ?? "";
    const names = categories?.enum ?? [usual];
    const all = category === null || names.includes(category) ? names : [...names, category];
    patchChildren(select, all.map((name) => element("option", { value: name === usual ? "" : name },
        name === "" ? "Default" : name === usual ? `${name} (default)` : name)));
    select.value = category === usual ? "" : category ?? "";
}

/** @param {Billow.View} view
 * @param {string[]} known
 * @param {(difference: Partial<Billow.View>) => void} changed */
function showSourceChoices({ sources }, known, changed) {
    // A link may name a source whose data came before the server's current settings.
    const all = [...known, ...(sources ?? []).filter((id) => !known.includes(id))];
    patchChildren(chips, all.map((id) => element("label", {},
        element("input", { type: "checkbox", value: id }), element("span", {}, id))));
    const inputs = [...chips.querySelectorAll("input")];
    /** @param {string[] | null} wanted */
    const choose = (wanted) => {
        note.hidden = true;
        changed({ sources: wanted });
    };
    allSources.hidden = sources === null;
    allSources.onclick = () => choose(null);
    for (const input of inputs) {
        input.checked = sources?.includes(input.value) ?? true;
        input.onchange = () => {
            const wanted = inputs.filter(({ checked }) => checked).map(({ value }) => value);
            if (wanted.length) return choose(wanted.length === all.length ? null : wanted);
            // The last source stays, because an empty map would look like smooth air.
            input.checked = true;
            note.hidden = false;
        };
    }
}
