// @ts-check
// Keeps a copy of a collection, or of its features in an area or along a route, up to date in any page. It depends on
// nothing but datasets.js beside it and timeline/request.js.
//
//     import { CollectionCopy } from "https://your.server/js/changes.js";
//     const copy = new CollectionCopy({
//         server: "https://your.server/", collection: "hexagons",
//         parameters: { route: "KJFK 4430N05000W EGLL", "corridor-width": 100 },
//     });
//     copy.addEventListener("change", () => draw([...copy.features.values()]));
//     copy.addEventListener("state", ({ detail }) => label.textContent = detail.dataTime ?? "unknown");
//     await copy.start();
//
// The copy is stored in the browser (IndexedDB). After a restart, and without a connection, it is there at once. Then
// only the changes since are requested (`/changes/{collection}`), when the server tells of some (`/events`) and once a
// minute, because pictures age without an event. Where the server no longer holds the earlier state, it sends
// everything, and the copy is replaced as a whole.
//
// Events: `change` (detail: full, changed[], removed[]), `state` (detail: CopyState), `problem` (detail: message or
// null).
//
// types/js/changes.d.ts has the types for TypeScript.

import { errorText } from "../timeline/request.js";
import { EVENTS } from "./datasets.js";

/** A feature of the copy. Cells have no geometry unless the parameter `geometry` is true.
 * @typedef {{ type: "Feature", id: string, geometry: any, properties: Record<string, any> }} Feature */

/** How old and how complete the copy is. Show it beside the data.
 *
 *   time        the instant of the features, ISO 8601; null before the first answer
 *   dataTime    the last successful fetch of the data's sources
 *   stale, simulated, incomplete  as in every answer of the server
 *   receivedAt  when the last answer came, in milliseconds since 1970
 *   connected   whether the last request was answered
 *   stored      whether the copy is in the browser's storage
 * @typedef {{
 *     time: string | null, dataTime: string | null, stale: boolean, simulated: boolean, incomplete: boolean,
 *     receivedAt: number | null, connected: boolean, stored: boolean,
 * }} CopyState */

/** @typedef {{ full: boolean, changed: Feature[], removed: string[] }} ChangeDetail */

/** The options of a copy; the constructor describes them.
 * @typedef {{
 *     server?: string, collection: string, parameters?: Record<string, string | number | boolean>,
 *     headers?: () => Record<string, string>, interval?: number, pause?: number, events?: boolean, store?: boolean,
 * }} CopyOptions */

const DATABASE = "billow-copies";
/** The server sends a comment every 15 s. A connection without data for longer is broken. */
const SILENCE_MILLISECONDS = 40_000;
/** A whole copy takes its time over a thin link. */
const TIMEOUT_MILLISECONDS = 120_000;
const FIRST_RETRY_MILLISECONDS = 2_000;
const LONGEST_RETRY_MILLISECONDS = 60_000;
/** Parameters of a place, which events take too. */
const PLACE = ["bbox", "route", "coords", "width", "corridor-width", "width-units", "crs"];

/** An answer that a repetition doesn't change. */
class RefusedRequest extends Error {}

/** A copy of a collection. */
export class CollectionCopy extends EventTarget {
    #options;
    #url;
    /** @type {Map<string, Feature>} */
    #features = new Map();
    /** @type {string | null} */
    #cursor = null;
    /** @type {CopyState} */
    #state = {
        time: null, dataTime: null, stale: false, simulated: false, incomplete: false, receivedAt: null,
        connected: false, stored: false,
    };
    /** @type {CopyStore | null} */
    #store = null;
    /** @type {AbortController | null} */
    #running = null;
    /** Ends the pause between two requests.
     * @type {() => void} */
    #wake = () => {};
    #isDue = false;

    /** Makes a copy, which is empty until it starts.
     *
     *   server      the server's address; by default that of this script
     *   collection  "hexagons", "traffic", … : any collection of `/collections`
     *   parameters  filters and a place: { route: "KJFK EGLL", minSeverity: 3 }
     *   headers     a function that returns further headers for the requests: () => ({ "X-API-Key": key })
     *   interval    milliseconds between two requests without an event, 60,000
     *   pause       the fewest milliseconds between two requests, 2,000: raise it on a thin link
     *   events      whether the server's events are listened to, true
     *   store       whether the copy is stored in the browser, true
     * @param {CopyOptions} options */
    constructor(options) {
        super();
        this.#options = {
            server: new URL("..", import.meta.url).href, parameters: {}, headers: () => ({}), interval: 60_000,
            pause: 2_000, events: true, store: true, ...options,
        };
        const { server, collection } = this.#options;
        const base = new URL(server.endsWith("/") ? server : `${server}/`, globalThis.location?.href);
        this.#url = new URL(`changes/${encodeURIComponent(collection)}`, base);
        for (const [name, value] of this.#sorted()) this.#url.searchParams.set(name, value);
    }

    /** The features by id. It is the same object for as long as the copy exists.
     * @returns {ReadonlyMap<string, Feature>} */
    get features() { return this.#features; }

    /** How old and how complete the copy is.
     * @returns {CopyState} */
    get state() { return { ...this.#state }; }

    /** Reads the stored copy, and begins to update it. Resolves when the stored copy is there, or at once where there
     * is none. */
    async start() {
        if (this.#running) return;
        const running = new AbortController();
        this.#running = running;
        if (this.#options.store && !this.#store) await this.#load();
        if (running.signal.aborted) return;
        void this.#keepUpdated(running.signal);
        if (this.#options.events) void this.#listen(running.signal);
        const { signal } = running;
        globalThis.addEventListener("online", () => this.update(), { signal });
        globalThis.document?.addEventListener(
            "visibilitychange", () => { if (document.visibilityState === "visible") this.update(); }, { signal },
        );
    }

    /** Ends all requests. The features stay, and `start` continues. */
    stop() {
        this.#running?.abort();
        this.#running = null;
        this.#wake();
    }

    /** Requests the changes soon, without waiting for an event. */
    update() {
        this.#isDue = true;
        this.#wake();
    }

    /** Removes this copy from the browser's storage. */
    async forget() {
        this.stop();
        await this.#store?.remove();
        this.#store = null;
        this.#replace([]);
        this.#cursor = null;
    }

    // MARK: Requests

    /** @returns {[string, string][]} */
    #sorted() {
        const values = Object.entries(this.#options.parameters).map(([name, value]) => [name, String(value)]);
        return /** @type {[string, string][]} */ (values.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)));
    }

    /** @param {AbortSignal} signal */
    async #keepUpdated(signal) {
        let failures = 0;
        while (!signal.aborted) {
            this.#isDue = false;
            const began = Date.now();
            let wait = this.#options.interval;
            try {
                await this.#request(signal);
                failures = 0;
            } catch (error) {
                if (signal.aborted) return;
                this.#change({ connected: false });
                this.#emit("problem", errorText(error));
                if (error instanceof RefusedRequest) return this.stop();
                failures += 1;
                const least = /** @type {any} */ (error).retryAfter ?? 0;
                wait = Math.max(least, Math.min(
                    FIRST_RETRY_MILLISECONDS * 2 ** (failures - 1), LONGEST_RETRY_MILLISECONDS,
                )) * (1 + Math.random() / 4);
            }
            await this.#rest(failures ? wait : this.#options.pause, wait, began, signal);
        }
    }

    /** Waits until a request is due: by an event after `least` milliseconds, and after `most` in any case.
     * @param {number} least
     * @param {number} most
     * @param {number} began
     * @param {AbortSignal} signal */
    async #rest(least, most, began, signal) {
        for (;;) {
            const passed = Date.now() - began;
            const left = (this.#isDue ? Math.min(least, most) : most) - passed;
            if (left <= 0 || signal.aborted) return;
            await new Promise((resolve) => {
                const timer = setTimeout(resolve, left);
                this.#wake = () => { clearTimeout(timer); resolve(undefined); };
                if (signal.aborted) this.#wake();
            });
        }
    }

    /** @param {AbortSignal} signal */
    async #request(signal) {
        const url = new URL(this.#url);
        if (this.#cursor !== null) url.searchParams.set("since", this.#cursor);
        const limit = new AbortController();
        const end = () => limit.abort(signal.reason);
        const timer = setTimeout(
            () => limit.abort(new DOMException("the request timed out", "TimeoutError")), TIMEOUT_MILLISECONDS,
        );
        signal.addEventListener("abort", end, { once: true });
        let answer;
        try {
            const headers = this.#options.headers();
            const response = await fetch(url, { headers, cache: "no-store", signal: limit.signal });
            if (!response.ok) throw await failure(response);
            answer = await response.json();
        } finally {
            clearTimeout(timer);
            signal.removeEventListener("abort", end);
        }
        if (signal.aborted) return;
        if (!answer.full && answer.since !== this.#cursor) throw new Error("the answer is about another state");
        await this.#apply(answer);
        this.#emit("problem", null);
    }

    /** Applies an answer to the copy and to the storage.
     * @param {{ full: boolean, cursor: string, features: Feature[], removed: string[], time: string,
     *     dataTime: string | null, stale: boolean, simulated: boolean, incomplete: boolean }} answer */
    async #apply({ full, cursor, features, removed, ...members }) {
        const before = this.#cursor;
        if (full) removed = [...this.#features.keys()];
        /** @type {string[]} */
        let gone = [];
        if (full) {
            const kept = new Set(features.map(({ id }) => id));
            gone = removed.filter((id) => !kept.has(id));
            this.#replace(features);
        } else {
            gone = removed.filter((id) => this.#features.delete(id));
            for (const feature of features) this.#features.set(feature.id, feature);
        }
        this.#cursor = cursor;
        const { time, dataTime, stale, simulated, incomplete } = members;
        const state = {
            time, dataTime, stale, simulated, incomplete, receivedAt: Date.now(), connected: true,
        };
        if (full || features.length || gone.length) {
            this.#emit("change", /** @type {ChangeDetail} */ ({ full, changed: features, removed: gone }));
        }
        const stored = await this.#save(full, before, features, gone, state);
        this.#change({ ...state, stored });
    }

    /** @param {Feature[]} features */
    #replace(features) {
        this.#features.clear();
        for (const feature of features) this.#features.set(feature.id, feature);
    }

    // MARK: Storage

    /** Reads the stored copy. Without storage the copy lives in memory alone. */
    async #load() {
        try {
            this.#store = await CopyStore.open(this.#url.href);
            const found = await this.#store.read();
            if (!found) return;
            this.#replace(found.features);
            this.#cursor = found.cursor;
            this.#emit("change", /** @type {ChangeDetail} */ ({ full: true, changed: found.features, removed: [] }));
            this.#change({ ...found.state, connected: false, stored: true });
        } catch {
            // Private windows and full disks have no storage.
            this.#store = null;
        }
    }

    /** @param {boolean} full
     * @param {string | null} before
     * @param {Feature[]} changed
     * @param {string[]} removed
     * @param {object} state */
    async #save(full, before, changed, removed, state) {
        if (!this.#store || this.#cursor === null) return false;
        try {
            await this.#store.write({
                cursor: this.#cursor, state, before: full ? null : before, changed, removed, all: this.#features,
            });
            return true;
        } catch {
            return false;
        }
    }

    // MARK: Events

    /** Listens to the server's events (HTML Living Standard, section 9.2), by fetch, because EventSource can't send a
     * key.
     * @param {AbortSignal} signal */
    async #listen(signal) {
        const url = new URL("../events", this.#url);
        for (const [name, value] of this.#sorted()) if (PLACE.includes(name)) url.searchParams.set(name, value);
        /** @type {string | null} */
        let last = null;
        let failures = 0;
        while (!signal.aborted) {
            try {
                /** @type {Record<string, string>} */
                const headers = { ...this.#options.headers(), Accept: "text/event-stream" };
                if (last) headers["Last-Event-ID"] = last;
                await readEvents(url, headers, signal, (event) => {
                    failures = 0;
                    last = event.id ?? last;
                    if (event.name === "data" && this.#isAbout(event.data)) this.update();
                });
            } catch {
                // The requests for changes report what is wrong.
            }
            failures += 1;
            await this.#waitFor(
                Math.min(FIRST_RETRY_MILLISECONDS * 2 ** (failures - 1), LONGEST_RETRY_MILLISECONDS), signal);
        }
    }

    /** @param {number} milliseconds
     * @param {AbortSignal} signal */
    #waitFor(milliseconds, signal) {
        return new Promise((resolve) => {
            const timer = setTimeout(resolve, milliseconds);
            signal.addEventListener("abort", () => { clearTimeout(timer); resolve(undefined); }, { once: true });
        });
    }

    /** Whether a `data` event is about this collection. One without a collection is about all.
     * @param {string} data */
    #isAbout(data) {
        const own = this.#options.collection;
        try {
            const { collection } = JSON.parse(data);
            return collection === undefined || (EVENTS.get(own) ?? [own]).includes(collection);
        } catch {
            return false;
        }
    }

    /** @param {Partial<CopyState>} changed */
    #change(changed) {
        this.#state = { ...this.#state, ...changed };
        this.#emit("state", this.state);
    }

    /** @param {string} name
     * @param {unknown} detail */
    #emit(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }
}

/** The error of a response, with the text of the server's problem document (RFC 9457).
 * @param {Response} response */
async function failure(response) {
    /** @type {{ detail?: string }} */
    const problem = await response.json().catch(() => ({}));
    const text = problem.detail ?? `the server answered ${response.status}`;
    const isFinal = response.status >= 400 && response.status < 500 && response.status !== 429;
    const error = isFinal ? new RefusedRequest(text) : new Error(text);
    const seconds = Number(response.headers.get("Retry-After"));
    return Object.assign(error, { retryAfter: seconds > 0 ? seconds * 1_000 : 0 });
}

/** Reads events until the connection ends.
 * @param {URL} url
 * @param {Record<string, string>} headers
 * @param {AbortSignal} signal
 * @param {(event: { name: string, data: string, id: string | null }) => void} onEvent */
async function readEvents(url, headers, signal, onEvent) {
    const abort = new AbortController();
    const end = () => abort.abort();
    signal.addEventListener("abort", end, { once: true });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let watchdog;
    const restart = () => {
        clearTimeout(watchdog);
        watchdog = setTimeout(end, SILENCE_MILLISECONDS);
    };
    try {
        if (signal.aborted) return;
        restart();
        const response = await fetch(url, { headers, cache: "no-store", signal: abort.signal });
        const reader = response.ok ? response.body?.getReader() : null;
        if (!reader) return;
        const decoder = new TextDecoder();
        let text = "";
        for (;;) {
            restart();
            const { done, value } = await reader.read();
            if (done) return;
            text += decoder.decode(value, { stream: true });
            const blocks = text.split("\n\n");
            text = blocks.pop() ?? "";
            for (const block of blocks) {
                const event = { name: "message", data: "", id: /** @type {string | null} */ (null) };
                for (const line of block.split("\n")) {
                    const [, field, value = ""] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
                    if (field === "event") event.name = value;
                    if (field === "data") event.data += (event.data && "\n") + value;
                    if (field === "id") event.id = value;
                }
                onEvent(event);
            }
        }
    } finally {
        signal.removeEventListener("abort", end);
        clearTimeout(watchdog);
    }
}

/** The stored form of one copy. A transaction holds all of a change, so that a page that is closed meanwhile leaves the
 * state before or the state after. */
class CopyStore {
    #database;
    #name;

    /** @param {IDBDatabase} database
     * @param {string} name */
    constructor(database, name) {
        this.#database = database;
        this.#name = name;
        // Another page may need to upgrade or delete the database.
        database.onversionchange = () => database.close();
    }

    /** @param {string} name  the address of the copy's changes
     * @returns {Promise<CopyStore>} */
    static open(name) {
        return new Promise((resolve, reject) => {
            const request = indexedDB.open(DATABASE, 1);
            request.onupgradeneeded = () => {
                request.result.createObjectStore("copies");
                request.result.createObjectStore("features");
            };
            request.onsuccess = () => resolve(new CopyStore(request.result, name));
            request.onerror = () => reject(request.error);
            request.onblocked = () => reject(new Error("another page holds an older database"));
        });
    }

    #range() { return IDBKeyRange.bound([this.#name], [this.#name, []]); }

    /** The stored copy; null where there is none.
     * @returns {Promise<{ cursor: string, state: Partial<CopyState>, features: Feature[] } | null>} */
    async read() {
        const transaction = this.#database.transaction(["copies", "features"]);
        const copy = transaction.objectStore("copies").get(this.#name);
        const features = transaction.objectStore("features").getAll(this.#range());
        await finished(transaction);
        return copy.result ? { ...copy.result, features: features.result } : null;
    }

    /** Writes a change.
     *
     *   before  the cursor that the change is since; null writes everything
     * @param {{ cursor: string, state: object, before: string | null, changed: Feature[], removed: string[],
     *     all: Map<string, Feature> }} change */
    async write({ cursor, state, before, changed, removed, all }) {
        const transaction = this.#database.transaction(["copies", "features"], "readwrite");
        const [copies, features] = [transaction.objectStore("copies"), transaction.objectStore("features")];
        const known = copies.get(this.#name);
        known.onsuccess = () => {
            // Another page may have stored another state meanwhile.
            const isWhole = before === null || known.result?.cursor !== before;
            if (isWhole) features.delete(this.#range());
            else for (const id of removed) features.delete([this.#name, id]);
            for (const feature of isWhole ? all.values() : changed) features.put(feature, [this.#name, feature.id]);
            copies.put({ cursor, state }, this.#name);
        };
        await finished(transaction);
    }

    /** Removes the copy. */
    async remove() {
        const transaction = this.#database.transaction(["copies", "features"], "readwrite");
        transaction.objectStore("copies").delete(this.#name);
        transaction.objectStore("features").delete(this.#range());
        await finished(transaction);
    }
}

/** @param {IDBTransaction} transaction
 * @returns {Promise<void>} */
function finished(transaction) {
    return new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
}
