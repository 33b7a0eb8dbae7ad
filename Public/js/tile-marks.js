// @ts-check
// The marks of a picture: what the headers of its tiles say about it.
import { instantOf } from "./format.js";

export class TileMarks {
    simulated = false;
    incomplete = false;
    /** The oldest frame time of all tiles.
     * @type {number | null} */
    frameTime = null;
    /** The newest frame time of all tiles.
     * @type {number | null} */
    newestTime = null;

    /** @param {Headers} headers */
    readHeaders(headers) {
        this.simulated ||= headers.get("X-Simulated") === "true";
        this.incomplete ||= headers.get("X-Incomplete") === "true";
        const frameTime = instantOf(headers.get("X-Frame-Time"));
        if (frameTime === null) return;
        this.frameTime = Math.min(this.frameTime ?? frameTime, frameTime);
        this.newestTime = Math.max(this.newestTime ?? frameTime, frameTime);
    }
}
