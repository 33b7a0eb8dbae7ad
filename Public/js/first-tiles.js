// @ts-check
// Requests the tiles of the first picture as the last visit had them, before any other module runs.
import { storageName } from "./storage.js";
import { tilesInView } from "./visible-tiles.js";

/** What a visit remembers: what the tiles depend on, the default position, the size of the window, the templates, and
 * what the page needs to draw them before the server describes them.
 * @typedef {{
 *     visit: string, position: Pick<Billow.View, "zoom" | "longitude" | "latitude">,
 *     size: [width: number, height: number], templates: string[], layers: string[],
 *     styles: Billow.Style[], tileJSON: Billow.TileJSON,
 * }} Memory */

const NAME = storageName("billow-first-picture");
const linked = new URLSearchParams(location.hash.replace(/^#/, ""));
const [zoom, latitude, longitude] = (linked.get("map") ?? "").split("/").map(Number);
linked.delete("map");
/** The tiles of two visits can only be the same if this is. */
const visit = [linked, matchMedia("(prefers-color-scheme: dark)").matches, devicePixelRatio].join();

/** What the last visit of the same view remembers; null without one.
 * @type {Memory | null} */
export const remembered = read();
/** The requests of the tiles by their addresses.
 * @type {Map<string, Promise<Response>>} */
export const requests = new Map();
if (remembered) {
    const position = longitude === undefined ? remembered.position : { zoom, latitude, longitude };
    // The window's size would be known only after a layout of the page.
    for (const { url } of remembered.templates.flatMap((template) => tilesOf(template, position, remembered.size))) {
        const response = fetch(url, { cache: "no-cache" });
        response.catch(() => {});
        requests.set(url, response);
    }
}

/** The tiles in view of a template.
 * @param {string} template
 * @param {Memory["position"]} position
 * @param {[width: number, height: number]} size  the window's */
export function tilesOf(template, position, size) {
    return tilesInView(position, ...size).map((tile) => {
        const [z, x, y] = tile;
        return { tile, url: template.replace("{z}", `${z}`).replace("{x}", `${x}`).replace("{y}", `${y}`) };
    });
}

/** @returns {Memory | null} */
function read() {
    try {
        const memory = JSON.parse(localStorage.getItem(NAME) ?? "null");
        return memory?.visit === visit ? memory : null;
    } catch {
        // Without storage, the tiles wait for their TileJSON.
        return null;
    }
}

/** @param {Omit<Memory, "visit">} memory */
export function remember(memory) {
    try {
        localStorage.setItem(NAME, JSON.stringify({ visit, ...memory }));
    } catch {
        // The browser forbids storage.
    }
}
