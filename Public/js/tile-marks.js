// @ts-check
// The marks of a picture: what the headers of its tiles say about it.
import { instantOf } from "./format.js";

/** The header that the service worker, offline.js, adds to responses from its cache. */
const CACHED_AT = "X-Billow-Cached-At";

export class TileMarks {
    simulated = false;
    incomplete = false;
    /** Whether a tile was saved on this device, and not sent by the server now. */
    isSaved = false;
    /** The turbulence fields of the tiles, as the server names them. A tile without one has an empty name.
     * @type {Set<string>} */
    fields = new Set();
    /** The oldest frame time of all tiles.
     * @type {number | null} */
    frameTime = null;
    /** The newest frame time of all tiles.
     * @type {number | null} */
    newestTime = null;

    /** Whether the tiles are of different states of the data: some have another turbulence field than others, or are
     * saved ones. With contact, such tiles must be renewed at once. */
    get isTorn() { return this.isSaved || this.fields.size > 1; }

    get hasField() { return [...this.fields].some((field) => field !== ""); }

    /** @param {Headers} headers */
    readHeaders(headers) {
        this.simulated ||= headers.get("X-Simulated") === "true";
        this.incomplete ||= headers.get("X-Incomplete") === "true";
        this.isSaved ||= headers.has(CACHED_AT);
        this.fields.add(headers.get("X-Field") ?? "");
        const frameTime = instantOf(headers.get("X-Frame-Time"));
        if (frameTime === null) return;
        this.frameTime = Math.min(this.frameTime ?? frameTime, frameTime);
        this.newestTime = Math.max(this.newestTime ?? frameTime, frameTime);
    }
}
