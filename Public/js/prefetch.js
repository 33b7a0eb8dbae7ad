// @ts-check
// Requests the data of the first picture while the map library is still loading.
import { keyHeaders } from "./api-key.js";
import { expectResponse } from "./contact.js";
import { FirstPicture, prefetchGround } from "./first-picture.js";
import { remember, remembered, requests, tilesOf } from "./first-tiles.js";
import { compactTime } from "./format.js";
import { defaultLayers } from "./layers.js";
import { pictureRequest } from "./picture-request.js";
import { keepPrefetchedTiles, prefetchJSON, prefetchTile, SILENT_MILLISECONDS } from "./server.js";
import { allStyles, loadStyles, presumeStyles, themeOf } from "./styles.js";
import { parseHash, pictureAddress, setDefaultLayers } from "./view.js";

for (const [url, response] of requests) prefetchTile(url, response);
if (remembered) {
    presumeStyles(remembered.styles);
    setDefaultLayers(remembered.layers);
}
/** The first picture as the last visit had it, or null. The server has not confirmed its layers and styles yet, but its
 * tiles are new.
 * @type {import("./first-picture.js").Prefetched | null} */
export const rememberedPicture = remembered && pictureOf(remembered.tileJSON, null);
prefetchJSON("styles");
expectResponse(SILENT_MILLISECONDS);
prefetchGround();
export const firstPicture = new FirstPicture();
/** The drawing of the remembered picture, which does not wait for the page's other modules; null without one. */
export const rememberedDrawing = rememberedPicture && drawRemembered(rememberedPicture);
const linkedTiles = parseHash(location.hash).named.includes("layers") ? prefetchPicture() : null;

/** Resolves after the request of `/status`. The status decides the layers of a link that names none.
 * @type {Promise<void>} */
export const defaultLayersReady = prefetchJSON("status").then((status) => {
    setDefaultLayers(defaultLayers(status));
}, () => {});

export const firstTiles = linkedTiles ?? defaultLayersReady.then(prefetchPicture);

/** @returns {[width: number, height: number]} */
function windowSize() { return [innerWidth, innerHeight]; }

/** @param {import("./first-picture.js").Prefetched} picture */
function drawRemembered(picture) {
    const { view } = parseHash(location.hash);
    const drawing = firstPicture.draw(view, themeOf(view), picture);
    drawing.catch(() => {});
    return drawing;
}

/** A copy of a prefetched tile. The map uses the tile itself.
 * @param {string} url */
function copyOf(url) {
    const copy = prefetchTile(url).then((response) => response.clone());
    copy.catch(() => {});
    return copy;
}

/** Requests the tiles of the first picture.
 * @param {Billow.TileJSON} tileJSON
 * @param {import("./first-picture.js").Prefetched | null} known  a picture that may have the same tiles
 * @returns {import("./first-picture.js").Prefetched | null} */
function pictureOf(tileJSON, known) {
    const { view } = parseHash(location.hash);
    const request = pictureRequest(tileJSON, view, devicePixelRatio > 1 ? 2 : 1, null, true);
    const { parts, time } = request;
    // At an instant, some parts may have no data.
    if (time !== null && parts.length > 1) return null;
    /** @param {Billow.PictureRequest} each */
    const templatesOf = (each) => each.parts.map(({ template }) => template).join();
    if (known && templatesOf(known.request) === templatesOf(request)) return { ...known, tileJSON, request };
    const tiles = parts.flatMap(({ template, opacity }) => tilesOf(template, view, windowSize()).map((tile) =>
        ({ ...tile, opacity, response: copyOf(tile.url) })));
    return { tileJSON, request, tiles };
}

async function prefetchPicture() {
    const { view } = parseHash(location.hash);
    const tileJSONRequest = prefetchJSON(...pictureAddress(view, view.time === null ? null : compactTime(view.time)));
    try {
        const [tileJSON] = await Promise.all([tileJSONRequest, loadStyles()]);
        const picture = pictureOf(tileJSON, rememberedPicture);
        if (!picture) return null;
        const templates = picture.request.parts.map(({ template }) => template);
        const wanted = templates.flatMap((template) => tilesOf(template, view, windowSize()));
        keepPrefetchedTiles(wanted.map(({ url }) => url));
        // A device stores nothing from a server that requires a key.
        if (view.time === null && !("X-API-Key" in keyHeaders())) {
            const { tiles, attribution } = tileJSON;
            const { zoom, longitude, latitude } = parseHash("").view;
            remember({
                templates, layers: view.layers, styles: allStyles(), tileJSON: { tiles, attribution },
                position: { zoom, longitude, latitude }, size: windowSize(),
            });
        }
        return picture;
    } catch {
        // The page repeats the request and reports the error.
        return null;
    }
}
