// @ts-check
// The server's events (HTML Living Standard, section 9.2), read by fetch, because EventSource can't send a key.
import { collectionsOf } from "./layers.js";
import { answer } from "./server.js";

const RETRY_MILLISECONDS = 3_000;
/** The server sends a comment every 15 s. A connection without data for longer is broken. */
const SILENCE_MILLISECONDS = 25_000;

/** @typedef {(name: string, data: string) => void} Hear
 * @typedef {{ lastEventID: string | null }} State the event after which a new connection continues */

/** Calls `hear(name, data)` for every event, as long as the page exists. If the connection breaks, it calls `lost` and
 * reconnects. There is no connection while the page rests.
 * @param {string} path
 * @param {Hear} hear
 * @param {() => void} [lost]
 * @param {() => boolean} [rests]  called when the page is hidden or shown */
export async function listen(path, hear, lost, rests = () => false) {
    /** @type {State} */
    const state = { lastEventID: null };
    for (;;) {
        while (rests()) await seen();
        try {
            await read(path, hear, state, rests);
        } catch {
            // The server is unreachable or rejects the request. The polling reports it.
        }
        lost?.();
        await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
    }
}

/** Resolves when the page is hidden or shown. */
const seen = () => new Promise((resolve) => {
    document.addEventListener("visibilitychange", resolve, { once: true });
});

/** @param {string} path
 * @param {Hear} hear
 * @param {State} state
 * @param {() => boolean} rests */
async function read(path, hear, state, rests) {
    const abort = new AbortController();
    const look = () => rests() && abort.abort();
    document.addEventListener("visibilitychange", look);
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
        document.removeEventListener("visibilitychange", look);
        clearTimeout(watch);
    }
}

/** Reports an event, and stores its id.
 * @param {string} block  the lines of the event
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

/** The last version that changed each collection, by the events. A layer also changes with a layer that combines it. */
export class Changes {
    /** @type {Map<string, number>} */
    #versions = new Map();
    #all;

    /** @param {number} version  the version that the page already shows */
    constructor(version = 0) { this.#all = version; }

    /** Records a `data` event. Returns true if it changes any of some layers.
     * @param {string} data
     * @param {string[]} layers */
    note(data, layers) {
        /** @type {{ collection?: string, version?: number }} */
        let event;
        try {
            event = JSON.parse(data);
        } catch {
            return false;
        }
        const { collection, version = 0 } = event;
        if (collection === undefined) this.#all = Math.max(this.#all, version);
        else this.#versions.set(collection, Math.max(this.#versions.get(collection) ?? 0, version));
        return collection === undefined || layers.flatMap(collectionsOf).includes(collection);
    }

    /** The newest version that changed some layers.
     * @param {string[]} layers */
    of(layers) {
        return Math.max(this.#all, ...layers.flatMap(collectionsOf).map((id) => this.#versions.get(id) ?? 0));
    }
}
