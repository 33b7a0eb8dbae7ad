// @ts-check
// What the frames of the timeline show. A frame stays on the map until the next one is loaded, also if that has other
// filters. The page loads this module with the player.
import { parseCompactTime } from "./format.js";
import { drawnView, groupFilter, groupsOf, withLayers } from "./picture-request.js";
import { extentOf, isBeyond } from "./time-extent.js";

export class FrameViews {
    /** What the latest manifest was requested for.
     * @type {Billow.DrawnView} */
    #requested;
    /** What the frames of the latest manifest and the frame on the map show, by their templates of tiles.
     * @type {Map<string, Billow.DrawnView>} */
    #drawn = new Map();
    /** The first and the last instant of layers by their ids; null if unknown.
     * @type {Map<string, [first: number, last: number] | null>} */
    #extents = new Map();

    /** @param {Billow.View} view */
    constructor(view) { this.#requested = drawnView(view); }

    /** Notes that the next manifest is for a view.
     * @param {Billow.View} view */
    request(view) { this.#requested = drawnView(view); }

    /** Notes what the frames of a manifest show. The frame on the map stays until one of them replaces it.
     * @param {Billow.ManifestLayer} manifest
     * @param {string | undefined} shown  the template of the frame on the map */
    note({ frames }, shown) {
        const kept = [...this.#drawn].filter(([url]) => url === shown);
        this.#drawn = new Map([...kept, ...frames.map(({ tiles }) => /** @type {const} */ ([tiles, this.#requested]))]);
    }

    /** What a frame shows, by its template of tiles.
     * @param {string} url */
    at(url) { return this.#drawn.get(url) ?? this.#requested; }

    /** Requests the instants with data of each layer that may form a part of its own.
     * @param {Billow.View} view
     * @param {number} [maxAge]  the greatest age of a response in milliseconds */
    async loadExtents(view, maxAge) {
        if (groupsOf({ ...view, time: 0 }).length < 2) return;
        await Promise.all(view.layers.map(async (id) => this.#extents.set(id, await extentOf(id, maxAge))));
    }

    /** Splits a frame into parts of different opacity. It omits parts without data at the frame's instant.
     * @param {string} url */
    partsOf(url) {
        const [path, query] = url.split("?");
        const [, ids = "", compact = ""] = /\/tiles\/([^/]+)\/([^/]+)/.exec(path) ?? [];
        // A field is a separate part in live pictures only.
        const groups = groupsOf({ ...this.at(url), layers: decodeURIComponent(ids).split(","), time: 0 });
        if (groups.length === 1 && !groups[0].severities) return [{ url, opacity: groups[0].opacity }];
        const time = parseCompactTime(compact);
        // A frame's version applies to all its layers together, and not to one part.
        const parameters = new URLSearchParams(query);
        for (const name of ["v", "s"]) parameters.delete(name);
        /** @param {string} id */
        const isThere = (id) => !isBeyond(id, this.#extents.get(id) ?? null, time);
        return groups.filter(({ layers }) => layers.some(isThere)).map((group) =>
            ({ url: `${withLayers(path, group.layers)}?${groupFilter(parameters, group)}`, opacity: group.opacity }));
    }
}
