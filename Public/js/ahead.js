// @ts-check
// What lies ahead of an aircraft: the server looks along its track, and the area and the groups that it finds are on
// the map and in the card. It is asked again with every picture, from where the aircraft is then.
import { AREA_KINDS } from "./datasets.js";
import { element } from "./dom.js";
import { age, flightLevel, instantOf } from "./format.js";
import { getJSON, now, postJSON, ServerError } from "./server.js";

const AREA = "ahead";
const BLUE = "#1552c4";
/** @typedef {Record<string, any>} Properties */

const EMPTY = { type: "FeatureCollection", features: [] };

export class Ahead {
    #map;
    #library;
    #view;
    /** @type {string | null} */
    #icao24 = null;
    /** @type {maplibregl.Marker[]} */
    #labels = [];

    /** `view` gives the present view.
     * @param {maplibregl.Map} map
     * @param {Pick<typeof maplibregl, "Marker">} library
     * @param {() => Billow.View} view */
    constructor(map, library, view) {
        this.#map = map;
        this.#library = library;
        this.#view = view;
    }

    /** @param {string} icao24 */
    follow(icao24) {
        this.#icao24 = icao24;
    }

    clear() {
        this.#icao24 = null;
        this.#draw(null);
    }

    /** A section on what lies ahead by now; null where no aircraft is followed.
     * @param {AbortSignal} signal */
    async section(signal) {
        if (this.#icao24 === null) return null;
        const view = this.#view();
        const time = view.time === null ? null : new Date(view.time).toISOString().replace(".000Z", "Z");
        /** @type {Billow.Feature} */
        let aircraft;
        /** @type {Billow.Alerts} */
        let answer;
        try {
            aircraft = await getJSON(
                `collections/traffic/items/${this.#icao24}`, new URLSearchParams(time ? { time } : {}), signal,
            );
            answer = await postJSON("alerts", question(aircraft, view, time), signal);
        } catch (error) {
            if (signal.aborted) throw error;
            this.#draw(null);
            const isGone = error instanceof ServerError && error.status === 404;
            const reason = isGone ? "it isn't seen any more" : /** @type {Error} */ (error).message;
            return section(
                `Ahead of ${this.#icao24}`, element("p", { className: "problem" }, `That can't be told: ${reason}.`),
            );
        }
        if (signal.aborted) return null;
        this.#draw(answer);
        return told(aircraft.properties, answer);
    }

    /** @param {Billow.Alerts | null} answer */
    #draw(answer) {
        for (const label of this.#labels) label.remove();
        this.#labels = [];
        const data = answer?.area ? { type: "Feature", properties: {}, geometry: answer.area } : EMPTY;
        const source = this.#map.getSource(AREA);
        if (source) source.setData(data);
        else if (answer) this.#add(data);
        for (const { longitude, latitude, text } of answer?.clusters ?? []) {
            const label = element("div", { className: "cluster" }, text);
            this.#labels.push(
                new this.#library.Marker({ element: label }).setLngLat([longitude, latitude]).addTo(this.#map)
            );
        }
    }

    /** @param {object} data */
    #add(data) {
        this.#map.addSource(AREA, { type: "geojson", data });
        this.#map.addLayer({
            id: `${AREA}-fill`, type: "fill", source: AREA, paint: { "fill-color": BLUE, "fill-opacity": 0.12 },
        });
        this.#map.addLayer({
            id: `${AREA}-line`, type: "line", source: AREA, paint: { "line-color": BLUE, "line-width": 2 },
        });
    }
}

/** The body of the question: 20 minutes ahead, smooth air left out, with the view's history.
 * @param {Billow.Feature} aircraft
 * @param {Billow.View} view
 * @param {string | null} time */
function question({ geometry, properties }, view, time) {
    const { altitude, geometricAltitude, heading, groundSpeed } = properties;
    /** @type {Record<string, unknown>} */
    const body = {
        position: geometry.coordinates, altitude: Math.min(Math.max(altitude ?? geometricAltitude ?? 0, 0), 60_000),
        timeFrame: 1200, hours: view.hours, minSeverity: Math.max(view.minSeverity, 1),
    };
    if (heading !== undefined) body.track = heading;
    if (groundSpeed !== undefined) body.speed = groundSpeed;
    if (time !== null) body.time = time;
    return body;
}

/** @param {Properties} aircraft
 * @param {Billow.Alerts} answer */
function told({ callsign, icao24 }, { clusters, hazards, query, dataTime, stale, incomplete }) {
    const band = `${flightLevel(query.minAltitude)} – ${flightLevel(query.maxAltitude)}`;
    const lines = clusters.map(({ text, members }) =>
        line(text, `${members.length} ${members.length === 1 ? "cell" : "cells"}`));
    const issued = hazards.map(({ kind, hazard, altitudeMin, altitudeMax, altitudeReference }) => line(
        [AREA_KINDS.get(kind) ?? kind, hazard].filter(Boolean).join(" "),
        [
            flightLevel(altitudeMin ?? 0), "–",
            altitudeMax === undefined ? "no upper limit" : flightLevel(altitudeMax),
            altitudeReference,
        ].filter(Boolean).join(" ")));
    const received = instantOf(dataTime);
    const problem = received === null ? "How old the data is isn't known."
        : stale ? `The data is old: received ${age(now() - received)} ago.` : null;
    return section(`Ahead of ${callsign || icao24}`,
        element("p", { className: "note" }, `${Math.round(query.distance ?? 0)} NM, ${band}`),
        lines.length + issued.length ? element("ul", {}, ...lines, ...issued) : element("p", {},
            element("strong", {}, "No report of turbulence"), ". That is not a report of smooth air."),
        problem === null ? null : element("p", { className: "problem" }, problem),
        incomplete ? element("p", { className: "problem" }, "INCOMPLETE: some data is missing here.") : null);
}

/** @param {string} what
 * @param {string} note */
const line = (what, note) => element("li", {}, element("strong", {}, what), element("span", {}, note));
/** @param {string} title
 * @param {...(Node | string | null)} children */
const section = (title, ...children) =>
    element("section", { className: "others ahead" }, element("h3", {}, title), ...children);
