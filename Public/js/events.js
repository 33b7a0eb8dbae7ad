// @ts-check
// The server's events (HTML Living Standard, section 9.2), read by fetch, because EventSource can't send a key.
import { collectionsOf } from "./layers.js";
import { fetchResponse } from "./server.js";

const RETRY_MILLISECONDS = 3_000;
/** The server sends a comment every 15 s. A connection without data for longer is broken. */
const SILENCE_MILLISECONDS = 25_000;

/** @typedef {(name: string, data: string) => void} OnEvent
 * @typedef {{ lastEventID: string | null }} State the event after which a new connection continues */

/** Calls `onEvent(name, data)` for every event, as long as the page exists. If the connection breaks, it calls `onLost`
 * and reconnects. There is no connection while the page is paused.
 * @param {string} path
 * @param {OnEvent} onEvent
 * @param {() => void} [onLost]
 * @param {() => boolean} [isPaused]  called when the page is hidden or shown */
export async function listen(path, onEvent, onLost, isPaused = () => false) {
    /** @type {State} */
    const state = { lastEventID: null };
    for (;;) {
        while (isPaused()) await visibilityChange();
        try {
            await readStream(path, onEvent, state, isPaused);
        } catch {
            // The server is unreachable or rejects the request. The polling reports it.
        }
        onLost?.();
        await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
    }
}

/** Resolves when the page is hidden or shown. */
const visibilityChange = () => new Promise((resolve) => {
    document.addEventListener("visibilitychange", resolve, { once: true });
});

/** @param {string} path
 * @param {OnEvent} onEvent
 * @param {State} state
 * @param {() => boolean} isPaused */
async function readStream(path, onEvent, state, isPaused) {
    const abort = new AbortController();
    const abortIfPaused = () => isPaused() && abort.abort();
    document.addEventListener("visibilitychange", abortIfPaused);
    /** @type {Record<string, string>} */
    const headers = { Accept: "text/event-stream" };
    if (state.lastEventID) headers["Last-Event-ID"] = state.lastEventID;
    /** @type {number | undefined} */
    let watchdog;
    const restartWatchdog = () => {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => abort.abort(), SILENCE_MILLISECONDS);
    };
    try {
        const response = await fetchResponse(path, { signal: abort.signal, headers, cache: "no-store" });
        const reader = response.body?.getReader();
        if (!reader) return;
        const decoder = new TextDecoder();
        let text = "";
        for (;;) {
            restartWatchdog();
            const { done, value } = await reader.read();
            if (done) return;
            text += decoder.decode(value, { stream: true });
            const blocks = text.split("\n\n");
            text = blocks.pop() ?? "";
            for (const block of blocks) parseEvent(block, onEvent, state);
        }
    } finally {
        document.removeEventListener("visibilitychange", abortIfPaused);
        clearTimeout(watchdog);
    }
}

/** Reports an event, and stores its id.
 * @param {string} block  the lines of the event
 * @param {OnEvent} onEvent
 * @param {State} state */
export function parseEvent(block, onEvent, state) {
    let name = "message";
    /** @type {string[]} */
    const data = [];
    for (const line of block.split("\n")) {
        const [, field, value = ""] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
        if (field === "event") name = value;
        if (field === "data") data.push(value);
        if (field === "id") state.lastEventID = value;
    }
    if (data.length) onEvent(name, data.join("\n"));
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
    record(data, layers) {
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
    versionOf(layers) {
        return Math.max(this.#all, ...layers.flatMap(collectionsOf).map((id) => this.#versions.get(id) ?? 0));
    }
}
