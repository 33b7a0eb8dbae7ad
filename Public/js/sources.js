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
 * @param {Billow.Status | null} server
 * @param {boolean} isLost  whether contact with the server is lost: then it is what was known last */
export function showSources(server, isLost) {
    const sources = server?.sources ?? [];
    const rows = sources.map((source) => row(source, isLost));
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
        const { stale = false, dataTime } = server?.layers?.[value] ?? {};
        const received = instantOf(dataTime);
        const words = !stale ? "" : received === null ? "no data" : `${age(now() - received)} old`;
        label.toggleAttribute("data-stale", stale);
        const note = /** @type {HTMLElement} */ (label.querySelector("small"));
        if (note.textContent !== words) note.textContent = words;
    }
}

/** @param {Billow.SourceStatus} source
 * @param {boolean} isLost */
function row(source, isLost) {
    const [known, words] = stateOf(source);
    const received = instantOf(source.lastSuccess);
    const next = instantOf(source.nextAttempt);
    const level = isLost ? "wait" : known;
    const told = received === null ? words : `${words}, ${age(now() - received)}`;
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
        element("span", { className: "words" }, isLost ? `not known now; last: ${told}` : told));
}

/** How bad it is, and what it does. A source grows old by this page's clock too, between two looks at the server.
 * @param {Billow.SourceStatus} source
 * @returns {[level: string, words: string]} */
export function stateOf(source) {
    const known = STATES[source.state] ?? ["wait", source.state];
    if (known[0] !== "good") return known;
    if (source.disabled) return ["warn", `without ${Object.keys(source.disabled).sort().join(", ")}`];
    if (source.stale) return ["warn", source.lastSuccess ? "silent" : "nothing yet"];
    const received = instantOf(source.lastSuccess);
    return received !== null && now() - received > quietMilliseconds(source) ? ["warn", "late"] : known;
}

/** For how long a source may say nothing: thrice its update frequency, and five minutes at least.
 * @param {Billow.SourceStatus} source */
function quietMilliseconds({ update }) {
    const [, hours = 0, minutes = 0, seconds = 0] = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?$/.exec(update ?? "") ?? [];
    return Math.max(300_000, 3_000 * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)));
}
