// @ts-check
// The service worker. If the server is unreachable, it serves cached responses: the page, its legend and the last
// frames. Each one names the instant at which it was cached, so that the page states that it is not live. While the
// server answers, the worker serves nothing from the cache.

/** @typedef {{
 *     respondWith(response: Promise<Response>): void, waitUntil(done: Promise<unknown>): void, request: Request,
 * }} FetchEvent
 * @typedef {{ waitUntil(done: Promise<unknown>): void }} LifeEvent
 * @typedef {{
 *     addEventListener(name: "install" | "activate", listener: (event: LifeEvent) => void): void,
 *     addEventListener(name: "fetch", listener: (event: FetchEvent) => void): void,
 *     skipWaiting(): Promise<void>, clients: { claim(): Promise<void> }, registration: { scope: string },
 * }} ServiceWorkerScope */

const worker = /** @type {ServiceWorkerScope} */ (/** @type {unknown} */ (self));
const SHELL = "billow-shell";
const DATA = "billow-data";
/** The header of cached responses with the time of caching. */
const CACHED_AT = "X-Billow-Cached-At";
const MAX_CACHED = 800;
const TRIM_EVERY = 100;
/** The files that index.html does not name, because they are loaded on first use. */
const LAZY_FILES = [
    "js/aircraft-alerts.js", "js/airport-signs.js", "js/airport-suggestions.js", "js/airports.js", "js/alert-groups.js",
    "js/city-signs.js", "js/downloads.js", "js/flight-plan.js", "js/flight.js", "js/level-histogram.js",
    "js/place-features.js", "js/position.js", "js/route-form.js", "js/route-sections.js", "js/route.js", "js/share.js",
    "js/waypoints.js", "timeline/clock.js", "timeline/maplibre.js", "timeline/part.js", "timeline/player.js",
    "timeline/point-style.js", "timeline/protocol.js", "timeline/request.js", "vendor/basemap/basemap.geojson",
    "vendor/basemap/coarse.geojson",
];
const DATA_PATHS = /^(tiles\/.+\.(png|json)|status|styles|legend\.(json|svg)|timeline\.json)$/;
let cachedCount = 0;
let isRenewing = false;

worker.addEventListener("install", (event) => event.waitUntil(cacheShell().then(() => worker.skipWaiting())));
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (event) => {
    const { request } = event;
    const { scope } = worker.registration;
    // Responses to requests with a key are never cached on the device.
    if (request.method !== "GET" || !request.url.startsWith(scope) || request.headers.has("X-API-Key")) return;
    const path = request.url.slice(scope.length).replace(/[?#].*$/, "");
    // The status page has the same path as its data, so navigation is excluded.
    if (DATA_PATHS.test(path) && request.mode !== "navigate") event.respondWith(serveData(event));
    else if (path === "" || /\.(js|css|svg|geojson)$/.test(path)) event.respondWith(serveShell(event, path));
});

/** Caches the whole page or nothing, so that files of two versions never mix. */
async function cacheShell() {
    const { scope } = worker.registration;
    const page = await fetch(scope, { cache: "no-cache" });
    const text = await page.clone().text();
    const named = [...text.matchAll(/(?:href|src)="([^":]+\.(?:js|css|svg))"/g)].map(([, path]) => path);
    const paths = [...new Set([...named, ...LAZY_FILES])];
    const responses = await Promise.all(paths.map((path) => fetch(scope + path, { cache: "no-cache" })));
    if (!page.ok || !responses.every(({ ok }) => ok)) return;
    const cache = await caches.open(SHELL);
    await Promise.all([
        cache.put(scope, page), ...paths.map((path, index) => cache.put(scope + path, responses[index])),
    ]);
}

/** @param {FetchEvent} event
 * @param {string} path */
async function serveShell(event, path) {
    const cache = await caches.open(SHELL);
    const known = await cache.match(worker.registration.scope + path);
    try {
        const response = await fetch(event.request);
        const isNewer = known && response.ok && known.headers.get("ETag") !== response.headers.get("ETag");
        if (isNewer && !isRenewing) {
            isRenewing = true;
            event.waitUntil(cacheShell().catch(() => {}).finally(() => { isRenewing = false; }));
        }
        return response;
    } catch (error) {
        if (known) return known;
        throw error;
    }
}

/** @param {FetchEvent} event */
async function serveData(event) {
    const cache = await caches.open(DATA);
    const { url } = event.request;
    try {
        const response = await fetch(event.request);
        if (response.ok) event.waitUntil(cacheResponse(cache, url, response.clone()).catch(() => {}));
        return response;
    } catch (error) {
        const known = event.request.signal.aborted ? undefined : await cache.match(url);
        if (known) return known;
        throw error;
    }
}

/** @param {Cache} cache
 * @param {string} url
 * @param {Response} response */
async function cacheResponse(cache, url, response) {
    const headers = new Headers(response.headers);
    headers.set(CACHED_AT, new Date().toISOString());
    // The cached body is already decompressed.
    headers.delete("Content-Encoding");
    await cache.put(url, new Response(await response.blob(), { headers }));
    cachedCount += 1;
    if (cachedCount % TRIM_EVERY) return;
    const keys = await cache.keys();
    await Promise.all(keys.slice(0, Math.max(0, keys.length - MAX_CACHED)).map((key) => cache.delete(key)));
}
