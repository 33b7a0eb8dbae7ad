// @ts-check
// The server's events (HTML Living Standard, section 9.2), read by fetch: EventSource can't send a key.
import { answer } from "./server.js";

const RETRY_MILLISECONDS = 3_000;
/** The server says something every 15 s. A line that is silent for longer is broken. */
const SILENCE_MILLISECONDS = 25_000;

/** @typedef {(name: string, data: string) => void} Hear
 * @typedef {{ lastEventID: string | null }} State what a stream that comes back goes on from */

/** Calls `hear(name, data)` for every event, for as long as the page lives; comes back where the line breaks, and calls
 * `lost` then.
 * @param {string} path
 * @param {Hear} hear
 * @param {() => void} [lost] */
export async function listen(path, hear, lost) {
    /** @type {State} */
    const state = { lastEventID: null };
    for (;;) {
        try {
            await read(path, hear, state);
        } catch {
            // The server can't be reached, or refuses: the polling says so.
        }
        lost?.();
        await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
    }
}

/** @param {string} path
 * @param {Hear} hear
 * @param {State} state */
async function read(path, hear, state) {
    const abort = new AbortController();
    /** @type {Record<string, string>} */
    const headers = { Accept: "text/event-stream" };
    if (state.lastEventID) headers["Last-Event-ID"] = state.lastEventID;
    /** @type {number | undefined} */
    let watch;
    const live = () => {
        clearTimeout(watch);
        watch = setTimeout(() => abort.abort(), SILENCE_MILLISECONDS);
    };
    try {
        const response = await answer(path, { signal: abort.signal, headers, cache: "no-store" });
        const reader = response.body?.getReader();
        if (!reader) return;
        const decoder = new TextDecoder();
        let text = "";
        for (;;) {
            live();
            const { done, value } = await reader.read();
            if (done) return;
            text += decoder.decode(value, { stream: true });
            const blocks = text.split("\n\n");
            text = blocks.pop() ?? "";
            for (const block of blocks) tell(block, hear, state);
        }
    } finally {
        clearTimeout(watch);
    }
}

/** Tells of an event, and takes in its id.
 * @param {string} block  its lines
 * @param {Hear} hear
 * @param {State} state */
export function tell(block, hear, state) {
    let name = "message";
    /** @type {string[]} */
    const data = [];
    for (const line of block.split("\n")) {
        const [, field, value = ""] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
        if (field === "event") name = value;
        if (field === "data") data.push(value);
        if (field === "id") state.lastEventID = value;
    }
    if (data.length) hear(name, data.join("\n"));
}

/** The version of a `data` event that changes what some layers show, else null. Hexagons and polygons are made of
 * turbulence.
 * @param {string} data
 * @param {string[]} layers */
export function concerns(data, layers) {
    /** @type {{ collection?: string, version?: number }} */
    let event;
    try {
        event = JSON.parse(data);
    } catch {
        return null;
    }
    const { collection, version = 0 } = event;
    const shown = new Set(layers.flatMap((id) => ["hexagons", "polygons"].includes(id) ? [id, "turbulence"] : [id]));
    return collection === undefined || shown.has(collection) ? version : null;
}
