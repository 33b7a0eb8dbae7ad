// @ts-check
// Fits the map to a route: the route lies in the part of the map that no card covers. If a card covers it later, such
// as a banner that arrives after the route, the map is fitted again, unless the user has moved it.
import { cardAreas, onCardChange } from "./uncovered.js";
import { freeArea } from "./free-area.js";
import { latitudeAt, mercator, WORLD_TILE_PIXELS } from "./visible-tiles.js";

/** The free pixels around the route. The sign of an airport is at its right. */
const MARGIN = { left: 20, top: 18, right: 64, bottom: 18 };
/** The route counts as covered if a card comes this near. */
const NEAR_PIXELS = 8;
const MAX_ZOOM = 7;
/** The map has not moved if its centre is within this many pixels. */
const SAME_PIXELS = 1;
/** The cards take this long to find their places in a window of another size. */
const SETTLING_MILLISECONDS = 1_000;
const PAPER = matchMedia("print");

/** @typedef {[[west: number, south: number], [east: number, north: number]]} Box */

export class RouteFit {
    #map;
    /** @type {Box | null} */
    #box = null;
    /** The camera after the last fit, and the size of the window then.
     * @type {{ centre: maplibregl.LngLat, zoom: number, size: string } | null} */
    #fitted = null;
    #resizedAt = -Infinity;

    /** @param {maplibregl.Map} map */
    constructor(map) {
        this.#map = map;
        onCardChange(() => this.#refit());
        map.on("resize", () => this.#refit());
        map.on("moveend", () => {
            if (this.#isMoved()) this.#box = null;
        });
    }

    /** @param {Billow.Feature["geometry"]} corridor */
    show(corridor) {
        this.#box = boxOf(corridor);
        this.#fit();
    }

    /** Ends the following of the cards, because the route is removed. */
    end() { this.#box = null; }

    #refit() {
        // The tiles of another part would not be there in time for the paper.
        if (!this.#box || !this.#fitted || PAPER.matches) return;
        if (this.#fitted.size !== this.#size()) this.#resizedAt = performance.now();
        const isSettling = performance.now() - this.#resizedAt < SETTLING_MILLISECONDS;
        if (isSettling || this.#isCovered()) this.#fit();
    }

    /** Whether the map has moved since the last fit. A window of another size moves it too, which does not count. */
    #isMoved() {
        if (!this.#fitted || this.#fitted.size !== this.#size()) return false;
        const { centre, zoom } = this.#fitted;
        const { x, y } = this.#map.project(centre);
        const { clientWidth, clientHeight } = this.#map.getContainer();
        return Math.abs(this.#map.getZoom() - zoom) > 0.01
            || Math.hypot(x - clientWidth / 2, y - clientHeight / 2) > SAME_PIXELS;
    }

    #size() { return `${innerWidth} ${innerHeight}`; }

    /** Whether a card or an edge of the window covers a part of the route. */
    #isCovered() {
        if (!this.#box) return false;
        const [[west, south], [east, north]] = this.#box;
        const { x: left, y: bottom } = this.#map.project([west, south]);
        const { x: right, y: top } = this.#map.project([east, north]);
        return left < 0 || top < 0 || right > innerWidth || bottom > innerHeight || cardAreas().some((card) =>
            card.left < right + NEAR_PIXELS && card.right > left - NEAR_PIXELS
            && card.top < bottom + NEAR_PIXELS && card.bottom > top - NEAR_PIXELS);
    }

    #fit() {
        if (!this.#box) return;
        const [[west, south], [east, north]] = this.#box;
        const [x, top] = mercator(west, north);
        const [otherX, bottom] = mercator(east, south);
        /** @param {import("./free-area.js").Area} area */
        const zoomIn = (area) => Math.min(MAX_ZOOM, Math.floor(Math.log2(Math.max(1, Math.min(
            (area.right - area.left - MARGIN.left - MARGIN.right) / (otherX - x),
            (area.bottom - area.top - MARGIN.top - MARGIN.bottom) / (bottom - top),
        )) / WORLD_TILE_PIXELS)));
        const { clientWidth, clientHeight } = this.#map.getContainer();
        const area = freeArea(clientWidth, clientHeight, cardAreas(), zoomIn);
        // At fractional zooms, MapLibre scales the tiles together with their labels.
        const zoom = Math.max(zoomIn(area), this.#map.getMinZoom());
        // The movement of this fit is not one of the user.
        this.#fitted = null;
        const world = WORLD_TILE_PIXELS * 2 ** zoom;
        const right = (area.left + MARGIN.left + area.right - MARGIN.right - clientWidth) / 2;
        const down = (area.top + MARGIN.top + area.bottom - MARGIN.bottom - clientHeight) / 2;
        // With MapLibre's own offset, the map would first move away from the poles, and the route with it.
        this.#map.jumpTo({
            center: [(west + east) / 2 - (right / world) * 360, latitudeAt((top + bottom) / 2 - down / world)], zoom,
        });
        this.#fitted = { centre: this.#map.getCenter(), zoom: this.#map.getZoom(), size: this.#size() };
    }
}

/** The box around a corridor. One that crosses the antimeridian has two parts, and its box extends beyond 180 degrees.
 * @param {Billow.Feature["geometry"]} geometry
 * @returns {Box} */
export function boxOf({ type, coordinates }) {
    const isApart = type !== "Polygon";
    /** @type {number[][][][]} */
    const parts = isApart ? coordinates : [coordinates];
    const positions = parts.flatMap(([ring]) => ring);
    const longitudes = positions.map(([longitude]) => (isApart && longitude < 0 ? longitude + 360 : longitude));
    const latitudes = positions.map(([, latitude]) => latitude);
    return [
        [Math.min(...longitudes), Math.min(...latitudes)], [Math.max(...longitudes), Math.max(...latitudes)],
    ];
}
