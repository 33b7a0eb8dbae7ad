// @ts-check
// The waypoints of a route on the map: airports with their codes, other points as dots. A code stands beside its dot
// where it hides no report; where it would hide one everywhere, it is left out.
import { element } from "./dom.js";
import { freeSpot, reportsAround } from "./label-spots.js";

const CODE = /^[A-Z0-9]{3,4}$/;
/** Half the side of a dot. */
const DOT_PIXELS = 6;
/** The codes of later waypoints do not move, because each one requests tiles. */
const MAX_MOVED = 8;

/** @typedef {{ code: string, longitude: number, latitude: number }} Waypoint */

export class Waypoints {
    #map;
    #library;
    #view;
    #shown = "";
    #moves = 0;
    /** @type {maplibregl.Marker[]} */
    #markers = [];
    /** @type {{ label: HTMLElement, place: Waypoint }[]} */
    #labels = [];

    /** @param {maplibregl.Map} map
     * @param {Pick<typeof maplibregl, "Marker">} library
     * @param {() => Billow.View} view  returns the view of the pixels on the map */
    constructor(map, library, view) {
        this.#map = map;
        this.#library = library;
        this.#view = view;
        map.on("moveend", () => this.#moveLabels());
    }

    /** Shows waypoints. Each call moves the codes off the reports of the picture.
     * @param {Waypoint[]} places */
    show(places) {
        const text = places.map(({ code }) => code).join(" ");
        if (text !== this.#shown) {
            this.#shown = text;
            for (const marker of this.#markers) marker.remove();
            this.#labels = [];
            this.#markers = places.map((place) => {
                const { code, longitude, latitude } = place;
                const label = element("span", {}, CODE.test(code) ? code : "");
                if (label.textContent) this.#labels.push({ label, place });
                const sign = element("div", {
                    className: "waypoint", "aria-hidden": "true", "data-place": `${longitude},${latitude}`,
                }, label);
                return new this.#library.Marker({ element: sign }).setLngLat([longitude, latitude]).addTo(this.#map);
            });
        }
        this.#moveLabels();
    }

    async #moveLabels() {
        const move = ++this.#moves;
        const view = { ...this.#view(), zoom: this.#map.getZoom() };
        await Promise.all(this.#labels.slice(0, MAX_MOVED).map(async ({ label, place }) => {
            const size = { width: label.offsetWidth, height: label.offsetHeight };
            // Without the reports, the label stays where it is.
            const hasReport = await reportsAround(view, place, size).catch(() => null);
            if (move !== this.#moves || !hasReport) return;
            const spot = freeSpot(size, hasReport);
            label.style.visibility = spot ? "visible" : "hidden";
            if (!spot) return;
            label.style.left = `${DOT_PIXELS + spot.x - size.width / 2}px`;
            label.style.top = `${DOT_PIXELS + spot.y - size.height / 2}px`;
        }));
    }
}
