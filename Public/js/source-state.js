// @ts-check
// How a source is, in words: for the map and for the status page.
import { instantOf } from "./format.js";
import { now } from "./server.js";

/** What the server says a source does, in words, and how bad that is.
 * @type {Record<string, [string, string]>} */
const STATES = {
    fetching: ["good", "fetching"], waiting: ["good", "up to date"], failing: ["bad", "failing"],
    refused: ["bad", "key refused"], disabled: ["bad", "not allowed"],
    stopped: ["wait", "stopped"], stored: ["wait", "stored data"],
};

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
