// @ts-check
// The section of a place's card about hexagons: the hexagon at the place or the worst one near it, and the reports
// behind it. The page loads this module with the first card.
import { bearingText, boxAround, centroid, pixelDistance } from "./distance.js";
import { element, swatch } from "./dom.js";
import { age, hoursText, instantOf, shortTime } from "./format.js";
import { HEADLINE_PIXELS, rate } from "./headline.js";
import { CELLS, layerName } from "./layers.js";
import { levelText, observedParts, tickingAge } from "./observation-text.js";
import { getFeatures } from "./features.js";
import { getJSON, now } from "./server.js";
import { filters, filterText, SEVERITIES } from "./view.js";

/** A cell within this distance of the place is a hit, in pixels, because pointing is inexact. */
const HIT_PIXELS = matchMedia("(pointer: coarse)").matches ? 22 : 12;
/** Below this tile zoom the picture shows larger cells than the collection has. */
const FIRST_CELL_TILE_ZOOM = 5;
const COARSE_PIXELS = 8;
/** From this cell width on, the cell under the pointer wins over worse cells nearby. */
const WIDE_PIXELS = 30;
const CELL_DEGREES = 0.16;
const PAGE_LIMIT = 10_000;
const MAX_ROWS = 12;

/** @typedef {Record<string, any>} Properties */

/** States which reports the filters leave, so that an empty place does not look free of others.
 * @param {Billow.View} view */
function filterNote(view) {
    const only = filterText(view);
    return only ? [element("p", { className: "note" }, `${only}.`)] : [];
}

export class CellSection {
    #view;
    #zoom;
    #legend;

    /** @param {Billow.View} view
     * @param {number} zoom  the map's
     * @param {import("./legend.js").Legend} legend */
    constructor(view, zoom, legend) {
        this.#view = view;
        this.#zoom = zoom;
        this.#legend = legend;
    }

    /** @param {number} longitude
     * @param {number} latitude
     * @param {AbortSignal} signal */
    async content(longitude, latitude, signal) {
        if ((this.#view.time ?? 0) > now()) return this.#futureCard();
        const zoom = this.#zoom;
        const coarse = Math.round(zoom + 1) < FIRST_CELL_TILE_ZOOM;
        const hitPixels = HIT_PIXELS + (coarse ? COARSE_PIXELS : 0);
        const pixelsInDegree = (512 * 2 ** zoom) / 360;
        const query = this.#query(longitude, latitude, hitPixels / pixelsInDegree);
        const collection = await this.#cells(query, signal);
        /** @type {import("./distance.js").Place} */
        const place = [longitude, latitude];
        const hits = collection.features
            .map((feature) => ({ feature, distance: pixelDistance(feature.geometry, place, zoom) }))
            .filter(({ distance }) => distance <= hitPixels)
            .sort((a, b) => b.feature.properties.severity - a.feature.properties.severity || a.distance - b.distance);
        if (collection.outside) return this.#futureCard();
        if (!hits.length) return this.#emptyCard(collection, coarse);
        const cellBelow = hits.find(({ distance }) => distance === 0);
        const isWide = CELL_DEGREES * pixelsInDegree >= WIDE_PIXELS;
        const { feature, distance } = isWide && cellBelow ? cellBelow : hits[0];
        const cellCentre = centroid(feature.geometry);
        const { properties } = feature;
        const records = properties.reports > 1
            ? await this.#observations(properties.h3, this.#query(...cellCentre, 0.0002), signal) : [];
        const isNear = distance <= HEADLINE_PIXELS + (coarse ? COARSE_PIXELS : 0);
        // A followed flight is at the mark of its card.
        const mark = this.#view.flight === null ? "marker" : "aircraft";
        const nameBelow = distance > 0 && cellBelow ? this.#name(cellBelow.feature.properties) : null;
        return this.#card(properties, records, isNear, [
            this.#explanation(properties),
            distance > 0 ? `${bearingText(place, cellCentre)} of the ${mark}.` : null,
            nameBelow && `At the ${mark}: ${nameBelow}, ${levelText(cellBelow?.feature.properties ?? {})}.`,
            hits.length > 1 && !isWide ? `The most severe of ${hits.length} cells within ${hitPixels} pixels.` : null,
        ]);
    }

    /** Requests all cells of a box. If they exceed a page, raises the minimum severity.
     * @param {URLSearchParams} query
     * @param {AbortSignal} signal
     * @returns {ReturnType<typeof getFeatures>} */
    async #cells(query, signal) {
        query.set("limit", String(PAGE_LIMIT));
        for (let least = Math.max(this.#view.minSeverity, 0); ; least += 1) {
            const collection = await getFeatures(`collections/${CELLS}/items`, query, signal);
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
    #explanation({ reports }) {
        const view = this.#view;
        const count = reports > 1 ? `The most severe of ${reports} reports` : "The only report";
        const only = filterText(view);
        const filter = only ? `; ${only[0]?.toLowerCase()}${only.slice(1)}` : "";
        return `${count} in the last ${hoursText(view.hours)}${filter}.`;
    }

    /** @param {number} longitude
     * @param {number} latitude
     * @param {number} half  half the width of the box, in degrees */
    #query(longitude, latitude, half) {
        const view = this.#view;
        const query = filters(view);
        query.set("bbox", boxAround(longitude, latitude, half));
        if (view.time !== null) query.set("datetime", new Date(view.time).toISOString().replace(".000Z", "Z"));
        return query;
    }

    /** Requests the current observations of one cell, highest level first.
     * @param {string} cell
     * @param {URLSearchParams} query
     * @param {AbortSignal} signal */
    async #observations(cell, query, signal) {
        const parameters = new URLSearchParams(query);
        parameters.set("aggregate", "false");
        /** @type {Billow.FeatureCollection} */
        const collection = await getJSON(`collections/${CELLS}/items`, parameters, signal);
        return collection.features.map((feature) => feature.properties).filter((record) => record.h3 === cell)
            .sort((a, b) => b.altitudeMin - a.altitudeMin || b.severity - a.severity);
    }

    #futureCard() {
        return element("p", {}, element("strong", {}, "No observations"), " for this time yet.");
    }

    /** @param {Billow.FeatureCollection} collection
     * @param {boolean} coarse */
    #emptyCard(collection, coarse) {
        const from = instantOf(collection.completeSince);
        return element("div", {},
            element(
                "p", {}, element("strong", {}, "No report here"),
                ` or within ${HIT_PIXELS} pixels, for this time and altitude band. This does not mean smooth air.`,
            ),
            ...filterNote(this.#view),
            coarse ? element(
                "p", { className: "note" }, "At this zoom the picture shows larger areas; zoom in for single cells.",
            ) : null,
            collection.incomplete
                ? element("p", { className: "note" }, from === null
                    ? "Some data is missing here." : `The data is complete from ${shortTime(from, now())}.`) : null);
    }

    /** @param {Properties} record
     * @param {Properties[]} records
     * @param {boolean} isNear  whether the cell is near enough to give the card its headline
     * @param {(string | null)[]} notes */
    #card(record, records, isNear, notes) {
        const entry = this.#legend.entry(record.severity);
        const edr = record.edr ?? null;
        const rows = [
            ["Level", levelText(record)],
            ["Observed", observedParts(record, this.#view.time)],
            ["EDR", edr === null ? "not reported" : `${Number(edr).toFixed(2)} m²ᐟ³ s⁻¹`],
            [
                "Severity",
                record.severityBasis === "edr" ? `from EDR, category ${record.category ?? "–"}` : "as reported",
            ],
            ["Source", [record.source, record.kind].filter(Boolean).join(", ")],
            ["Aircraft", record.aircraft],
            ["Trend, 30 min", ["worse", "better"].includes(record.trend) ? record.trend : null],
            ["Reports", record.reports],
        ].filter(([, value]) => value !== undefined && value !== null && value !== "");
        const title = `${isNear ? layerName(CELLS) : "Nearby"}: ${this.#name(record)}`;
        const card = element("section", { className: "features" },
            element("h3", {}, entry ? swatch(entry) : null, title),
            ...notes.flatMap((note) => (note ? [element("p", { className: "note" }, note)] : [])),
            element(
                "dl", {},
                ...rows.flatMap(([name, value]) => [element("dt", {}, name),
                    element("dd", {}, ...(Array.isArray(value) ? value : [String(value)]))]),
            ),
            records.length ? this.#table(records) : null,
            // Only analysts need it.
            element("details", { className: "cell" }, element("summary", {}, "Cell"), element("p", {}, record.h3)));
        if (isNear) rate(card, record.severity, "reported");
        return card;
    }

    /** @param {Properties[]} records */
    #table(records) {
        const { time } = this.#view;
        const rows = records.slice(0, MAX_ROWS).map((record) => {
            const entry = this.#legend.entry(record.severity);
            const observed = Date.parse(record.observedAt);
            return element("tr", {},
                element("td", {}, levelText(record)),
                element("td", {}, entry ? swatch(entry) : null, entry?.label ?? String(record.severity)),
                element("td", {}, time === null ? tickingAge(observed) : age(time - observed)));
        });
        const more = records.length - rows.length;
        return element("div", {},
            element("table", {},
                element("caption", {}, "All reports in this cell"),
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
