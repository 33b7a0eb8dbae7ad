// @ts-check
// The service worker. The page's own files come from the cache, because their addresses contain the version. If the
// server is unreachable, the worker also serves cached responses: the page, its legend and the last frames. Each one
// names the instant at which it was cached, so that the page states that it is not live. While the server answers, no
// data comes from the cache, and the page itself is the server's. The browser's own cache has the timeline's frames.
// The status page is saved too; any other page has a notice instead.

/** @typedef {{
 *     respondWith(response: Promise<Response>): void, waitUntil(done: Promise<unknown>): void, request: Request,
 *     preloadResponse?: Promise<Response | undefined>,
 * }} FetchEvent
 * @typedef {{ waitUntil(done: Promise<unknown>): void, addRoutes?: (rules: object) => Promise<void> }} LifeEvent
 * @typedef {LifeEvent & { notification: Notification }} NoticeEvent
 * @typedef {{
 *     claim(): Promise<void>, openWindow(url: string): Promise<unknown>,
 *     matchAll(options: { type: "window" }): Promise<{ url: string, focus(): Promise<unknown> }[]>,
 * }} Clients
 * @typedef {{
 *     addEventListener(name: "install" | "activate", listener: (event: LifeEvent) => void): void,
 *     addEventListener(name: "fetch", listener: (event: FetchEvent) => void): void,
 *     addEventListener(name: "message", listener: (event: LifeEvent & { data: { loaded: string[] } }) => void): void,
 *     addEventListener(name: "notificationclick", listener: (event: NoticeEvent) => void): void,
 *     skipWaiting(): Promise<void>, clients: Clients,
 *     registration: { scope: string, navigationPreload?: { enable(): Promise<void> } },
 * }} ServiceWorkerScope */

const worker = /** @type {ServiceWorkerScope} */ (/** @type {unknown} */ (self));
/** The path of this worker's server. Another server of the same origin has caches of other names; see storage.js. */
const { pathname: PATH } = new URL(worker.registration.scope);
/** @param {string} name */
const storageName = (name) => (PATH === "/" ? name : `${PATH} ${name}`);
/** The prefix of the caches' names of the page's files; the version follows. */
const RELEASE = storageName("billow-release-");
const DATA = storageName("billow-data");
/** The previous version stays for pages that are still open. */
const MAX_RELEASES = 2;
/** The header of cached responses with the time of caching. */
const CACHED_AT = "X-Billow-Cached-At";
const MAX_CACHED = 800;
const TRIM_EVERY = 100;
/** Responses are cached after such a pause of the requests, or after the longest wait, so that no picture waits. */
const PAUSE_MILLISECONDS = 500;
const LONGEST_WAIT_MILLISECONDS = 5_000;
/** A server without a response for this long is silent. A slow link may take seconds. */
const SILENT_MILLISECONDS = 4_000;
/** The same for data after the server has given the page. Tiles, which do not pass here, may delay data that long. */
const SILENT_DATA_MILLISECONDS = 8_000;
/** The pages that work without the server, relative to it. The first one is the viewer. */
const PAGES = ["", "status"];
/** Any other page without the server: the browser's own error page would not lead back to the map. */
const NOTICE = `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Billow · no contact with the server</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1rem }</style>
<h1>No contact with the server</h1>
<p>This page is not saved on this device. The map is, with the last picture that it had.</p>
<p><a href="${PATH}">Map</a></p></html>`;
/** The files that index.html does not name, because they are loaded on first use. */
const LAZY_FILES = [
    "js/aircraft-alerts.js", "js/aircraft-labels.js", "js/airport-signs.js", "js/airport-suggestions.js",
    "js/airports.js", "js/alert-groups.js", "js/area-levels.js", "js/card-times.js", "js/cell-section.js",
    "js/chosen-time.js", "js/city-signs.js", "js/clock-text.js", "js/complete-map.js", "js/distance.js",
    "js/dom-patch.js", "js/downloads.js", "js/events.js", "js/features.js", "js/field.js", "js/flight-plan.js",
    "js/flight.js", "js/frame-views.js", "js/free-area.js", "js/headline.js", "js/hidden-severities.js",
    "js/inspect.js", "js/key-dialog.js", "js/label-guards.js", "js/label-spots.js", "js/layer-list.js",
    "js/legend-symbols.js", "js/level-histogram.js", "js/live-events.js", "js/map-images.js", "js/map-overlay.js",
    "js/map-style.js", "js/map.js", "js/middle.js", "js/missing-areas.js", "js/notices.js", "js/observation-text.js",
    "js/origin-filters.js", "js/outline.js", "js/passage-dialog.js", "js/passage.js", "js/picking.js",
    "js/picture-file.js", "js/place-features.js", "js/png-strip.js", "js/position.js", "js/press-drawing.js",
    "js/profile-view.js", "js/route-file.js", "js/route-fit.js", "js/route-form.js", "js/route-hazards.js",
    "js/route-sections.js", "js/route.js", "js/share.js", "js/source-state.js", "js/sources.js", "js/timeline-marks.js",
    "js/toolbars.js", "js/uncovered.js", "js/waypoints.js",
    "timeline/clock.js", "timeline/maplibre-canvas.js", "timeline/part.js", "timeline/player.js",
    "timeline/protocol.js", "timeline/request.js", "timeline/tile-grid.js", "timeline/tile-states.js",
    "vendor/airports/airports.json", "vendor/basemap/basemap.geojson", "vendor/basemap/coarse.geojson",
    "vendor/cities/cities.json",
];
const TILE_PATH = /^tiles\/.+\.png$/;
const ASSET_PATH = /^assets\/([0-9a-f]{16})\/./;
const DATA_PATHS = /^(tiles\/.+\.json|status|styles|legend\.(json|svg)|timeline\.json)$/;
let cachedCount = 0;
/** The time of the last request for data. */
let requestedAt = 0;
/** The time of the server's last response, by the clock of `performance`. */
let respondedAt = -Infinity;
/** Whether the server was silent at the last request, and has been since. Until it responds, cached data is served
 * after the shorter wait. It is marked as cached, so no page shows it as live. */
let isSilent = false;

worker.addEventListener("install", (event) => {
    // Where browsers know such routes, they look up the files themselves, request data beside this worker, and request
    // the rest without it.
    /** @type {[path: string, source: string][]} */
    const rules = [
        ["assets/*", "cache"], ["tiles/*.png", "network"],
        ...["tiles/*.json", "styles", "legend.json", "timeline.json"].map((path) =>
            /** @type {[string, string]} */ ([path, "race-network-and-fetch-handler"])),
    ];
    /** @param {string} path */
    const at = (path) => ({ urlPattern: { pathname: PATH + path, search: "*" } });
    const routes = event.addRoutes?.([
        ...rules.map(([path, source]) => ({ condition: at(path), source })),
        // A person may open features and maps as a page, and their requests by scripts are of this mode.
        ...["collections/*", "maps/*"].map((path) =>
            ({ condition: { ...at(path), requestMode: "cors" }, source: "network" })),
    ]);
    event.waitUntil(Promise.all([routes?.catch(() => {}), cachePage()]));
});
worker.addEventListener("activate", (event) => event.waitUntil(Promise.all([
    worker.clients.claim(),
    // The browser then requests the page while it starts the worker.
    worker.registration.navigationPreload?.enable(),
    // The name of an earlier version of this worker.
    caches.delete("billow-shell"),
])));
worker.addEventListener("fetch", (event) => {
    const { request } = event;
    const { scope } = worker.registration;
    // Responses to requests with a key are never cached on the device.
    if (request.method !== "GET" || !request.url.startsWith(scope) || request.headers.has("X-API-Key")) return;
    const path = request.url.slice(scope.length).replace(/[?#].*$/, "");
    const [, version] = ASSET_PATH.exec(path) ?? [];
    if (version) event.respondWith(serveAsset(request, version));
    // The status page has the same path as its data.
    else if (path === "" || request.mode === "navigate") event.respondWith(servePage(event, path));
    // Many tiles load at once, and this worker would make each twice as expensive. The page looks them up itself.
    else if (TILE_PATH.test(path)) return;
    else if (DATA_PATHS.test(path)) event.respondWith(serveData(event));
});

/** Caches the server's page with its files, and then replaces the previous worker. */
async function cachePage() {
    await cacheRelease(await fetch(worker.registration.scope, { cache: "no-cache" }));
    await worker.skipWaiting();
}

/** Caches the viewer's page with the others, and all files of their version. It comes last, so that a cache with it is
 * complete.
 * @param {Response} page */
async function cacheRelease(page) {
    const { scope } = worker.registration;
    const copy = page.clone();
    const text = await page.text();
    const [, version = ""] = /"(?:\.\/)?assets\/([0-9a-f]{16})\//.exec(text) ?? [];
    const name = RELEASE + version;
    if (!page.ok || !version || await caches.match(scope, { cacheName: name })) return;
    const others = await Promise.all(PAGES.slice(1).map((path) =>
        fetch(scope + path, { headers: { Accept: "text/html" }, cache: "no-cache" })));
    const texts = await Promise.all(others.map((other) => other.clone().text()));
    // After an update the server has the other pages of another version.
    if (!others.every(({ ok }, index) => ok && texts[index].includes(`assets/${version}/`))) return;
    const named = [text, ...texts].flatMap((each) => [...each.matchAll(/(?:href|src)="(assets\/[^":]+)"/g)])
        .map(([, path]) => path);
    const paths = [...new Set([...named, ...LAZY_FILES.map((path) => `assets/${version}/${path}`)])];
    const responses = await Promise.all(paths.map((path) => fetch(scope + path)));
    // After an update the server has other files at the addresses of this version, and says that they may change.
    if (!responses.every(({ ok, headers }) => ok && headers.get("Cache-Control")?.includes("immutable"))) return;
    const cache = await caches.open(name);
    await Promise.all(paths.map((path, index) => cache.put(scope + path, responses[index])));
    await Promise.all(others.map((other, index) => cache.put(scope + PAGES[index + 1], other)));
    await cache.put(scope, copy);
    await Promise.all((await releases()).slice(0, -MAX_RELEASES).map((each) => caches.delete(each)));
}

/** The names of the caches of versions, the oldest first. */
async function releases() { return (await caches.keys()).filter((name) => name.startsWith(RELEASE)); }

/** @param {Request} request
 * @param {string} version */
async function serveAsset(request, version) {
    return await caches.match(request.url, { cacheName: RELEASE + version }) ?? fetch(request);
}

/** The server's response. Rejects if the server is silent: for too long it has given no response to any request.
 * @param {Promise<Response>} loading
 * @param {number} milliseconds
 * @returns {Promise<Response>} */
function responseInTime(loading, milliseconds) {
    const sentAt = performance.now();
    return new Promise((resolve, reject) => {
        const check = () => {
            const left = Math.max(sentAt, respondedAt) + milliseconds - performance.now();
            if (left > 0) {
                timer = setTimeout(check, left);
                return;
            }
            isSilent = true;
            reject(new Error("the server is silent"));
        };
        let timer = setTimeout(check, milliseconds);
        loading.then((response) => {
            respondedAt = performance.now();
            isSilent = false;
            resolve(response);
        }, reject).finally(() => clearTimeout(timer));
    });
}

/** @param {FetchEvent} event
 * @param {string} path */
async function servePage(event, path) {
    const loading = loadPage(event);
    if (path === "") event.waitUntil(loading.then((page) => cacheRelease(page.clone())).catch(() => {}));
    try {
        return await responseInTime(loading, SILENT_MILLISECONDS);
    } catch {
        const isPage = PAGES.includes(path) && !/[?&]f=json/.test(event.request.url);
        for (const cacheName of isPage ? (await releases()).reverse() : []) {
            const known = await caches.match(worker.registration.scope + path, { cacheName, ignoreVary: true });
            if (!known) continue;
            // A server that refuses the connection may be silent for the page's data.
            isSilent = true;
            return known;
        }
    }
    try {
        return await loading;
    } catch {
        const headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
        };
        return new Response(NOTICE, { status: 503, headers });
    }
}

/** @param {FetchEvent} event
 * @returns {Promise<Response>} */
async function loadPage(event) {
    return await event.preloadResponse ?? fetch(event.request);
}

/** @param {FetchEvent} event */
async function serveData(event) {
    const { request } = event;
    requestedAt = Date.now();
    const loading = fetch(request);
    try {
        const response = await responseInTime(loading, isSilent ? SILENT_MILLISECONDS : SILENT_DATA_MILLISECONDS);
        // The browser does not store the status, so this worker saves it, and its requests have no route.
        if (response.ok && response.headers.get("Cache-Control")?.includes("no-store")) {
            const copy = response.clone();
            event.waitUntil(pauseOfRequests().then(() => cacheResponse(request.url, copy)).catch(() => {}));
        }
        return response;
    } catch {
        const known = request.signal.aborted ? undefined : await caches.match(request.url, { cacheName: DATA });
        return known ?? loading;
    }
}

// A notification of a followed flight leads to the page that follows it.
worker.addEventListener("notificationclick", (event) => {
    event.notification.close();
    const url = String(event.notification.data);
    event.waitUntil(worker.clients.matchAll({ type: "window" }).then((pages) => {
        const page = pages.find((each) => each.url === url) ?? pages[0];
        return page ? page.focus() : worker.clients.openWindow(url);
    }));
});

// The page names what it has loaded: data, and the tiles of a complete picture. This worker itself would miss some of
// the data, because a request that the network wins may never reach it.
worker.addEventListener("message", (event) => event.waitUntil(cacheLoaded(event.data.loaded)));

/** Caches responses that the page has just loaded, without requesting them again.
 * @param {string[]} urls */
async function cacheLoaded(urls) {
    await pauseOfRequests();
    for (const url of urls.filter((each) => each.startsWith(worker.registration.scope))) {
        const response = await fetch(url, { cache: "only-if-cached", mode: "same-origin" }).catch(() => null);
        if (response?.ok) await cacheResponse(url, response);
    }
}

/** Resolves when the page requests no data, or after the longest wait. */
async function pauseOfRequests() {
    for (let waited = 0; waited < LONGEST_WAIT_MILLISECONDS; waited += PAUSE_MILLISECONDS) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
        if (Date.now() - requestedAt >= PAUSE_MILLISECONDS) break;
    }
}

/** @param {string} url
 * @param {Response} response */
async function cacheResponse(url, response) {
    const cache = await caches.open(DATA);
    const headers = new Headers(response.headers);
    // Without the server, the page may load a cached response again, which does not make it newer.
    headers.set(CACHED_AT, new Date(headers.get("Date") ?? Date.now()).toISOString());
    // The cached body is already decompressed.
    headers.delete("Content-Encoding");
    await cache.put(url, new Response(await response.blob(), { headers }));
    cachedCount += 1;
    if (cachedCount % TRIM_EVERY) return;
    const keys = await cache.keys();
    await Promise.all(keys.slice(0, Math.max(0, keys.length - MAX_CACHED)).map((key) => cache.delete(key)));
}
