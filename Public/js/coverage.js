// @ts-check
// Whether what is in view is whole. The server marks a picture incomplete for all of the world, and a tile for all of
// the tile. Of a part of the map it says so too: here it is asked about the part that one sees, layer by layer.
import { FIELD, isOutsideFields } from "./field.js";
import { compact } from "./format.js";
import { AHEAD, LAYERS } from "./layers.js";
import { answer, now } from "./server.js";
import { filters } from "./view.js";

const MERCATOR_LATITUDE = 85.05;
const MOST_KEPT = 200;

/** Which layers lack data in view; null where that isn't known.
 * @typedef {string[] | null} Lacking */

export class Coverage {
    #changed;
    /** @type {Map<string, Lacking>} */
    #known = new Map();
    #asked = "";
    /** @type {Lacking} */
    #last = null;

    /** @param {() => void} changed  hears that an answer came */
    constructor(changed) { this.#changed = changed; }

    /** What the map of a view lacks at an instant, null being live. Until the answer is there it is that of before: a
     * mark that came and went with each move of the map could not be read.
     * @param {Billow.View} view
     * @param {number | null} time
     * @param {string} box  of the map, as `boxOf` has it
     * @param {string} key  of the picture
     * @param {boolean} isPlaying  whether one answer for all layers will do
     * @returns {Lacking} */
    of(view, time, box, key, isPlaying) {
        // What is only observed has no picture of a time to come; the page says that in another place.
        const isAhead = time !== null && time > now();
        const layers = LAYERS.filter(({ shape }) => !isAhead || AHEAD.includes(shape)).map(({ id }) => id)
            .filter((id) => view.layers.includes(id));
        const parts = isPlaying && layers.length ? [layers.join()] : layers;
        const question = [parts.join(" "), filters(view), time, box, key].join(" ");
        const known = this.#known.get(question);
        if (known !== undefined) return (this.#last = known);
        if (question !== this.#asked) this.#ask(question, parts, view, time, box);
        return this.#last;
    }

    /** @param {string} question
     * @param {string[]} parts  layers, or some laid over each other
     * @param {Billow.View} view
     * @param {number | null} time
     * @param {string} box */
    async #ask(question, parts, view, time, box) {
        this.#asked = question;
        const hasNoField = view.layers.includes(FIELD) && await isOutsideFields(time);
        const lacking = await Promise.all(parts.map(async (id) => {
            if (hasNoField && id === FIELD) return id;
            const query = filters(view);
            query.set("bbox", box);
            query.set("width", "16");
            if (time !== null) query.set("time", compact(time));
            const { headers } = await answer(`maps/${id}.png?${query}`, { method: "HEAD", cache: "no-cache" });
            return headers.get("X-Incomplete") === "true" ? id : null;
        })).then((found) => found.flatMap((id) => id?.split(",") ?? []), () => null);
        if (this.#known.size > MOST_KEPT) this.#known.clear();
        // What failed is asked again with the next picture.
        if (lacking) this.#known.set(question, lacking);
        else if (question === this.#asked) this.#last = null;
        this.#changed();
    }
}

/** The part of the world that a map shows, as the server's `bbox`.
 * @param {{ getWest(): number, getSouth(): number, getEast(): number, getNorth(): number }} bounds */
export function boxOf(bounds) {
    const isWorld = bounds.getEast() - bounds.getWest() >= 360;
    /** @param {number} longitude */
    const turned = (longitude) => ((((longitude + 180) % 360) + 360) % 360) - 180;
    /** @param {number} latitude */
    const cut = (latitude) => Math.min(Math.max(latitude, -MERCATOR_LATITUDE), MERCATOR_LATITUDE);
    const [west, east] = isWorld ? [-180, 180] : [turned(bounds.getWest()), turned(bounds.getEast())];
    return [west, cut(bounds.getSouth()), east, cut(bounds.getNorth())].map((side) => side.toFixed(2)).join(",");
}
