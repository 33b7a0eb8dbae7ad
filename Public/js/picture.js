// @ts-check
// The turbulence tiles on the map. A picture consists of raster sources of one snapshot, filter and instant. The next
// picture loads invisibly and replaces the current one in a single frame. So the map never blinks and never mixes two.
import { ABOVE_PICTURES } from "./basemap.js";
import { claimPrefetchedTile, fetchResponse, TILE_TIMEOUT_MILLISECONDS, timeoutSignal } from "./server.js";
import { TileMarks } from "./tile-marks.js";

const PROTOCOL = "billow-tile";
/** The ids of the sources and layers begin with this. */
const PREFIX = "turbulence-";
const CHECK_MILLISECONDS = 100;
/** The size of the headers of a response, which is all that an unchanged tile costs. */
const HEADER_BYTES = 680;
const MAX_TAGS = 1_000;
const DIMMED_OPACITY = 0.3;
/** Fading would show colours without a meaning. */
const NO_FADE = { "raster-fade-duration": 0, "raster-opacity-transition": { duration: 0, delay: 0 } };

/** Ends the fade of a new tile before it begins. MapLibre draws finer tiles over a new one until its fade has ended. It
 * learns the end of a fade only by drawing, and without a fade it does not check again. So after zooming out, tiles of
 * several zooms would stay over each other.
 * @param {{ registerFadeDuration?: (milliseconds: number) => void } | undefined} tile */
const endFade = (tile) => tile?.registerFadeDuration?.(0);

/** A part of a picture: one raster source, its request, and the headers of its tiles. */
class Part extends TileMarks {
    /** @param {number} number
     * @param {Billow.PictureRequest["parts"][number]} request */
    constructor(number, { key, template, opacity }) {
        super();
        this.id = `${PREFIX}${number}`;
        this.number = number;
        this.key = `${template} ${key}`;
        this.template = template;
        this.opacity = opacity;
        /** The addresses of its tiles.
         * @type {Set<string>} */
        this.tiles = new Set();
        /** The bytes on the wire since the part was last new in a picture. */
        this.bytes = 0;
        /** Tile URL → error message.
         * @type {Map<string, string>} */
        this.failures = new Map();
        /** The states of its tiles by "z/x/y".
         * @type {Map<string, import("./missing-areas.js").TileState>} */
        this.states = new Map();
    }
}

/** One picture: its parts, the lowest first. It shares unchanged parts with the previous picture. */
class Picture {
    /** @param {Billow.PictureRequest} request
     * @param {Part[]} parts */
    constructor(request, parts) {
        this.request = request;
        this.parts = parts;
        this.requestedAt = performance.now();
        /** The failures of a newer picture that was discarded: tile URL → error message.
         * @type {Map<string, string>} */
        this.missedFailures = new Map();
    }

    /** The failures of its own tiles. */
    get failures() { return new Map(this.parts.flatMap(({ failures }) => [...failures])); }
    get tiles() { return this.parts.flatMap(({ tiles }) => [...tiles]); }
    get bytes() { return this.parts.reduce((sum, { bytes }) => sum + bytes, 0); }
    get simulated() { return this.parts.some(({ simulated }) => simulated); }
    get incomplete() { return this.parts.some(({ incomplete }) => incomplete); }
    /** Whether tiles of a part are of different states of the data. */
    get isTorn() { return this.parts.some(({ isTorn }) => isTorn); }
    /** Whether a tile has a turbulence field. */
    get hasField() { return this.parts.some(({ hasField }) => hasField); }
    /** The oldest frame time of all tiles; null if no tile has one. */
    get frameTime() {
        const times = this.parts.flatMap(({ frameTime }) => frameTime ?? []);
        return times.length ? Math.min(...times) : null;
    }
    /** The newest frame time of all tiles; null if no tile has one. */
    get newestTime() {
        const times = this.parts.flatMap(({ newestTime }) => newestTime ?? []);
        return times.length ? Math.max(...times) : null;
    }
}

/** Shows pictures on a map and calls `changed` whenever their state may have changed. */
export class Pictures {
    #map;
    #changed;
    #number = 0;
    /** The entity tags of tiles by their addresses.
     * @type {Map<string, string>} */
    #tags = new Map();
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
        map.on("sourcedata", ({ sourceId, tile }) => {
            if (sourceId?.startsWith(PREFIX)) endFade(tile);
        });
    }

    get current() { return this.#current; }

    get next() { return this.#next; }

    /** True until the map completely shows the latest subject. A newer snapshot of the same subject does not count: if
     * data arrives faster than pictures load, one is always loading. */
    get isBusy() {
        return this.#current === null || this.isOutdated || !this.#isLoaded(this.#current);
    }

    /** True while the map still shows another subject than the latest request. */
    get isOutdated() { return this.#next !== null && this.#next.request.subject !== this.#current?.request.subject; }

    /** Shows the picture of a request {parts, subject, key, tileJSON}. `subject` identifies filters and instant; `key`
     * also identifies the snapshot. A newer snapshot of the same subject waits until the loading one is complete.
     * Otherwise a slow connection would never show any.
     * @param {Billow.PictureRequest} request */
    show(request) {
        const newest = this.#waiting ?? this.#next?.request ?? this.#current?.request;
        if (newest?.key === request.key && !this.failed && !this.#current?.isTorn) return;
        if (this.#next?.request.subject === request.subject) {
            if (this.#next.request.key !== request.key) this.#waiting = request;
            return;
        }
        this.#start(request);
    }

    /** True if tiles of the current or of the next picture are missing. */
    get failed() {
        const counts = [this.#next?.failures, this.#current?.failures, this.#current?.missedFailures];
        return counts.some((failures) => failures && failures.size > 0);
    }

    /** Keeps the current picture instead of one of another subject. */
    stay() {
        if (!this.#current || !this.isOutdated) return;
        this.#waiting = null;
        this.#remove(this.#next, this.#current);
        this.#next = null;
        this.#setOpacity(this.#current, 1);
        this.#changed();
    }

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
            const same = this.#current?.parts.find(
                ({ key, failures, isTorn }) => key === part.key && !failures.size && !isTorn);
            if (same) same.bytes = 0;
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
            // With opacity 0 MapLibre loads the tiles; with visibility none it would not.
            this.#map.addLayer(
                {
                    id: part.id, type: "raster", source: part.id, paint: { "raster-opacity": 0, ...NO_FADE },
                }, ABOVE_PICTURES);
        }
        if (this.#current) this.#setOpacity(this.#current, this.isOutdated ? DIMMED_OPACITY : 1);
        this.#timer ??= setInterval(() => this.#swapWhenLoaded(), CHECK_MILLISECONDS);
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
        const previous = this.#current;
        if (previous && !this.isOutdated && picture.failures.size > previous.failures.size) {
            // The age of the old picture is shown. That is better than a newer picture with more holes.
            previous.missedFailures = picture.failures;
            this.#remove(picture, previous);
            this.#next = null;
        } else {
            this.#restoreOrder(picture);
            this.#setOpacity(picture, 1);
            this.#remove(previous, picture);
            this.#current = picture;
            this.#next = null;
        }
        if (waiting) this.#start(waiting);
        this.#changed();
    }

    /** @param {Picture} picture */
    #isLoaded({ parts }) { return parts.every(({ id }) => this.#map.isSourceLoaded(id)); }

    /** Restores the order of a picture's parts. A shared part may still be at the position of the previous picture.
     * @param {Picture} picture */
    #restoreOrder({ parts }) {
        const numbers = parts.map(({ number }) => number);
        if (numbers.every((number, index) => index === 0 || number > numbers[index - 1])) return;
        for (const { id } of parts) this.#map.moveLayer(id, ABOVE_PICTURES);
    }

    /** @param {Picture} picture
     * @param {number} share  factor for the opacities of its parts */
    #setOpacity({ parts }, share) {
        for (const { id, opacity } of parts) this.#map.setPaintProperty(id, "raster-opacity", opacity * share);
    }

    /** @param {Picture | null} picture
     * @param {Picture | null} except  the picture whose parts stay */
    #remove(picture, except) {
        for (const part of picture?.parts ?? []) {
            if (except?.parts.includes(part) || !this.#map.getSource(part.id)) continue;
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
        const [, key = ""] = /\/(\d+\/\d+\/\d+)[@.]/.exec(tile) ?? [];
        this.#partOf(Number(number))?.states.set(key, "loading");
        const signal = timeoutSignal(abort.signal, TILE_TIMEOUT_MILLISECONDS);
        try {
            // The browser revalidates by ETag: an unchanged tile costs only a 304.
            const response = await (claimPrefetchedTile(tile) ?? fetchResponse(tile, { signal, cache: "no-cache" }));
            const data = await response.arrayBuffer();
            const part = this.#partOf(Number(number));
            part?.readHeaders(response.headers);
            part?.failures.delete(tile);
            part?.states.set(key, "loaded");
            part?.tiles.add(tile);
            const tag = response.headers.get("ETag") ?? "";
            if (part) part.bytes += HEADER_BYTES + (this.#tags.get(tile) === tag ? 0 : data.byteLength);
            if (this.#tags.size > MAX_TAGS) this.#tags.clear();
            this.#tags.set(tile, tag);
            return { data };
        } catch (error) {
            const part = this.#partOf(Number(number));
            if (abort.signal.aborted) {
                part?.states.delete(key);
                throw error;
            }
            part?.states.set(key, "failed");
            part?.failures.set(tile, error instanceof Error ? error.message : String(error));
            throw error;
        } finally {
            this.#changed();
        }
    }
}
