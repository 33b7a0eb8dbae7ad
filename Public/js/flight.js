// @ts-check
// Finds a flight by its call sign and follows it. Each picture updates its card and its alerts, and the map shows its
// track. The page notifies the user when the alerts change. The page loads this module for the first search.
import { byId, element } from "./dom.js";
import { AIRCRAFT, TRACKS } from "./layers.js";
import { IN_PICTURES } from "./map-overlay.js";
import { shortTime } from "./format.js";
import { markTitle, removeNotice, showNotice } from "./notices.js";
import { closeSheet, uncoveredArea, uncoveredCentre } from "./uncovered.js";
import { getFeatures } from "./features.js";
import { getJSON, now, ServerError } from "./server.js";

const TRACK = "flight-track";
const COLOUR = "#1552c4";
const TRACK_HOURS = "2";
const PAGE_LIMIT = "10000";
/** A followed flight stays within this share of the visible part of the map. */
const MIDDLE = 0.9;
const MAX_SUGGESTIONS = 12;
/** Suggestions are of aircraft requested at most this long ago. */
const KNOWN_MILLISECONDS = 30_000;
const EMPTY = { type: "FeatureCollection", features: [] };

/** Aircraft with a call sign or an ICAO address. If none is equal, those whose call sign or address begins with it.
 * @param {Billow.Feature[]} features
 * @param {string} text
 * @returns {Billow.Feature[]} */
export function matchingFlights(features, text) {
    const wanted = text.trim().toUpperCase();
    if (!wanted) return [];
    /** @param {Billow.Feature} feature */
    const names = ({ properties: { callsign, icao24 } }) =>
        [callsign ?? "", icao24 ?? ""].map((name) => String(name).trim().toUpperCase());
    const same = features.filter((feature) => names(feature).includes(wanted));
    return same.length ? same : features.filter((feature) => names(feature).some((name) => name.startsWith(wanted)));
}

export class Flight {
    #map;
    #view;
    #inspector;
    /** @type {AbortController | null} */
    #abort = null;
    /** @type {string | null} */
    #followed = null;
    /** The flight of the notice.
     * @type {string | null} */
    #noticed = null;
    /** The call sign of the followed flight, as far as known. */
    #name = "";
    /** Why a search found no other flight than the followed one. Its field has another name than the map meanwhile.
     * @type {string | null} */
    #missed = null;
    /** The instant of the position on the map; null is live, and undefined is none.
     * @type {number | null | undefined} */
    #shownTime;
    /** The aircraft for suggestions, when they were requested, and of which instant.
     * @type {Promise<Billow.Feature[]>} */
    #known = Promise.resolve([]);
    #knownAt = -Infinity;
    /** @type {number | null} */
    #knownTime = null;

    /** @param {maplibregl.Map} map
     * @param {() => Billow.View} view  returns the current view, with the instant of the map
     * @param {import("./inspect.js").Inspector} inspector */
    constructor(map, view, inspector) {
        this.#map = map;
        this.#view = view;
        this.#inspector = inspector;
    }

    /** Offers the call signs that begin with a text, under its field.
     * @param {string} text */
    async suggest(text) {
        if (text.trim().length < 2) return this.#offer([]);
        try {
            const { time } = this.#view();
            if (performance.now() - this.#knownAt > KNOWN_MILLISECONDS || this.#knownTime !== time) {
                this.#knownAt = performance.now();
                this.#knownTime = time;
                this.#known = this.#all();
            }
            this.#offer(matchingFlights(await this.#known, text));
        } catch {
            // The search says why.
            this.#knownAt = -Infinity;
        }
    }

    /** @param {Billow.Feature[]} found */
    #offer(found) {
        const names = found.map(({ properties }) => properties.callsign || properties.icao24);
        byId("flights").replaceChildren(...[...new Set(names)].sort().slice(0, MAX_SUGGESTIONS)
            .map((name) => element("option", { value: name })));
    }

    /** The ICAO address of the only aircraft that matches a text, or null. Then the page says why.
     * @param {string} text
     * @returns {Promise<string | null>} */
    async find(text) {
        const problem = byId("flight-problem");
        problem.hidden = true;
        this.#missed = null;
        try {
            const found = await this.#search(text);
            if (found.length === 1) {
                closeSheet();
                if ("Notification" in window && Notification.permission === "default") Notification.requestPermission();
                return found[0].properties.icao24;
            }
            const names = found.slice(0, 8).map(({ properties }) => properties.callsign || properties.icao24);
            this.#offer(found);
            problem.textContent = found.length
                ? `${found.length} flights match: ${names.join(", ")}${found.length > 8 ? " and more" : ""}.`
                : "No aircraft with this call sign is tracked now.";
        } catch (error) {
            problem.textContent = `The search failed: ${error instanceof Error ? error.message : error}.`;
        }
        const { flight } = this.#view();
        if (flight !== null) {
            problem.textContent += ` The map still follows ${this.#name || flight}.`;
            this.#missed = problem.textContent;
        }
        problem.hidden = false;
        return null;
    }

    /** The aircraft that match a text, at the instant of the map. Throws ServerError.
     * @param {string} text */
    async #search(text) { return matchingFlights(await this.#all(), text); }

    /** All aircraft at the instant of the map. Throws ServerError. */
    async #all() {
        /** @type {Billow.Feature[]} */
        const all = [];
        const query = this.#query({ limit: PAGE_LIMIT });
        /** @type {string | null} */
        let path = `collections/${AIRCRAFT}/items`;
        /** @type {URLSearchParams | null} */
        let parameters = query;
        while (path !== null) {
            /** @type {Billow.FeatureCollection} */
            const { features, links } = await getFeatures(path, parameters ?? new URLSearchParams());
            all.push(...features);
            /** @type {string | undefined} */
            const next = links?.find(({ rel }) => rel === "next")?.href;
            path = next ?? null;
            parameters = null;
        }
        return all;
    }

    /** Shows the followed flight at its current position. */
    async refresh() {
        const view = this.#view();
        const { flight, time } = view;
        this.#abort?.abort();
        if (flight !== this.#noticed) endNotice();
        this.#noticed = flight;
        if (flight === null) {
            this.#followed = null;
            this.#shownTime = undefined;
            // The words of a search without a result stay.
            if (this.#name) this.#showProblem(null);
            this.#name = "";
            this.#missed = null;
            return this.#draw(EMPTY);
        }
        if (flight !== this.#followed) {
            this.#name = flight;
            this.#missed = null;
        }
        if (time !== null && time > now()) return this.#lose("A forecast has no positions of aircraft.", view);
        const { signal } = (this.#abort = new AbortController());
        try {
            /** @type {Billow.Feature} */
            const aircraft = await getJSON(`collections/${AIRCRAFT}/items/${flight}`, this.#query({}), signal);
            const [lng, lat] = aircraft.geometry.coordinates;
            this.#showProblem(this.#missed);
            // The map follows only after a response. An aborted request must not move it.
            this.#keepInView(lng, lat, flight !== this.#followed);
            this.#followed = flight;
            this.#name = aircraft.properties.callsign || flight;
            this.#shownTime = time;
            await this.#inspector.follow({ lng, lat, wrap() { return this; } }, flight, aircraft.properties.heading);
            const track = await getJSON(
                `collections/${TRACKS}/items/${flight}`, this.#query({ hours: TRACK_HOURS }), signal,
            ).catch(() => EMPTY);
            if (!signal.aborted) this.#draw(track);
        } catch (error) {
            if (signal.aborted) return;
            const isGone = error instanceof ServerError && error.status === 404;
            const { message } = /** @type {Error} */ (error);
            const when = time === null ? "now" : `at ${shortTime(time, now())}`;
            if (isGone) this.#lose(`This flight is not tracked ${when}.`, view);
            // Without a response, the position of the same instant stays. Another instant's would contradict the map.
            else if (this.#shownTime === time) this.#showProblem(message);
            else this.#lose(`The position could not be loaded: ${message}`, view);
        }
    }

    /** Removes the flight from the map, whose picture is of an instant without its position.
     * @param {string} text
     * @param {Billow.View} view */
    #lose(text, view) {
        this.#shownTime = undefined;
        this.#draw(EMPTY);
        this.#inspector.lose(this.#name, text, view);
        this.#showProblem(text);
    }

    /** @param {Record<string, string>} parameters */
    #query(parameters) {
        const { time } = this.#view();
        const query = new URLSearchParams(parameters);
        if (time !== null) query.set("time", new Date(time).toISOString().replace(/\.\d+Z/, "Z"));
        return query;
    }

    /** @param {number} lng
     * @param {number} lat
     * @param {boolean} isNew */
    #keepInView(lng, lat, isNew) {
        const { x, y } = this.#map.project([lng, lat]);
        const { left, right, top, bottom } = uncoveredArea();
        /** @type {(at: number, from: number, to: number) => boolean} */
        const isOutside = (at, from, to) => Math.abs(at - (from + to) / 2) > (MIDDLE * (to - from)) / 2;
        if (isNew || isOutside(x, left, right) || isOutside(y, top, bottom)) {
            this.#map.easeTo({
                center: [lng, lat], zoom: Math.max(this.#map.getZoom(), 6), offset: uncoveredCentre(), animate: false,
            });
        }
    }

    /** @param {object} data */
    #draw(data) {
        const source = this.#map.getSource(TRACK);
        if (source) return source.setData(data);
        if (data === EMPTY) return;
        this.#map.addSource(TRACK, { type: "geojson", data });
        this.#map.addLayer({
            id: TRACK, type: "line", source: TRACK, metadata: IN_PICTURES, layout: { "line-join": "round" },
            paint: { "line-color": COLOUR, "line-width": 2.5, "line-opacity": 0.8 },
        });
    }

    /** @param {string | null} text */
    #showProblem(text) {
        byId("flight-problem").hidden = text === null;
        byId("flight-problem").textContent = text ?? "";
    }
}

const NOTICE = "ahead";

/** Removes the notice of changed alerts, and its mark in the title. */
function endNotice() {
    removeNotice(NOTICE);
    markTitle("");
}

/** Announces changed alerts to screen readers, in a notice that stays until the user dismisses it, and in the title.
 * Also shows a notification if the user allows it and the page is hidden, or another window has the focus.
 * @param {string} text */
export async function announceChange(text) {
    byId("announcement").textContent = text;
    showNotice(NOTICE, text, "Dismiss", endNotice, true);
    markTitle("(!) ");
    if (!("Notification" in window) || Notification.permission !== "granted") return;
    if (document.visibilityState === "visible" && document.hasFocus()) return;
    // A second change with the same tag would replace the first notification in silence.
    const options = { body: `${text} Not for navigation.`, tag: "billow-ahead", renotify: true };
    // On Android, only a service worker shows notifications. A click on it leads back to this page.
    const worker = await navigator.serviceWorker?.getRegistration();
    if (worker?.active) await worker.showNotification("Billow", { ...options, data: location.href });
    else new Notification("Billow", options).onclick = () => window.focus();
}
