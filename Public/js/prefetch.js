// @ts-check
// Requests the data of the first picture while the map library is still loading.
import { keyHeaders } from "./api-key.js";
import { tilesInView } from "./visible-tiles.js";
import { prefetchGround } from "./first-picture.js";
import { compactTime } from "./format.js";
import { defaultLayers } from "./layers.js";
import { pictureRequest } from "./picture-request.js";
import { keepPrefetchedTiles, prefetchJSON, prefetchTile } from "./server.js";
import { loadStyles } from "./styles.js";
import { parseHash, pictureAddress, setDefaultLayers } from "./view.js";

/** The templates of the last visit's tiles. */
const MEMORY = "billow-first-tiles";
const linked = new URLSearchParams(location.hash.replace(/^#/, ""));
const namesLayers = linked.has("layers");
linked.delete("map");
/** The tiles of two visits can only be the same if this is. */
const visit = [linked, matchMedia("(prefers-color-scheme: dark)").matches, devicePixelRatio].join();
prefetchRememberedTiles();
prefetchJSON("styles");
prefetchGround();
const linkedTiles = namesLayers ? prefetchPicture() : null;

/** Resolves after the request of `/status`. The status decides the layers of a link that names none.
 * @type {Promise<void>} */
export const defaultLayersReady = prefetchJSON("status").then((status) => {
    setDefaultLayers(defaultLayers(status));
}, () => {});

export const firstTiles = linkedTiles ?? defaultLayersReady.then(prefetchPicture);

/** Prefetches the tiles with the templates of the last visit, because they probably are the first picture's. */
function prefetchRememberedTiles() {
    try {
        const [known, ...templates] = JSON.parse(localStorage.getItem(MEMORY) ?? "[]");
        if (known === visit) for (const { url } of templates.flatMap(tilesOf)) prefetchTile(url);
    } catch {
        // Without storage, the tiles wait for their TileJSON.
    }
}

/** A device stores nothing from a server that requires a key.
 * @param {string[]} templates */
function remember(templates) {
    try {
        if (!("X-API-Key" in keyHeaders())) localStorage.setItem(MEMORY, JSON.stringify([visit, ...templates]));
    } catch {
        // The browser forbids storage.
    }
}

/** The tiles in view of a template.
 * @param {string} template */
function tilesOf(template) {
    return tilesInView(parseHash(location.hash).view, innerWidth, innerHeight).map((tile) => {
        const [z, x, y] = tile;
        return { tile, url: template.replace("{z}", `${z}`).replace("{x}", `${x}`).replace("{y}", `${y}`) };
    });
}

/** A copy of a prefetched tile. The map uses the tile itself.
 * @param {string} url */
function copyOf(url) {
    const copy = prefetchTile(url).then((response) => response.clone());
    copy.catch(() => {});
    return copy;
}

/** @returns {Promise<import("./first-picture.js").Prefetched | null>} */
async function prefetchPicture() {
    const { view } = parseHash(location.hash);
    const tileJSONRequest = prefetchJSON(...pictureAddress(view, view.time === null ? null : compactTime(view.time)));
    try {
        const [tileJSON] = await Promise.all([tileJSONRequest, loadStyles()]);
        const request = pictureRequest(tileJSON, view, devicePixelRatio > 1 ? 2 : 1);
        const { parts, time } = request;
        // At an instant, some parts may have no data.
        if (time !== null && parts.length > 1) return null;
        const tiles = parts.flatMap(({ template, opacity }) => tilesOf(template).map((tile) =>
            ({ ...tile, opacity, response: copyOf(tile.url) })));
        keepPrefetchedTiles(tiles.map(({ url }) => url));
        if (time === null) remember(parts.map(({ template }) => template));
        return { tileJSON, request, tiles };
    } catch {
        // The page repeats the request and reports the error.
        return null;
    }
}
