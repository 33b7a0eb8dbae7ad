// @ts-check
// Turbulence and hazards ahead of an aircraft. The server searches along its track. The map and the card show the area
// and the groups that it finds. Each new picture repeats the request from the aircraft's new position.
import { alertFilters, alertFilterText, alertGroups, groupNodes } from "./alert-groups.js";
import { clockText } from "./clock-text.js";
import { AREA_KINDS } from "./datasets.js";
import { element } from "./dom.js";
import { flightLevel, instantOf } from "./format.js";
import { AIRCRAFT } from "./layers.js";
import { IN_PICTURES } from "./map-overlay.js";
import { tickingAge } from "./observation-text.js";
import { outlineOf } from "./outline.js";
import { aircraftTexts } from "./place-features.js";
import { postJSON } from "./features.js";
import { getJSON, now, ServerError } from "./server.js";
import { SEVERITIES } from "./view.js";

const AREA = "ahead";
const BLUE = "#1552c4";
/** @typedef {Record<string, any>} Properties */

const EMPTY = { type: "FeatureCollection", features: [] };
/** The summary of alerts without any turbulence or hazard. */
const NOTHING = "no turbulence reported, which does not mean smooth air";

export class AircraftAlerts {
    #map;
    #library;
    #view;
    #legend;
    /** The ICAO address of the aircraft whose track was last searched.
     * @type {string | null} */
    #icao24 = null;
    /** @type {maplibregl.Marker[]} */
    #labels = [];

    #changed;
    /** The summary of the last response, and the user's choices on which it depends. */
    #last = { summary: "", choices: "" };

    /** `view` returns the current view. `changed` receives a text whenever the summary changes.
     * @param {maplibregl.Map} map
     * @param {Pick<typeof maplibregl, "Marker">} library
     * @param {() => Billow.View} view
     * @param {import("./legend.js").Legend} legend
     * @param {(text: string) => void} changed */
    constructor(map, library, view, legend, changed) {
        this.#legend = legend;
        this.#changed = changed;
        this.#map = map;
        this.#library = library;
        this.#view = view;
    }

    /** Removes the alerts from the map. */
    clear() {
        this.#icao24 = null;
        this.#draw(null);
    }

    /** Requests the alerts ahead of an aircraft, and returns a section of the card.
     * @param {string} icao24
     * @param {AbortSignal} signal */
    async section(icao24, signal) {
        if (icao24 !== this.#icao24) this.#last.summary = "";
        this.#icao24 = icao24;
        const view = this.#view();
        const time = view.time === null ? null : new Date(view.time).toISOString().replace(".000Z", "Z");
        /** @type {Billow.Feature} */
        let aircraft;
        /** @type {Billow.Alerts} */
        let alerts;
        try {
            aircraft = await getJSON(
                `collections/${AIRCRAFT}/items/${icao24}`, new URLSearchParams(time ? { time } : {}), signal,
            );
            alerts = await postJSON("alerts", requestBody(aircraft, view, time), signal);
        } catch (error) {
            if (signal.aborted) throw error;
            this.#draw(null);
            const isGone = error instanceof ServerError && error.status === 404;
            const reason = isGone ? "it is no longer tracked" : /** @type {Error} */ (error).message;
            return section(
                `Ahead of ${icao24}`, element("p", { className: "problem" }, `No alerts available: ${reason}.`),
            );
        }
        if (signal.aborted) return null;
        this.#draw(alerts);
        const { callsign } = aircraft.properties;
        const summary = summaryOf(alerts);
        const only = alertFilterText(view);
        // After another filter or instant the user expects other alerts.
        const choices = `${only} ${view.time}`;
        const { summary: before } = this.#last;
        if (before && summary !== before && choices === this.#last.choices) {
            this.#changed(changeText(callsign || icao24, summary, before, view.time ?? now(), only));
        }
        this.#last = { summary, choices };
        return alertSection(aircraft.properties, alerts, view, this.#legend);
    }

    /** @param {Billow.Alerts | null} alerts */
    #draw(alerts) {
        for (const label of this.#labels) label.remove();
        this.#labels = [];
        const data = alerts?.area ? areaAndOutline(alerts.area) : EMPTY;
        const source = this.#map.getSource(AREA);
        if (source) source.setData(data);
        else if (alerts) this.#add(data);
        for (const { longitude, latitude, text } of alerts?.clusters ?? []) {
            const label = element("div", { className: "cluster", "data-place": `${longitude},${latitude}` }, text);
            this.#labels.push(
                new this.#library.Marker({ element: label }).setLngLat([longitude, latitude]).addTo(this.#map)
            );
        }
    }

    /** @param {object} data */
    #add(data) {
        this.#map.addSource(AREA, { type: "geojson", data });
        this.#map.addLayer({
            id: `${AREA}-fill`, type: "fill", source: AREA, filter: ["==", "part", "area"],
            metadata: IN_PICTURES,
            // Antialiasing would show a seam at the antimeridian.
            paint: { "fill-color": BLUE, "fill-opacity": 0.12, "fill-antialias": false },
        });
        this.#map.addLayer({
            id: `${AREA}-line`, type: "line", source: AREA, filter: ["==", "part", "outline"],
            metadata: IN_PICTURES,
            paint: { "line-color": BLUE, "line-width": 2 },
        });
    }
}

/** The area ahead and its outline, as separate features. The outline has no line at the antimeridian.
 * @param {{ type: string, coordinates: any }} area */
export const areaAndOutline = (area) => ({
    type: "FeatureCollection",
    features: Object.entries({ area, outline: outlineOf(area) }).map(([part, geometry]) =>
        ({ type: "Feature", properties: { part }, geometry })),
});

/** The body of the request: 20 minutes ahead, without smooth air, with the view's filters.
 * @param {Billow.Feature} aircraft
 * @param {Billow.View} view
 * @param {string | null} time */
function requestBody({ geometry, properties }, view, time) {
    const { altitude, geometricAltitude, heading, groundSpeed } = properties;
    /** @type {Record<string, unknown>} */
    const body = {
        position: geometry.coordinates, altitude: Math.min(Math.max(altitude ?? geometricAltitude ?? 0, 0), 60_000),
        timeFrame: 1200, ...alertFilters(view),
    };
    if (heading !== undefined) body.track = heading;
    if (groundSpeed !== undefined) body.speed = groundSpeed;
    if (time !== null) body.time = time;
    return body;
}

/** Summarises the worst of each kind ahead. The summary omits distances, because they shrink all the time.
 * @param {Pick<Billow.Alerts, "clusters" | "hazards" | "field">} alerts */
export function summaryOf({ clusters, hazards, field }) {
    /** @type {(found: { severity?: number }[], basis: string) => string[]} */
    const worst = (found, basis) => {
        const severity = Math.max(-1, ...found.map(({ severity = -1 }) => severity));
        return severity < 0 ? [] : [`${SEVERITIES[severity]} ${basis}`];
    };
    const issued = hazards.map(({ kind, hazard }) =>
        [AREA_KINDS.get(kind) ?? kind, hazard].filter(Boolean).join(" "));
    const parts = [
        ...worst(clusters, "reported"), ...worst(field?.clusters ?? [], "computed"), ...new Set(issued.sort()),
    ];
    return parts.length ? parts.join(", ") : NOTHING;
}

/** Says what changed ahead of a flight: "Ahead of UAL12 since 19:31Z: Moderate reported (before: Light reported)."
 * @param {string} name
 * @param {string} summary
 * @param {string} before  the summary before the change
 * @param {number} time  of the change
 * @param {string | null} only  the filters */
export function changeText(name, summary, before, time, only) {
    const old = before === NOTHING ? NOTHING.replace(/,.*/, "") : before;
    return `Ahead of ${name} since ${clockText(time, time)}Z: ${summary} (before: ${old}).${only ? ` ${only}.` : ""}`;
}

/** @param {Properties} aircraft
 * @param {Billow.Alerts} alerts
 * @param {Billow.View} view
 * @param {import("./legend.js").Legend} legend */
function alertSection(aircraft, alerts, view, legend) {
    const { callsign, icao24, source } = aircraft;
    const { query, dataTime, stale, incomplete } = alerts;
    const band = `${flightLevel(query.minAltitude)} – ${flightLevel(query.maxAltitude)}`;
    const received = instantOf(dataTime);
    const problem = received === null ? ["The age of the data is unknown."]
        : stale ? ["The data is stale: received ", tickingAge(received, "", " ago.")] : null;
    const texts = aircraftTexts(aircraft, view.time);
    const only = alertFilterText(view);
    const isLeftOut = view.sources && source && !view.sources.includes(source);
    const notes = [
        only && `${only}.`,
        isLeftOut ? `The position is from ${source}, which the map leaves out.` : null,
    ].filter(Boolean).join(" ");
    // What lies ahead comes first, with what limits it. The aircraft itself follows.
    return section(`Ahead of ${callsign || icao24}`,
        problem === null ? null : element("p", { className: "problem" }, ...problem),
        incomplete ? element("p", { className: "problem" }, "INCOMPLETE: some data is missing here.") : null,
        ...groupNodes(alertGroups(alerts), legend),
        notes ? element("p", { className: "note" }, notes) : null,
        element("p", { className: "note" }, `Searched ${Math.round(query.distance ?? 0)} NM ahead, ${band}`),
        element("p", {}, ...texts.flatMap((text) => (text ? [" · ", text] : [])).slice(1)));
}

/** @param {string} title
 * @param {...(Node | string | null)} children */
const section = (title, ...children) =>
    element("section", { className: "features alerts" }, element("h3", {}, title), ...children);
