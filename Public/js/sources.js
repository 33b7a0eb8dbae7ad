// @ts-check
// Where each source stands, one line each, and which layers are stale: from the server's `/status`.
import { byId, element } from "./dom.js";
import { age, dateTime, instantOf } from "./format.js";
import { now } from "./server.js";

const root = byId("sources");
const layers = byId("layers");

/** What the server says a source does, in words, and how bad that is.
 * @type {Record<string, [string, string]>} */
const STATES = {
    fetching: ["good", "fetching"], waiting: ["good", "up to date"], failing: ["bad", "failing"],
    refused: ["bad", "key refused"], disabled: ["bad", "not allowed"],
    stopped: ["wait", "stopped"], stored: ["wait", "stored data"],
};

/** Shows `/status`; null where it isn't known yet.
 * @param {Billow.Status | null} server */
export function showSources(server) {
    const sources = server?.sources ?? [];
    const rows = sources.map(row);
    if (!server) rows.push(element("li", { className: "note" }, "Not known yet"));
    else if (!sources.length) rows.push(
        element("li", { className: "note" }, "None: what is shown was imported or sent in")
    );
    // Ages tick: elements change only where words do.
    const text = rows.map((item) => item.outerHTML).join("");
    if (root.dataset.text !== text) {
        root.dataset.text = text;
        root.replaceChildren(...rows);
    }
    for (const label of layers.children) {
        const { value } = /** @type {HTMLInputElement} */ (label.firstChild);
        const { stale = false, incomplete = false } = server?.layers?.[value] ?? {};
        label.toggleAttribute("data-stale", stale);
        /** @type {HTMLElement} */ (label).title = stale ? "Stale: every source of it is silent"
            : incomplete ? "Incomplete: some data of it is missing" : "";
    }
}

/** @param {Billow.SourceStatus} source */
function row(source) {
    const [level, words] = stateOf(source);
    const received = instantOf(source.lastSuccess);
    const next = instantOf(source.nextAttempt);
    const details = [
        source.kind, received !== null && `last success ${dateTime(received)}`,
        next !== null && `next attempt ${dateTime(next)}`,
        source.counts && `${source.counts.accepted} records taken`,
        typeof source.lastError === "string" ? source.lastError : source.lastError?.message,
        ...Object.entries(source.disabled ?? {}).map(([type, words]) => `${type}: ${words}`),
    ].filter(Boolean).join(" · ");
    return element("li", { "data-level": level, title: details },
        element("span", { className: "dot", "aria-hidden": "true" }),
        element("span", { className: "name" }, source.id),
        element("span", { className: "words" }, received === null ? words : `${words}, ${age(now() - received)}`));
}

/** How bad it is, and what it does.
 * @param {Billow.SourceStatus} source
 * @returns {[level: string, words: string]} */
export function stateOf(source) {
    const known = STATES[source.state] ?? ["wait", source.state];
    if (known[0] !== "good") return known;
    if (source.disabled) return ["warn", `without ${Object.keys(source.disabled).sort().join(", ")}`];
    if (!source.stale) return known;
    return ["warn", source.lastSuccess ? "silent" : "nothing yet"];
}
