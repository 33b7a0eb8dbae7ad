// @ts-check
// Requests the data of the first picture while the map library is still loading.
import { tilesInView } from "./visible-tiles.js";
import { compactTime } from "./format.js";
import { defaultLayers } from "./layers.js";
import { pictureRequest } from "./picture-request.js";
import { prefetchJSON, prefetchTile } from "./server.js";
import { loadStyles } from "./styles.js";
import { parseHash, pictureAddress, setDefaultLayers } from "./view.js";

const namesLayers = new URLSearchParams(location.hash.replace(/^#/, "")).has("layers");
prefetchJSON("styles");
if (namesLayers) prefetchPicture();

/** Resolves after the request of `/status`. The status decides the layers of a link that names none.
 * @type {Promise<void>} */
export const defaultLayersReady = prefetchJSON("status").then((status) => {
    setDefaultLayers(defaultLayers(status));
    if (!namesLayers) prefetchPicture();
}, () => {});

async function prefetchPicture() {
    const { view } = parseHash(location.hash);
    const tileJSONRequest = prefetchJSON(...pictureAddress(view, view.time === null ? null : compactTime(view.time)));
    try {
        const [tileJSON] = await Promise.all([tileJSONRequest, loadStyles()]);
        const { parts, time } = pictureRequest(tileJSON, view, devicePixelRatio > 1 ? 2 : 1);
        // At an instant, some parts may have no data.
        if (time !== null && parts.length > 1) return;
        for (const [z, x, y] of tilesInView(view, innerWidth, innerHeight)) {
            for (const { template } of parts) {
                prefetchTile(template.replace("{z}", `${z}`).replace("{x}", `${x}`).replace("{y}", `${y}`));
            }
        }
    } catch {
        // The page repeats the request and reports the error.
    }
}
