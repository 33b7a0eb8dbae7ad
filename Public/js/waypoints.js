// @ts-check
// The waypoints of a route on the map: airports with their codes, other points as dots.
import { element } from "./dom.js";

const CODE = /^[A-Z0-9]{3,4}$/;

export class Waypoints {
    #map;
    #library;
    #shown = "";
    /** @type {maplibregl.Marker[]} */
    #markers = [];

    /** @param {maplibregl.Map} map
     * @param {Pick<typeof maplibregl, "Marker">} library */
    constructor(map, library) {
        this.#map = map;
        this.#library = library;
    }

    /** @param {{ code: string, longitude: number, latitude: number }[]} places */
    show(places) {
        const text = places.map(({ code }) => code).join(" ");
        if (text === this.#shown) return;
        this.#shown = text;
        for (const marker of this.#markers) marker.remove();
        this.#markers = places.map(({ code, longitude, latitude }) => {
            const sign = element("div", { className: "waypoint", "aria-hidden": "true" },
                element("span", {}, CODE.test(code) ? code : ""));
            return new this.#library.Marker({ element: sign }).setLngLat([longitude, latitude]).addTo(this.#map);
        });
    }
}
