// @ts-check
// Requests to Billow. All paths are relative to the page, so that the page works behind any path prefix.

import { contact, recordNoResponse, recordResponse, respondedAt } from "./contact.js";
import { askForKey, keyHeaders } from "./api-key.js";
import { isOwnServer, storageName } from "./storage.js";

const TIMEOUT_MILLISECONDS = 15_000;
export const TILE_TIMEOUT_MILLISECONDS = 30_000;
/** A server without a response for this long is silent, as in offline.js. Without contact the page waits less. */
export const SILENT_MILLISECONDS = 4_000;
const STILL_SILENT_MILLISECONDS = 1_000;
/** The header that the service worker, offline.js, adds to responses from its cache. */
const CACHED_AT = "X-Billow-Cached-At";
const UNREACHABLE = "the server can't be reached";

/** The error of a failed request; users see its message. `status` is 0 if there was no response. */
export class ServerError extends Error {
    /** @param {string} message
     * @param {number} status
     * @param {string} [code] */
    constructor(message, status, code) {
        super(message);
        this.status = status;
        this.code = code;
    }
}

/** The server's clock minus this device's clock, in milliseconds. Ages count from the server's clock. */
let clockOffset = 0;

export const now = () => Date.now() + clockOffset;

export const clockDifference = () => Math.abs(clockOffset);

/** The address of a file of the page's version, which the browser caches for ever.
 * @param {string} path  relative to the root of the viewer's files */
export const assetAddress = (path) => new URL(`../${path}`, import.meta.url).href;

/** The JSON of a file of the page's version. A cached file does not mean contact with the server.
 * @param {string} path  relative to the root of the viewer's files
 * @returns {Promise<any>} */
export async function getAsset(path) {
    const response = await fetch(assetAddress(path));
    if (!response.ok) throw new ServerError(`${path}: ${response.status} ${response.statusText}`, response.status);
    return response.json();
}

/** The JSON body of a GET. Throws ServerError with the text of the server's problem document (RFC 9457), if any.
 * @param {string} path
 * @param {URLSearchParams | null} [parameters]
 * @param {AbortSignal} [signal]
 * @param {number} [milliseconds]  the timeout
 * @returns {Promise<any>} */
export function getJSON(path, parameters, signal, milliseconds = TIMEOUT_MILLISECONDS) {
    const url = address(path, parameters);
    const prefetchedBody = prefetched.get(url);
    prefetched.delete(url);
    return prefetchedBody ?? requestJSON(url, { cache: "no-cache" }, signal, milliseconds);
}

/** Prefetched responses by address. The first call of `getJSON` uses a response and removes it.
 * @type {Map<string, Promise<any>>} */
const prefetched = new Map();

/** Prefetches the response of a later `getJSON`.
 * @param {string} path
 * @param {URLSearchParams | null} [parameters] */
export function prefetchJSON(path, parameters) {
    const url = address(path, parameters);
    const body = requestJSON(url, { cache: "no-cache" });
    body.catch(() => {});
    prefetched.set(url, body);
    return body;
}

/** Prefetched tiles by address. The first request uses a tile and removes it.
 * @type {Map<string, Promise<Response>>} */
const prefetchedTiles = new Map();

/** Prefetches a tile of the first picture, unless that has happened.
 * @param {string} url
 * @param {Promise<Response>} [sent]  its request, if it is sent already
 * @returns {Promise<Response>} */
export function prefetchTile(url, sent) {
    const tile = prefetchedTiles.get(url) ?? fetchResponse(url, { cache: "no-cache" }, sent);
    tile.catch(() => {});
    prefetchedTiles.set(url, tile);
    return tile;
}

/** Forgets the prefetched tiles that are no part of the first picture.
 * @param {string[]} urls  the tiles of the first picture */
export function keepPrefetchedTiles(urls) {
    for (const url of prefetchedTiles.keys()) if (!urls.includes(url)) prefetchedTiles.delete(url);
}

/** Removes and returns a prefetched tile, if there is one.
 * @param {string} url */
export function claimPrefetchedTile(url) {
    const tile = prefetchedTiles.get(url);
    prefetchedTiles.delete(url);
    return tile;
}

/** @param {string} path
 * @param {URLSearchParams | null} [parameters] */
function address(path, parameters) {
    const query = parameters?.toString();
    return query ? `${path}?${query}` : path;
}

/** @param {string} path
 * @param {RequestInit} options
 * @param {AbortSignal} [signal] */
export async function requestJSON(path, options, signal, milliseconds = TIMEOUT_MILLISECONDS) {
    const limit = timeoutSignal(signal, milliseconds);
    const response = await fetchResponse(
        path, { ...options, signal: limit, headers: { Accept: "application/json, */*;q=0.5" } },
    );
    readClock(response.headers);
    try {
        return await response.json();
    } catch (error) {
        if (signal?.aborted) throw error;
        const reason = limit.aborted ? "the response timed out" : "the response is not JSON";
        throw new ServerError(`${path}: ${reason}`, response.status);
    }
}

/** Returns a successful response. Throws ServerError, or AbortError if the caller aborts. If the server requires a key,
 * asks the user for one and retries.
 * @param {string} url
 * @param {RequestInit} [options]
 * @param {Promise<Response>} [first]  the first request, if it is sent already */
export async function fetchResponse(url, options = {}, first) {
    for (;;) {
        const sent = keyHeaders(url);
        const sentAt = performance.now();
        /** @type {Response | undefined} */
        let response;
        try {
            const loading = first ?? fetch(url, { ...options, headers: { ...options.headers, ...sent } });
            response = await (isTile(url) ? tileInTime(url, loading, sentAt) : loading);
            first = undefined;
        } catch (error) {
            const { name: errorName } = /** @type {Error} */ (error);
            if (errorName === "AbortError") throw error;
            const isTimeout = errorName === "TimeoutError";
            response = isTimeout ? undefined : await savedTile(url);
            // A slow request does not mean lost contact if the server answered other requests meanwhile.
            const isSlow = isTimeout && respondedAt > sentAt;
            const reason = isTimeout ? "the request timed out" : UNREACHABLE;
            if (!response && isOwnServer(url) && !isSlow) recordNoResponse(reason);
            if (!response) throw new ServerError(reason, 0);
        }
        const cachedAt = response.headers.get(CACHED_AT);
        // The responses are of different times. The header shows that of the picture.
        if (cachedAt !== null) recordNoResponse(`${UNREACHABLE}. The page shows data saved on this device`);
        else if (isOwnServer(url)) recordResponse(now());
        if (response.ok) return response;
        const failure = await errorOf(response);
        if (response.status !== 401 || !isOwnServer(url) || !(await askForKey(failure.message, sent))) throw failure;
    }
}

/** @param {string} url */
const isTile = (url) => /\/tiles\/[^?]+\.png/.test(url) && isOwnServer(url);

/** The tile that the service worker, offline.js, has saved on this device.
 * @param {string} url */
async function savedTile(url) {
    return isTile(url) ? self.caches?.match(url, { cacheName: storageName("billow-data") }) : undefined;
}

/** A tile's response. If the server is silent, the saved tile. A prefetched request has no other time limit.
 * @param {string} url
 * @param {Promise<Response>} loading
 * @param {number} sentAt
 * @returns {Promise<Response>} */
function tileInTime(url, loading, sentAt) {
    return new Promise((resolve, reject) => {
        loading.then(resolve, reject);
        setTimeout(async () => {
            const saved = respondedAt > sentAt ? undefined : await savedTile(url);
            if (saved) resolve(saved);
        }, contact.problem === null ? SILENT_MILLISECONDS : STILL_SILENT_MILLISECONDS);
        setTimeout(() => reject(new DOMException("", "TimeoutError")), TILE_TIMEOUT_MILLISECONDS);
    });
}

/** A signal that aborts with `signal`, if there is one, and after a timeout.
 * Not all browsers on tablets in cockpits have AbortSignal.any.
 * @param {AbortSignal | undefined} signal
 * @param {number} milliseconds */
export function timeoutSignal(signal, milliseconds) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException("the request timed out", "TimeoutError")), milliseconds);
    signal?.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
    return controller.signal;
}

/** Reads the server's clock. A caching proxy repeats the old Date, and gives its age in Age (RFC 9111, section 5.1).
 * @param {Headers} headers */
function readClock(headers) {
    // A response from this device's cache has an old Date.
    if (headers.has(CACHED_AT)) return;
    const date = Date.parse(headers.get("Date") ?? "");
    const seconds = Number(headers.get("Age") ?? 0);
    if (!Number.isNaN(date)) clockOffset = date + (Number.isFinite(seconds) ? seconds * 1000 : 0) - Date.now();
}

/** @param {Response} response */
async function errorOf(response) {
    const status = `${response.status} ${response.statusText}`.trim();
    try {
        const body = await response.json();
        return new ServerError(body.detail ?? body.title ?? status, response.status, body.code);
    } catch {
        // The body is no problem document; it may be a proxy's page. Only the status is known.
        return new ServerError(status, response.status);
    }
}
