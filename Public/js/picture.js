// @ts-check
// The turbulence tiles on the map. A picture is some raster sources of one publication, filter and instant; the next
// one is loaded unseen and takes the place of the old in one frame, so that the map never blinks and never mixes two.
import { FIRST_NAME_LAYER } from "./basemap.js";
import { instantOf } from "./format.js";
import { answer, limited, takeAhead } from "./server.js";

const PROTOCOL = "billow-tile";
const TILE_TIMEOUT_MILLISECONDS = 30_000;
const LOOK_MILLISECONDS = 100;
const DIMMED_OPACITY = 0.3;
/** Frames that fade would show colours that mean nothing. */
const NO_FADE = { "raster-fade-duration": 0, "raster-opacity-transition": { duration: 0, delay: 0 } };

/** A part of a picture, one raster source: what was asked for, and what its tiles said. */
class Part {
    /** @param {number} number
     * @param {Billow.PictureRequest["parts"][number]} request */
    constructor(number, { key, template, opacity }) {
        this.id = `turbulence-${number}`;
        this.number = number;
        this.key = `${template} ${key}`;
        this.template = template;
        this.opacity = opacity;
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

/** One picture: its parts, the lowest first. One that is the same as before is shared with the picture before. */
class Picture {
    /** @param {Billow.PictureRequest} request
     * @param {Part[]} parts */
    constructor(request, parts) {
        this.request = request;
        this.parts = parts;
        this.shown = false;
        this.shownAt = -Infinity;
        /** What a newer picture, which was given up, lacked: tile URL → why.
         * @type {Map<string, string>} */
        this.missed = new Map();
    }

    get failures() { return new Map([...this.missed, ...this.parts.flatMap(({ failures }) => [...failures])]); }
    get simulated() { return this.parts.some(({ simulated }) => simulated); }
    get incomplete() { return this.parts.some(({ incomplete }) => incomplete); }
    /** The oldest that a tile named. */
    get frameTime() {
        const times = this.parts.flatMap(({ frameTime }) => frameTime ?? []);
        return times.length ? Math.min(...times) : null;
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
        return this.#current === null || this.isOther || !this.#isLoaded(this.#current);
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
        this.#remove(this.#next, null);
        this.#remove(this.#current, null);
        this.#next = this.#current = null;
        this.#changed();
    }

    /** @param {Billow.PictureRequest} request */
    #start(request) {
        this.#waiting = null;
        this.#remove(this.#next, this.#current);
        const { tileJSON } = request;
        const parts = request.parts.map((wanted) => {
            const part = new Part(++this.#number, wanted);
            const same = this.#current?.parts.find(({ key, failures }) => key === part.key && !failures.size);
            return same ?? part;
        });
        this.#next = new Picture(request, parts);
        for (const part of parts) {
            if (this.#map.getSource(part.id)) continue;
            this.#map.addSource(part.id, {
                type: "raster", tileSize: 256, tiles: [`${PROTOCOL}://${part.number}/${part.template}`],
                minzoom: tileJSON.minzoom ?? 0, maxzoom: tileJSON.maxzoom ?? 14,
                ...(Array.isArray(tileJSON.bounds) ? { bounds: tileJSON.bounds } : {}),
                ...(tileJSON.attribution ? { attribution: tileJSON.attribution } : {}),
            });
            // Opacity 0 loads the tiles; visibility none would not.
            this.#map.addLayer(
                {
                    id: part.id, type: "raster", source: part.id, paint: { "raster-opacity": 0, ...NO_FADE },
                }, FIRST_NAME_LAYER);
        }
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
        if (!this.#isLoaded(picture)) return;
        const waiting = this.#waiting;
        const before = this.#current;
        if (picture.failures.size && before && !this.isOther) {
            // The old picture is whole and says how old it is: better than a newer one with holes.
            before.missed = picture.failures;
            this.#remove(picture, before);
            this.#next = null;
        } else {
            this.#stack(picture);
            this.#setOpacity(picture, 1);
            this.#remove(before, picture);
            picture.shown = true;
            picture.shownAt = performance.now();
            this.#current = picture;
            this.#next = null;
        }
        if (waiting) this.#start(waiting);
        this.#changed();
    }

    /** @param {Picture} picture */
    #isLoaded({ parts }) { return parts.every(({ id }) => this.#map.isSourceLoaded(id)); }

    /** Lays the parts of a picture over each other, where a shared one lay elsewhere.
     * @param {Picture} picture */
    #stack({ parts }) {
        const numbers = parts.map(({ number }) => number);
        if (numbers.every((number, place) => place === 0 || number > numbers[place - 1])) return;
        for (const { id } of parts) this.#map.moveLayer(id, FIRST_NAME_LAYER);
    }

    /** @param {Picture} picture
     * @param {number} share  of what its parts have */
    #setOpacity({ parts }, share) {
        for (const { id, opacity } of parts) this.#map.setPaintProperty(id, "raster-opacity", opacity * share);
    }

    /** @param {Picture | null} picture
     * @param {Picture | null} but  what shares parts with it, and stays */
    #remove(picture, but) {
        for (const part of picture?.parts ?? []) {
            if (but?.parts.includes(part) || !this.#map.getSource(part.id)) continue;
            this.#map.removeLayer(part.id);
            this.#map.removeSource(part.id);
        }
    }

    /** @param {number} number */
    #partOf(number) {
        return [this.#next, this.#current].flatMap((picture) => picture?.parts ?? [])
            .find((part) => part.number === number);
    }

    /** @param {string} url
     * @param {AbortController} abort */
    async #loadTile(url, abort) {
        const [, number = "", tile = ""] = /^[^:]+:\/\/(\d+)\/(.*)$/.exec(url) ?? [];
        const signal = limited(abort.signal, TILE_TIMEOUT_MILLISECONDS);
        try {
            // By its ETag: a tile that hasn't changed costs no more than a 304.
            const response = await (takeAhead(tile) ?? answer(tile, { signal, cache: "no-cache" }));
            const data = await response.arrayBuffer();
            const part = this.#partOf(Number(number));
            part?.note(response.headers);
            part?.failures.delete(tile);
            return { data };
        } catch (error) {
            if (abort.signal.aborted) throw error;
            this.#partOf(Number(number))?.failures.set(tile, error instanceof Error ? error.message : String(error));
            throw error;
        } finally {
            this.#changed();
        }
    }
}
