// @ts-check
// The server's events (HTML Living Standard, section 9.2), read by fetch, because EventSource can't send a key.
import { contact, recordLine, recordLostBySilence, recordResponse, recordSilence } from "./contact.js";
import { collectionsOf, isIssued } from "./layers.js";
import { fetchResponse, now, timeoutSignal } from "./server.js";

const RETRY_MILLISECONDS = 3_000;
/** A silence is counted in ticks. A page that was busy or asleep itself misses them, and raises no false alarm. */
const TICK_MILLISECONDS = 1_000;
/** The ticks without a line after which the page checks contact. The server sends a comment every 2 s. */
export const SILENT_TICKS = 5;
/** The ticks without a line after which the page opens a new connection, even if the server answers checks. */
export const BROKEN_TICKS = 25;
/** A check that takes longer ends the word "Live". */
export const CHECK_MILLISECONDS = 500;
/** A check that takes longer means lost contact. */
export const CHECK_TIMEOUT_MILLISECONDS = 4_000;

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
    let ticks = 0, checkTicks = 0;
    const watchdog = setInterval(() => {
        ticks += 1;
        checkTicks = ticks >= SILENT_TICKS || contact.problem !== null ? checkTicks + 1 : 0;
        if (ticks >= BROKEN_TICKS) abort.abort();
        else if (checkTicks % SILENT_TICKS === 1) checkContact();
    }, TICK_MILLISECONDS);
    try {
        const response = await fetchResponse(path, { signal: abort.signal, headers, cache: "no-store" });
        const reader = response.body?.getReader();
        if (!reader) return;
        const decoder = new TextDecoder();
        let text = "";
        for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            ticks = 0;
            recordLine(now());
            text += decoder.decode(value, { stream: true });
            const blocks = text.split("\n\n");
            text = blocks.pop() ?? "";
            for (const block of blocks) parseEvent(block, onEvent, state);
        }
    } finally {
        document.removeEventListener("visibilitychange", abortIfPaused);
        clearInterval(watchdog);
    }
}

/** Asks a silent server for a sign of life. Any response is one. */
async function checkContact() {
    const sentAt = now();
    const slow = setTimeout(recordSilence, CHECK_MILLISECONDS);
    try {
        await fetch("healthz", { signal: timeoutSignal(undefined, CHECK_TIMEOUT_MILLISECONDS), cache: "no-store" });
        recordResponse(now());
    } catch (error) {
        const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
        // A response or a line may have arrived meanwhile.
        if (contact.since !== null && contact.since > sentAt) recordLine(contact.since);
        else recordLostBySilence(isTimeout ? "the server is silent" : "the server can't be reached");
    } finally {
        clearTimeout(slow);
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

/** Whether a `data` event concerns hazards or a field in view, or a layer that had no data before. The first event of a
 * connection names no collection.
 * @param {string} data  JSON
 * @param {string[]} layers
 * @param {Billow.Status | null} server  the last known status */
export function isUrgent(data, layers, server) {
    const { collection } = /** @type {{ collection?: string }} */ (JSON.parse(data));
    return collection !== undefined && layers.some((id) => collectionsOf(id).includes(collection)
        && (isIssued(id) || (server?.layers?.[id] && !server.layers[id].dataTime)));
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
