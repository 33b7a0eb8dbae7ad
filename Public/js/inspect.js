// @ts-check
// The card of a place. A click on the map, or Enter, opens it. It shows the hexagon at the place, the reports behind
// the hexagon, and the features of other layers.
import { Ahead } from "./aircraft-alerts.js";
import { byId, element, swatch } from "./dom.js";
import { fieldSection } from "./field.js";
import { age, flightLevel, hoursText, instantOf, near } from "./format.js";
import { showsCells } from "./layers.js";
import { bearingText, middleOf, pixelsTo } from "./distance.js";
import { box, others } from "./place-features.js";
import { patchChildren } from "./dom-patch.js";
import { picking } from "./picking.js";
import { levels, observed } from "./observation-text.js";
import { getFeatures, getJSON, now } from "./server.js";
import { filters, leftOut, SEVERITIES } from "./view.js";

/** A cell within this distance of the place is a hit, in pixels, because pointing is inexact. */
const REACH_PIXELS = matchMedia("(pointer: coarse)").matches ? 22 : 12;
/** Below this tile zoom the picture shows larger cells than the collection has. */
const FIRST_CELL_TILE_ZOOM = 5;
const COARSE_PIXELS = 8;
/** From this cell width on, the cell under the pointer wins over worse cells nearby. */
const WIDE_PIXELS = 30;
const CELL_DEGREES = 0.16;
/** The server's maximum number of features per page. */
const PAGE = 10_000;
const MOST_ROWS = 12;

/** @typedef {Record<string, any>} Properties */

export class Inspector {
    #map;
    #view;
    #legend;
    #told;
    #marker;
    #ahead;
    #root = byId("details");
    #body = byId("details-body");
    /** @type {maplibregl.LngLat | null} */
    #place = null;
    /** @type {AbortController | null} */
    #abort = null;

    /** `view` returns the current view.
     * @param {maplibregl.Map} map
     * @param {Pick<typeof maplibregl, "Marker">} library
     * @param {import("./legend.js").Legend} legend
     * @param {() => Billow.View} view
     * @param {{
     *     left: () => void, changed: (text: string) => void, placed: (place: [number, number] | null) => void,
     * }} told  `left` is called when the card closes or moves to another place; `changed` receives a text when the
     * flight's alerts change; `placed` receives the card's place */
    constructor(map, library, legend, view, told) {
        this.#told = told;
        this.#map = map;
        this.#view = view;
        this.#legend = legend;
        this.#ahead = new Ahead(map, library, view, legend, told.changed);
        this.#marker = new library.Marker({ element: element("div", { className: "place", "aria-hidden": "true" }) });
        byId("details-close").addEventListener("click", () => this.close());
        map.on("click", ({ lngLat }) => (picking.take ? picking.take(lngLat) : this.open(lngLat)));
        map.getCanvas().addEventListener("keydown", (event) => {
            if (event.key !== "Enter") return;
            if (picking.take) return picking.take(map.getCenter());
            this.open(map.getCenter());
            // Keyboard users continue in the card. Escape returns to the map.
            this.#root.focus();
        });
        addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    }

    /** @param {maplibregl.LngLat} lngLat */
    open(lngLat) {
        this.#told.left();
        const { lng, lat } = lngLat.wrap();
        this.#told.placed([lng, lat]);
        this.#open(lngLat);
        this.refresh().then(() => {
            // Screen readers announce the card's first words once, and not every age that ticks.
            const said = this.#body.querySelector("h3, h4, strong")?.textContent ?? this.#body.textContent;
            byId("details-said").textContent = this.#place ? said : "";
        });
    }

    /** @param {maplibregl.LngLat} lngLat */
    #open(lngLat) {
        this.#place = lngLat;
        this.#ahead.clear();
        this.#marker.setLngLat(lngLat).addTo(this.#map);
        this.#body.replaceChildren(element("p", {}, "Looking…"));
        this.#root.hidden = false;
        document.body.classList.add("details-open");
    }

    /** Opens the card of a link's place, or closes the card if the link has none.
     * @param {[number, number] | null} place */
    restore(place) {
        if (!place) return this.#place && this.#view().flight === null ? this.#hide() : undefined;
        const [lng, lat] = place;
        const shown = this.#place?.wrap();
        if (shown?.lng === lng && shown?.lat === lat) return;
        this.#open({ lng, lat, wrap() { return this; } });
        this.refresh();
    }

    /** Opens the card at an aircraft, or moves it there, and shows the alerts ahead.
     * @param {maplibregl.LngLat} lngLat
     * @param {string} icao24 */
    async follow(lngLat, icao24) {
        if (this.#place && this.#ahead.followed === icao24) {
            this.#place = lngLat;
            this.#marker.setLngLat(lngLat);
            return this.refresh();
        }
        this.#told.placed(null);
        this.#open(lngLat);
        this.#ahead.follow(icao24);
        return this.refresh();
    }

    close() {
        if (!this.#place) return;
        this.#told.placed(null);
        this.#told.left();
        this.#hide();
        this.#map.getCanvas().focus();
    }

    #hide() {
        this.#abort?.abort();
        this.#place = null;
        this.#ahead.clear();
        this.#marker.remove();
        this.#root.hidden = true;
        document.body.classList.remove("details-open");
    }

    async refresh() {
        if (!this.#place) return;
        this.#abort?.abort();
        const abort = (this.#abort = new AbortController());
        const { lng: longitude, lat: latitude } = this.#place.wrap();
        const view = this.#view();
        /** @type {Node[]} */
        let content;
        try {
            const [cell, rest, ahead, field] = await Promise.all([
                view.layers.some(showsCells) ? this.#content(longitude, latitude, abort.signal) : null,
                others(view, this.#map.getZoom(), longitude, latitude, abort.signal, (icao24) => this.#look(icao24)),
                this.#ahead.section(abort.signal), fieldSection(view, longitude, latitude, abort.signal),
            ]);
            // Symbols come first, because they lie above the cells and areas.
            content = [ahead, ...rest.symbols, cell, ...rest.areas, field].flatMap((part) => part ?? []);
            if (!content.length) content = [
                element("p", {}, element("strong", {}, "Nothing here"), " of the layers that are shown.")
            ];
        } catch (error) {
            const { message } = /** @type {Error} */ (error);
            content = [element("p", { className: "problem" }, `What is here can't be told: ${message}`)];
        }
        if (!abort.signal.aborted) patchChildren(this.#body, content);
    }

    /** @param {string} icao24 */
    #look(icao24) {
        this.#ahead.follow(icao24);
        this.refresh();
    }

    /** @param {number} longitude
     * @param {number} latitude
     * @param {AbortSignal} signal */
    async #content(longitude, latitude, signal) {
        if ((this.#view().time ?? 0) > now()) return this.#nothingYet();
        const zoom = this.#map.getZoom();
        const coarse = Math.round(zoom + 1) < FIRST_CELL_TILE_ZOOM;
        const reach = REACH_PIXELS + (coarse ? COARSE_PIXELS : 0);
        const pixelsInDegree = (512 * 2 ** zoom) / 360;
        const query = this.#query(longitude, latitude, reach / pixelsInDegree);
        const collection = await this.#cells(query, signal);
        /** @type {import("./distance.js").Place} */
        const place = [longitude, latitude];
        const near = collection.features
            .map((feature) => ({ feature, off: pixelsTo(feature.geometry, place, zoom) }))
            .filter(({ off }) => off <= reach)
            .sort((a, b) => b.feature.properties.severity - a.feature.properties.severity || a.off - b.off);
        if (collection.outside) return this.#nothingYet();
        if (!near.length) return this.#nothing(collection, coarse);
        const hit = near.find(({ off }) => off === 0);
        const isWide = CELL_DEGREES * pixelsInDegree >= WIDE_PIXELS;
        const { feature, off } = isWide && hit ? hit : near[0];
        const middle = middleOf(feature.geometry);
        const { properties } = feature;
        const records = properties.reports > 1
            ? await this.#records(properties.h3, this.#query(...middle, 0.0002), signal) : [];
        const under = off > 0 && hit ? this.#name(hit.feature.properties) : null;
        return this.#card(properties, records, [
            this.#why(properties),
            off > 0 ? `It lies ${bearingText(place, middle)} of the mark.` : null,
            under && `At the mark itself: ${under}, ${levels(hit?.feature.properties ?? {})}.`,
            near.length > 1 && !isWide ? `The worst of ${near.length} cells within ${reach} pixels.` : null,
        ]);
    }

    /** Requests all cells of a box. If they exceed a page, raises the minimum severity.
     * @param {URLSearchParams} query
     * @param {AbortSignal} signal
     * @returns {ReturnType<typeof getFeatures>} */
    async #cells(query, signal) {
        query.set("limit", String(PAGE));
        for (let least = Math.max(this.#view().minSeverity, 0); ; least += 1) {
            const collection = await getFeatures("collections/hexagons/items", query, signal);
            const hasMore = collection.links?.some(({ rel }) => rel === "next");
            if (!hasMore || least >= SEVERITIES.length - 1) return collection;
            query.set("minSeverity", String(least + 1));
        }
    }

    /** @param {Properties} properties
     * @returns {string} */
    #name({ severity }) {
        return this.#legend.entry(severity)?.label ?? SEVERITIES[severity] ?? `Severity ${severity}`;
    }

    /** Explains the colour of the cell.
     * @param {Properties} properties */
    #why({ reports }) {
        const view = this.#view();
        const what = reports > 1 ? `The worst of ${reports} reports` : "The only report";
        const only = leftOut(view);
        return `${what} of the last ${hoursText(view.hours)}${only ? `; ${only.toLowerCase()}` : ""}.`;
    }

    /** @param {number} longitude
     * @param {number} latitude
     * @param {number} half  half the width of the box, in degrees */
    #query(longitude, latitude, half) {
        const view = this.#view();
        const query = filters(view);
        query.set("bbox", box(longitude, latitude, half));
        if (view.time !== null) query.set("datetime", new Date(view.time).toISOString().replace(".000Z", "Z"));
        return query;
    }

    /** Requests the current observations of one cell, highest level first.
     * @param {string} cell
     * @param {URLSearchParams} query
     * @param {AbortSignal} signal */
    async #records(cell, query, signal) {
        const parameters = new URLSearchParams(query);
        parameters.set("aggregate", "false");
        /** @type {Billow.FeatureCollection} */
        const collection = await getJSON("collections/hexagons/items", parameters, signal);
        return collection.features.map((feature) => feature.properties).filter((record) => record.h3 === cell)
            .sort((a, b) => b.altitudeMin - a.altitudeMin || b.severity - a.severity);
    }

    #nothingYet() {
        return element("p", {}, element("strong", {}, "Nothing is observed"), " at this time.");
    }

    /** @param {Billow.FeatureCollection} collection
     * @param {boolean} coarse */
    #nothing(collection, coarse) {
        const from = instantOf(collection.completeSince);
        return element("div", {},
            element(
                "p", {}, element("strong", {}, "No report here"),
                ` nor within ${REACH_PIXELS} pixels, in this time and band. That is not a report of smooth air.`,
            ),
            coarse ? element(
                "p", { className: "note" }, "At this zoom the picture shows larger areas; zoom in for single cells.",
            ) : null,
            collection.incomplete
                ? element("p", { className: "note" }, from === null
                    ? "Some data is missing here." : `The data is complete only since ${near(from, now())}.`) : null);
    }

    /** @param {Properties} record
     * @param {Properties[]} records
     * @param {(string | null)[]} notes */
    #card(record, records, notes) {
        const entry = this.#legend.entry(record.severity);
        const rows = [
            ["Level", levels(record)],
            ["Observed", observed(record, this.#view().time)],
            ["EDR", (record.edr ?? null) === null ? "not given" : `${Number(record.edr).toFixed(2)} m²ᐟ³ s⁻¹`],
            [
                "Severity",
                record.severityBasis === "edr" ? `from EDR, category ${record.category ?? "–"}` : "as reported",
            ],
            ["Source", [record.source, record.kind].filter(Boolean).join(", ")],
            ["Aircraft", record.aircraft],
            ["Since 30 min", ["worse", "better"].includes(record.trend) ? record.trend : null],
            ["Reports", record.reports],
        ].filter(([, value]) => value !== undefined && value !== null && value !== "");
        return element("div", {},
            element(
                "h3", {}, entry ? swatch(entry) : null,
                this.#name(record),
            ),
            ...notes.flatMap((note) => (note ? [element("p", { className: "note" }, note)] : [])),
            element(
                "dl", {},
                ...rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]),
            ),
            records.length ? this.#table(records) : null,
            element("p", { className: "cell" }, record.h3));
    }

    /** @param {Properties[]} records */
    #table(records) {
        const rows = records.slice(0, MOST_ROWS).map((record) => {
            const entry = this.#legend.entry(record.severity);
            return element("tr", {},
                element("td", {}, levels(record)),
                element("td", {}, entry ? swatch(entry) : null, entry?.label ?? String(record.severity)),
                element("td", {}, age((this.#view().time ?? now()) - Date.parse(record.observedAt))));
        });
        const more = records.length - rows.length;
        return element("div", {},
            element("table", {},
                element("caption", {}, "All that count here"),
                element(
                    "thead", {},
                    element(
                        "tr", {}, ...["Level", "Severity", "Age"].map((name) => element("th", { scope: "col" }, name)),
                    ),
                ),
                element("tbody", {}, ...rows)),
            more > 0 ? element("p", { className: "note" }, `and ${more} more`) : null);
    }
}
