// @ts-check
// Requests to Billow. All paths are relative to the page, so that it works behind any prefix.

import { contact, noteAnswer, noteSilence } from "./contact.js";
import { near } from "./format.js";
import { askForKey, isOurs, keyHeaders } from "./key.js";

const TIMEOUT_MILLISECONDS = 15_000;
/** The service worker, offline.js, says so of what it has kept. */
const KEPT_AT = "X-Billow-Kept";

/** Why a request failed, in words for people. `status` is 0 where there was no answer at all. */
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

/** How far this device's clock is behind the server's, in milliseconds: ages count from the server's clock. */
let clockOffset = 0;

/** Now, by the server's clock. */
export const now = () => Date.now() + clockOffset;

/** How far the two clocks are apart, in milliseconds. */
export const clockDifference = () => Math.abs(clockOffset);

/** The body of a GET as JSON. Throws ServerError with the server's own words (RFC 9457) where it gave some.
 * @param {string} path
 * @param {URLSearchParams | null} [parameters]
 * @param {AbortSignal} [signal]
 * @param {number} [milliseconds]  how long it may take
 * @returns {Promise<any>} */
export function getJSON(path, parameters, signal, milliseconds = TIMEOUT_MILLISECONDS) {
    const url = address(path, parameters);
    const early = ahead.get(url);
    ahead.delete(url);
    return early ?? json(url, { cache: "no-cache" }, signal, milliseconds);
}

/** Answers that were asked for ahead, each for the first who wants it.
 * @type {Map<string, Promise<any>>} */
const ahead = new Map();

/** Asks now for what `getJSON` will want.
 * @param {string} path
 * @param {URLSearchParams | null} [parameters] */
export function askAhead(path, parameters) {
    const url = address(path, parameters);
    const answer = json(url, { cache: "no-cache" });
    answer.catch(() => {});
    ahead.set(url, answer);
    return answer;
}

/** Tiles that were asked for ahead, each for the first who wants it.
 * @type {Map<string, Promise<Response>>} */
const tilesAhead = new Map();

/** Asks now for a tile that the map will want.
 * @param {string} url */
export function askTileAhead(url) {
    const tile = answer(url, { cache: "no-cache" });
    tile.catch(() => {});
    tilesAhead.set(url, tile);
}

/** The answer to a tile that was asked for ahead, if it was.
 * @param {string} url */
export function takeAhead(url) {
    const tile = tilesAhead.get(url);
    tilesAhead.delete(url);
    return tile;
}

/** @param {string} path
 * @param {URLSearchParams | null} [parameters] */
function address(path, parameters) {
    const query = parameters?.toString();
    return query ? `${path}?${query}` : path;
}

/** Features, of which there are none at an instant that a layer has nothing of: hexagons in an hour, say. Then they are
 * `outside`. Throws ServerError.
 * @param {string} path
 * @param {URLSearchParams} parameters
 * @param {AbortSignal} [signal]
 * @returns {Promise<Billow.FeatureCollection & { outside?: boolean }>} */
export async function getFeatures(path, parameters, signal) {
    try {
        return await getJSON(path, parameters, signal);
    } catch (error) {
        if (error instanceof ServerError && error.code === "time-outside-retention") {
            return { features: [], outside: true };
        }
        throw error;
    }
}

/** The answer to a POST of JSON, likewise.
 * @param {string} path
 * @param {object} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} */
export function postJSON(path, body, signal) {
    return json(path, { method: "POST", body: JSON.stringify(body) }, signal);
}

/** @param {string} path
 * @param {RequestInit} options
 * @param {AbortSignal} [signal] */
async function json(path, options, signal, milliseconds = TIMEOUT_MILLISECONDS) {
    const limit = limited(signal, milliseconds);
    const response = await answer(
        path, { ...options, signal: limit, headers: { Accept: "application/json, */*;q=0.5" } },
    );
    readClock(response.headers);
    try {
        return await response.json();
    } catch (error) {
        if (signal?.aborted) throw error;
        const reason = limit.aborted ? "no whole answer in time" : "the answer is not JSON";
        throw new ServerError(`${path}: ${reason}`, response.status);
    }
}

/** A response with a good status, else ServerError. An abort by the caller stays an AbortError. Where the server wants
 * a key, the reader is asked for one, and the request is tried again.
 * @param {string} url
 * @param {RequestInit} [options] */
export async function answer(url, options = {}) {
    for (;;) {
        const sent = keyHeaders(url);
        const asked = now();
        let response;
        try {
            response = await fetch(url, { ...options, headers: { ...options.headers, ...sent } });
        } catch (error) {
            const { name } = /** @type {Error} */ (error);
            if (name === "AbortError") throw error;
            const reason = name === "TimeoutError" ? "no answer in time" : "the server can't be reached";
            // A question that takes long is no lost contact, where others were answered meanwhile.
            const isSlow = name === "TimeoutError" && contact.since !== null && contact.since > asked;
            if (isOurs(url) && !isSlow) noteSilence(reason);
            throw new ServerError(reason, 0);
        }
        const keptAt = response.headers.get(KEPT_AT);
        if (keptAt !== null) noteSilence(
            `what is shown was kept on this device at ${near(Date.parse(keptAt), Date.now())}`
        );
        else if (isOurs(url)) noteAnswer(now());
        if (response.ok) return response;
        const failure = await problem(response);
        if (response.status !== 401 || !isOurs(url) || !(await askForKey(failure.message, sent))) throw failure;
    }
}

/** A signal that aborts with `signal`, if there is one, and after so many milliseconds.
 * AbortSignal.any would do, but is not on every tablet that flies.
 * @param {AbortSignal | undefined} signal
 * @param {number} milliseconds */
export function limited(signal, milliseconds) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException("no answer in time", "TimeoutError")), milliseconds);
    signal?.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
    return controller.signal;
}

/** A proxy that answers from its cache repeats the old Date and says in Age how old it is (RFC 9111, 5.1).
 * @param {Headers} headers */
function readClock(headers) {
    // What this device has kept says nothing about now.
    if (headers.has(KEPT_AT)) return;
    const date = Date.parse(headers.get("Date") ?? "");
    const seconds = Number(headers.get("Age") ?? 0);
    if (!Number.isNaN(date)) clockOffset = date + (Number.isFinite(seconds) ? seconds * 1000 : 0) - Date.now();
}

/** @param {Response} response */
async function problem(response) {
    const status = `${response.status} ${response.statusText}`.trim();
    try {
        const body = await response.json();
        return new ServerError(body.detail ?? body.title ?? status, response.status, body.code);
    } catch {
        // No problem document: a proxy's own page, say. The status is what can be told.
        return new ServerError(status, response.status);
    }
}
