// @ts-check
// Requests the data of the first picture while the map library is still loading.
import { tilesInView } from "./visible-tiles.js";
import { compact } from "./format.js";
import { firstLayers } from "./layers.js";
import { pictureRequest } from "./picture-request.js";
import { askAhead, askTileAhead } from "./server.js";
import { loadStyles } from "./styles.js";
import { parseHash, pictureAddress, setFirstLayers } from "./view.js";

const isNamed = new URLSearchParams(location.hash.replace(/^#/, "")).has("layers");
askAhead("styles");
if (isNamed) askPicture();

/** Resolves after the request of `/status`. The status decides the layers of a link that names none.
 * @type {Promise<void>} */
export const first = askAhead("status").then((status) => {
    setFirstLayers(firstLayers(status));
    if (!isNamed) askPicture();
}, () => {});

async function askPicture() {
    const { view } = parseHash(location.hash);
    const asked = askAhead(...pictureAddress(view, view.time === null ? null : compact(view.time)));
    try {
        const [tileJSON] = await Promise.all([asked, loadStyles()]);
        const { parts, time } = pictureRequest(tileJSON, view, devicePixelRatio > 1 ? 2 : 1);
        // At an instant, some parts may have no data.
        if (time !== null && parts.length > 1) return;
        for (const [z, x, y] of tilesInView(view, innerWidth, innerHeight)) {
            for (const { template } of parts) {
                askTileAhead(template.replace("{z}", `${z}`).replace("{x}", `${x}`).replace("{y}", `${y}`));
            }
        }
    } catch {
        // The page repeats the request and reports the error.
    }
}
