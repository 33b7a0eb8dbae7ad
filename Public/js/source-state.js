// @ts-check
// The text for the state of a source, on the map and on the status page.
import { instantOf } from "./format.js";
import { now } from "./server.js";

/** State in `/status` → level and text.
 * @type {Record<string, [string, string]>} */
const STATES = {
    fetching: ["good", "fetching"], waiting: ["good", "up to date"], failing: ["bad", "failing"],
    refused: ["bad", "key refused"], disabled: ["bad", "not allowed"],
    stopped: ["wait", "stopped"], stored: ["wait", "stored data"],
};

/** The level and the text of a source's state. A source may also become late by the page's clock, between two polls.
 * @param {Billow.SourceStatus} source
 * @returns {[level: string, words: string]} */
export function sourceState(source) {
    const known = STATES[source.state] ?? ["wait", source.state];
    if (known[0] !== "good") return known;
    if (source.disabled) return ["warn", `no access to ${Object.keys(source.disabled).sort().join(", ")}`];
    if (source.stale) return ["warn", source.lastSuccess ? "no recent data" : "no data yet"];
    const received = instantOf(source.lastSuccess);
    return received !== null && now() - received > lateAfterMilliseconds(source) ? ["warn", "late"] : known;
}

/** The time without data after which a source is late: three times its update interval, but at least five minutes.
 * @param {Billow.SourceStatus} source */
function lateAfterMilliseconds({ update }) {
    const [, hours = 0, minutes = 0, seconds = 0] = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?$/.exec(update ?? "") ?? [];
    return Math.max(300_000, 3_000 * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)));
}
