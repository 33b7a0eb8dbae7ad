// @ts-check
// The turbulence tiles on the map. A picture is one raster source of one publication, filter and instant; the next one
// is loaded unseen and takes the place of the old in one frame, so that the map never blinks and never mixes two.
import { FIRST_NAME_LAYER } from "./basemap.js";
import { instantOf } from "./format.js";
import { answer, limited } from "./server.js";

const PROTOCOL = "billow-tile";
const TILE_TIMEOUT_MILLISECONDS = 30_000;
const LOOK_MILLISECONDS = 100;
const DIMMED_OPACITY = 0.3;
/** Frames that fade would show colours that mean nothing. */
const NO_FADE = { "raster-fade-duration": 0, "raster-opacity-transition": { duration: 0, delay: 0 } };

/** One picture: what was asked for, and what its tiles said. */
class Picture {
    /** @param {number} number
     * @param {Billow.PictureRequest} request */
    constructor(number, request) {
        this.id = `turbulence-${number}`;
        this.number = number;
        this.request = request;
        this.shown = false;
        /** Tile URL → why.
         * @type {Map<string, string>} */
        this.failures = new Map();
        this.simulated = false;
        this.incomplete = false;
        /** The oldest that a tile named.
         * @type {number | null} */
        this.frameTime = null;
    }

    /** @param {Headers} headers */
    note(headers) {
        this.simulated ||= headers.get("X-Simulated") === "true";
        this.incomplete ||= headers.get("X-Incomplete") === "true";
        const frameTime = instantOf(headers.get("X-Frame-Time"));
        if (frameTime !== null && (this.frameTime === null || frameTime < this.frameTime)) this.frameTime = frameTime;
    }
}

/** Shows pictures on a map and calls `changed` whenever what is to be said about them may have changed. */
export class Pictures {
    #map;
    #changed;
    #number = 0;
    /** @type {Picture | null} */
    #current = null;
    /** @type {Picture | null} */
    #next = null;
    /** @type {Billow.PictureRequest | null} */
    #waiting = null;
    /** @type {number | null} */
    #timer = null;

    /** @param {maplibregl.Map} map
     * @param {Pick<typeof maplibregl, "addProtocol">} library
     * @param {() => void} changed */
    constructor(map, library, changed) {
        this.#map = map;
        this.#changed = changed;
        library.addProtocol(PROTOCOL, (request, abort) => this.#loadTile(request.url, abort));
    }

    /** The picture on the map, or null. */
    get current() { return this.#current; }

    /** The picture being loaded, or null. */
    get next() { return this.#next; }

    /** True until what was asked for last is on the map, whole. A newer publication of the same, which is loaded
     * unseen, keeps nobody waiting: where data comes faster than pictures load there is always one. */
    get isBusy() {
        return this.#current === null || this.isOther || !this.#map.isSourceLoaded(this.#current.id);
    }

    /** True while the map still shows something else than was asked for last. */
    get isOther() { return this.#next !== null && this.#next.request.subject !== this.#current?.request.subject; }

    /** Shows the picture of a request {template, subject, key, tileJSON}.
     * `subject` tells filters and instant apart, `key` publications too. A newer publication of the same subject
     * waits for the one that is loading; otherwise a slow line would never see any.
     * @param {Billow.PictureRequest} request */
    show(request) {
        const newest = this.#waiting ?? this.#next?.request ?? this.#current?.request;
        if (newest?.key === request.key && !this.failed) return;
        if (this.#next?.request.subject === request.subject) {
            if (this.#next.request.key !== request.key) this.#waiting = request;
            return;
        }
        this.#start(request);
    }

    /** True when tiles of what is on the map, or to come, are missing. */
    get failed() { return (this.#next?.failures.size ?? 0) + (this.#current?.failures.size ?? 0) > 0; }

    /** Takes every picture off the map: what is asked for can't be had, and what is there is something else. */
    clear() {
        if (!this.#current && !this.#next) return;
        this.#waiting = null;
        this.#remove(this.#next);
        this.#remove(this.#current);
        this.#next = this.#current = null;
        this.#changed();
    }

    /** @param {Billow.PictureRequest} request */
    #start(request) {
        this.#waiting = null;
        this.#remove(this.#next);
        const picture = new Picture(++this.#number, request);
        this.#next = picture;
        const { tileJSON } = request;
        this.#map.addSource(picture.id, {
            type: "raster", tileSize: 256, tiles: [`${PROTOCOL}://${picture.number}/${request.template}`],
            minzoom: tileJSON.minzoom ?? 0, maxzoom: tileJSON.maxzoom ?? 14,
            ...(Array.isArray(tileJSON.bounds) ? { bounds: tileJSON.bounds } : {}),
            ...(tileJSON.attribution ? { attribution: tileJSON.attribution } : {}),
        });
        // Opacity 0 loads the tiles; visibility none would not.
        this.#map.addLayer(
            {
                id: picture.id, type: "raster", source: picture.id, paint: { "raster-opacity": 0, ...NO_FADE },
            }, FIRST_NAME_LAYER);
        if (this.#current) this.#setOpacity(this.#current, this.isOther ? DIMMED_OPACITY : 1);
        this.#timer ??= setInterval(() => this.#swapWhenLoaded(), LOOK_MILLISECONDS);
        this.#changed();
    }

    #swapWhenLoaded() {
        const picture = this.#next;
        if (!picture) {
            clearInterval(this.#timer ?? undefined);
            this.#timer = null;
            return;
        }
        if (!this.#map.isSourceLoaded(picture.id)) return;
        const waiting = this.#waiting;
        if (picture.failures.size && this.#current && !this.isOther) {
            // The old picture is whole and says how old it is: better than a newer one with holes.
            this.#remove(picture);
            this.#current.failures = picture.failures;
            this.#next = null;
        } else {
            this.#setOpacity(picture, 1);
            this.#remove(this.#current);
            picture.shown = true;
            this.#current = picture;
            this.#next = null;
        }
        if (waiting) this.#start(waiting);
        this.#changed();
    }

    /** @param {Picture} picture
     * @param {number} opacity */
    #setOpacity(picture, opacity) {
        this.#map.setPaintProperty(picture.id, "raster-opacity", opacity);
    }

    /** @param {Picture | null} picture */
    #remove(picture) {
        if (!picture || !this.#map.getSource(picture.id)) return;
        this.#map.removeLayer(picture.id);
        this.#map.removeSource(picture.id);
    }

    /** @param {number} number */
    #pictureOf(number) { return [this.#next, this.#current].find((picture) => picture?.number === number); }

    /** @param {string} url
     * @param {AbortController} abort */
    async #loadTile(url, abort) {
        const [, number = "", tile = ""] = /^[^:]+:\/\/(\d+)\/(.*)$/.exec(url) ?? [];
        const signal = limited(abort.signal, TILE_TIMEOUT_MILLISECONDS);
        try {
            // By its ETag: a tile that hasn't changed costs no more than a 304.
            const response = await answer(tile, { signal, cache: "no-cache" });
            const data = await response.arrayBuffer();
            const picture = this.#pictureOf(Number(number));
            picture?.note(response.headers);
            picture?.failures.delete(tile);
            return { data };
        } catch (error) {
            if (abort.signal.aborted) throw error;
            this.#pictureOf(Number(number))?.failures.set(tile, error instanceof Error ? error.message : String(error));
            throw error;
        } finally {
            this.#changed();
        }
    }
}
