// @ts-check
// Finds the layers whose data in view is incomplete. The server marks a picture as incomplete for the whole world, and
// a tile for the whole tile. It also marks a part of the map; this module requests the visible part of each layer.
import { compactTime } from "./format.js";
import { FORECAST_SHAPES, isField, LAYERS } from "./layers.js";
import { fetchResponse, now } from "./server.js";
import { extentOf, isBeyond } from "./time-extent.js";
import { filters } from "./view.js";

const MERCATOR_LATITUDE = 85.05;
const MAX_CACHED = 200;
const EXTENT_MILLISECONDS = 60_000;

/** The ids of the layers that lack data in view; null if unknown. `edges` are the fields among them that cover the
 * middle of the view.
 * @typedef {string[] & { edges?: string[] } | null} Lacking */

/** Whether a layer has a last instant of its own, ahead of or behind now.
 * @param {string} requested */
const hasEnd = (requested) => LAYERS.some(({ id, shape }) => id === requested && FORECAST_SHAPES.includes(shape));

export class Coverage {
    #changed;
    /** @type {Map<string, Lacking>} */
    #cache = new Map();
    #requested = "";
    /** @type {Lacking} */
    #last = null;
    /** The instants with pictures of the layers that end, and when they were read; null while a request is under way.
     * @type {Map<string, { extent: [first: number, last: number] | null, readAt: number } | null>} */
    #extents = new Map();

    /** @param {() => void} changed  called after each response */
    constructor(changed) { this.#changed = changed; }

    /** The layers that lack data on the map at an instant; null is live. Until a response arrives, this is the previous
     * result: a mark that flickers with each move of the map would be unreadable.
     * @param {Billow.View} view
     * @param {number | null} time
     * @param {string} box  the visible part of the map, from `boxOf`
     * @param {string} pictureKey  the key of the picture
     * @param {boolean} isPlaying  whether one request for all layers but fields together suffices
     * @returns {Lacking} */
    lackingLayers(view, time, box, pictureKey, isPlaying) {
        // Layers of observations have no pictures of the future. A banner states that.
        const isAhead = time !== null && time > now();
        const layers = LAYERS.filter(({ shape }) => !isAhead || FORECAST_SHAPES.includes(shape)).map(({ id }) => id)
            .filter((id) => view.layers.includes(id));
        const others = layers.filter((id) => !isField(id));
        const parts = isPlaying && others.length ? [others.join(), ...layers.filter(isField)] : layers;
        const cacheKey = [parts.join(" "), filters(view), time, box, pictureKey].join(" ");
        const cached = this.#cache.get(cacheKey);
        if (cached !== undefined) return (this.#last = cached);
        if (cacheKey !== this.#requested) this.#request(cacheKey, parts, view, time, box);
        return this.#last;
    }

    /** The layers of which nothing is stored at an instant, as far as known. The server draws nothing then, not even a
     * hatch, and does not mark the picture as incomplete.
     * @param {Billow.View} view
     * @param {number | null} time */
    absentLayers({ layers }, time) {
        return time === null ? [] : layers.filter(hasEnd).filter((id) => {
            const known = this.#extents.get(id);
            const isOld = known === undefined || (known !== null && now() - known.readAt > EXTENT_MILLISECONDS);
            if (isOld) this.#readExtent(id).then(this.#changed);
            return known ? isBeyond(id, known.extent, time) : false;
        });
    }

    /** @param {string} id */
    async #readExtent(id) {
        if (!this.#extents.get(id)) this.#extents.set(id, null);
        const extent = await extentOf(id);
        this.#extents.set(id, { extent, readAt: now() });
        return extent;
    }

    /** @param {string} cacheKey
     * @param {string[]} parts  layer ids, or several ids joined by commas
     * @param {Billow.View} view
     * @param {number | null} time
     * @param {string} box */
    async #request(cacheKey, parts, view, time, box) {
        this.#requested = cacheKey;
        /** @type {string[]} */
        const edges = [];
        const lacks = async (/** @type {string} */ id, /** @type {string} */ box) => {
            const query = filters(view);
            query.set("bbox", box);
            query.set("width", "16");
            if (time !== null) query.set("time", compactTime(time));
            const { headers } = await fetchResponse(`maps/${id}.png?${query}`, { method: "HEAD", cache: "no-cache" });
            return headers.get("X-Incomplete") === "true";
        };
        /** @type {Lacking} */
        const lacking = await Promise.all(parts.map(async (id) => {
            // The server would refuse a request for an instant beyond the layer's end.
            if (time !== null && hasEnd(id) && isBeyond(id, await this.#readExtent(id), time)) return id;
            if (!await lacks(id, box)) return null;
            if (isField(id)) {
                const { middleOf } = await import("./middle.js");
                if (!await lacks(id, middleOf(box))) edges.push(id);
            }
            return id;
        })).then((found) => Object.assign(found.flatMap((id) => id?.split(",") ?? []), { edges }), () => null);
        if (this.#cache.size > MAX_CACHED) this.#cache.clear();
        // A failed request is repeated with the next picture.
        if (lacking) this.#cache.set(cacheKey, lacking);
        else if (cacheKey === this.#requested) this.#last = null;
        this.#changed();
    }
}

/** The part of the world that a map shows, as the server's `bbox`.
 * @param {{ getWest(): number, getSouth(): number, getEast(): number, getNorth(): number }} bounds */
export function boxOf(bounds) {
    // A whole world may come out a little narrower, and would then have the same west and east.
    const isWorld = bounds.getEast() - bounds.getWest() >= 359.9;
    /** @param {number} longitude */
    const wrapped = (longitude) => ((((longitude + 180) % 360) + 360) % 360) - 180;
    /** @param {number} latitude */
    const clamped = (latitude) => Math.min(Math.max(latitude, -MERCATOR_LATITUDE), MERCATOR_LATITUDE);
    const [west, east] = isWorld ? [-180, 180] : [wrapped(bounds.getWest()), wrapped(bounds.getEast())];
    const [south, north] = [clamped(bounds.getSouth()), clamped(bounds.getNorth())];
    return [west, south, east, north].map((side) => side.toFixed(2)).join(",");
}
