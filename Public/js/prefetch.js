// @ts-check
// Requests the data of the first picture while the map library is still loading.
import { tilesInView } from "./visible-tiles.js";
import { prefetchGround } from "./first-picture.js";
import { compactTime } from "./format.js";
import { defaultLayers } from "./layers.js";
import { pictureRequest } from "./picture-request.js";
import { prefetchJSON, prefetchTile } from "./server.js";
import { loadStyles } from "./styles.js";
import { parseHash, pictureAddress, setDefaultLayers } from "./view.js";

const namesLayers = new URLSearchParams(location.hash.replace(/^#/, "")).has("layers");
prefetchJSON("styles");
prefetchGround();
const linked = namesLayers ? prefetchPicture() : null;

/** Resolves after the request of `/status`. The status decides the layers of a link that names none.
 * @type {Promise<void>} */
export const defaultLayersReady = prefetchJSON("status").then((status) => {
    setDefaultLayers(defaultLayers(status));
}, () => {});

export const firstTiles = linked ?? defaultLayersReady.then(prefetchPicture);

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
        const places = tilesInView(view, innerWidth, innerHeight);
        const tiles = parts.flatMap(({ template, opacity }) => places.map((tile) => {
            const [z, x, y] = tile;
            const url = template.replace("{z}", `${z}`).replace("{x}", `${x}`).replace("{y}", `${y}`);
            return { tile, opacity, response: prefetchTile(url) };
        }));
        return { tileJSON, request, tiles };
    } catch {
        // The page repeats the request and reports the error.
        return null;
    }
}
