// @ts-check
// The turbulence field: computed values on a grid. Every display names its product, run and lead time, so that nobody
// takes it for an observation.
import { clockText } from "./clock-text.js";
import { element } from "./dom.js";
import { age, flightLevel, instantOf } from "./format.js";
import { HEADLINE_PIXELS, markUnknown, rate } from "./headline.js";
import { isOutside } from "./time-extent.js";
import { FIELD_PRODUCTS } from "./datasets.js";
import { isField } from "./layers.js";
import { getFeatures } from "./features.js";
import { now, ServerError } from "./server.js";
import { filters, SEVERITIES, showsSeverity } from "./view.js";

const MAX_LINES = 8;
/** The cells around a place have this or a higher severity. Below a zoom, many cells would be around it. */
const [LEAST_SEVERITY, LEAST_SEVERITY_FAR, FAR_ZOOM] = [1, 3, 4];
const MAX_CELLS = 1_000;
/** A later run replaces the field of an instant. */
const CACHE_MILLISECONDS = 60_000;
const MAX_CACHED = 200;
const SLOW_MILLISECONDS = 300;
const LOADING = "Loading the description of the turbulence field…";
const WITHOUT_CONTACT = "The time of the turbulence field is not known without contact with the server.";
/** The filters that restrict a field itself, and not only its severities. */
const FIELD_FILTERS = ["category", "source"];
/** @typedef {Record<string, any>} Properties */

/** @type {Billow.FeatureCollection} */
const EMPTY = { features: [] };

/** The name of a field: "Nowcast GTGN, valid 20:15Z", with the date if that is not today in UTC. An imported grid of
 * another centre than NOAA's has its number.
 * @param {Properties} properties */
export function fieldName({ product, run, lead, validTime, source }) {
    const [start, valid] = [instantOf(run), instantOf(validTime)];
    /** @param {number | null} instant */
    const clock = (instant) => (instant === null ? "unknown" : `${clockText(instant, now())}Z`);
    const centre = /^centre-(\d+)$/.exec(source ?? "")?.[1];
    const origin = centre ? `of WMO centre ${centre}` : String(product ?? "").toUpperCase();
    const kind = FIELD_PRODUCTS.get(product) ?? "Field";
    // The run of a nowcast is its valid time.
    const runText = kind === "Nowcast" ? "" : `, run ${clock(start)} + ${age((lead ?? 0) * 1000)}`;
    return `${kind} ${origin}${runText}, valid ${clock(valid)}`;
}

/** Describes the fields in the picture; null if the view shows none.
 * @param {Billow.View} view
 * @param {AbortSignal} [signal] */
export async function fieldText(view, signal) {
    const texts = await Promise.all(view.layers.filter(isField).map(async (id) => {
        const query = fieldQuery(view, { limit: "1" });
        const { features } = await isOutside(id, view.time) ? EMPTY
            : await getFeatures(`collections/${id}/items`, query, signal);
        const properties = features[0]?.properties;
        return properties ? `${fieldName(properties)}. Computed, not observed.`
            : `No turbulence field ${originText(view)}is stored for this time. This does not mean smooth air.`;
    }));
    return texts.length ? texts.join(" ") : null;
}

/** Shows the description of the field of each picture and frame. While the timeline plays, frames follow each other
 * faster than responses, so texts of frames are cached, and an old text never replaces a newer one. */
export class FieldNote {
    #show;
    /** @type {Map<string, { text: string | null, readAt: number }>} */
    #cache = new Map();
    /** @type {AbortController | null} */
    #abort = null;

    /** @param {(text: string | null) => void} show */
    constructor(show) { this.#show = show; }

    /** @param {Billow.View} view  with the instant of the map */
    async show(view) {
        this.#abort?.abort();
        const { signal } = (this.#abort = new AbortController());
        const key = [view.time, view.layers.filter(isField), filters(view)].join(" ");
        const cached = view.time === null ? undefined : this.#cache.get(key);
        if (cached && now() - cached.readAt < CACHE_MILLISECONDS) return this.#show(cached.text);
        // The previous text is of another instant, so it must not stay long.
        const timer = setTimeout(() => signal.aborted || this.#show(LOADING), SLOW_MILLISECONDS);
        let failure = "The description of the turbulence field could not be loaded.";
        const text = await fieldText(view, signal).catch((error) => {
            // The field itself may be on the map.
            if (error instanceof ServerError && error.status === 0) failure = WITHOUT_CONTACT;
        });
        clearTimeout(timer);
        if (text !== undefined) {
            if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
            this.#cache.set(key, { text, readAt: now() });
        }
        if (!signal.aborted) this.#show(text === undefined ? failure : text);
    }
}

/** The sections with the values of the view's fields at a place, by level, and the worst cell near it.
 * @param {Billow.View} view
 * @param {number} longitude
 * @param {number} latitude
 * @param {AbortSignal} signal
 * @param {number | null} [zoom]  the map's; null for the place alone */
export function fieldSections(view, longitude, latitude, signal, zoom = null) {
    return Promise.all(view.layers.filter(isField).map(async (id) => {
        const query = fieldQuery(view, { coords: `POINT(${longitude.toFixed(5)} ${latitude.toFixed(5)})` });
        if (view.minAltitude !== null || view.maxAltitude !== null) {
            query.set("z", `${view.minAltitude ?? 0}/${view.maxAltitude ?? 60_000}`);
        }
        const isAbsent = await isOutside(id, view.time);
        const [{ features }, near] = await Promise.all([
            isAbsent ? EMPTY : getFeatures(`collections/${id}/position`, query, signal),
            isAbsent || zoom === null ? null : worstNear(id, view, [longitude, latitude], zoom, signal),
        ]);
        return section(features.map(({ properties }) => properties), view, near);
    }));
}

/** The first picture describes its field without this module.
 * @type {Promise<typeof import("./distance.js")> | null} */
let distance = null;
/** A repeated `import` lets the browser draw the map first, which takes long. This does not, for prompt requests. */
export const loadDistance = () => (distance ??= import("./distance.js").catch((error) => {
    distance = null;
    throw error;
}));

/** The worst cell of a field that a click at a place may mean, because pointing is inexact; null for none.
 * @param {string} id
 * @param {Billow.View} view
 * @param {import("./distance.js").Place} place
 * @param {number} zoom
 * @param {AbortSignal} signal */
async function worstNear(id, view, place, zoom, signal) {
    const { bearingText, boxAround, centroid, pixelDistance } = await loadDistance();
    const half = (HEADLINE_PIXELS * 360) / (512 * 2 ** zoom);
    const query = fieldQuery(view, { bbox: boxAround(...place, half), limit: String(MAX_CELLS) });
    for (const [name, value] of filters(view)) query.set(name, value);
    const least = zoom < FAR_ZOOM ? LEAST_SEVERITY_FAR : LEAST_SEVERITY;
    query.set("minSeverity", String(Math.max(view.minSeverity, least)));
    const { features } = await getFeatures(`collections/${id}/items`, query, signal);
    const [worst] = features
        .map(({ geometry, properties }) => ({ geometry, properties, distance: pixelDistance(geometry, place, zoom) }))
        .filter(({ distance, properties }) => distance <= HEADLINE_PIXELS && showsSeverity(view, properties.severity))
        .sort((a, b) => b.properties.severity - a.properties.severity || a.distance - b.distance);
    return worst ? { ...worst, direction: bearingText(place, centroid(worst.geometry)) } : null;
}

/** @param {Properties[]} given  the values at a place, at several levels
 * @param {Billow.View} view
 * @param {Awaited<ReturnType<typeof worstNear>>} near */
function section(given, view, near) {
    const values = [...given].sort((a, b) => (b.edr ?? -1) - (a.edr ?? -1));
    const statements = statementsOf(values);
    const lines = statements.slice(0, MAX_LINES).map(({ names, text }) => element("li", {},
        element("strong", {}, names.join(", ")), element("span", {}, text)));
    const rest = statements.length - lines.length, more = `and ${rest} lower value${rest === 1 ? "" : "s"}`;
    const severities = values.flatMap(({ severity }) => severity ?? []).filter((each) => showsSeverity(view, each));
    const isWorse = near !== null && severities.every((each) => each < near.properties.severity);
    if (isWorse) severities.push(near.properties.severity);
    const found = element("section", { className: "features" },
        element("h3", {}, "Turbulence field"),
        element("p", { className: "note" }, values.length ? `${fieldName(values[0])}. Computed, not observed.`
            : view.sources ? `No field ${originText(view)}has a value here at this time. Turbulence is possible.`
                : "The grid has no value here at this time. Turbulence is possible."),
        isWorse ? element("p", {}, element("strong", {}, SEVERITIES[near?.properties.severity] ?? ""),
            ` ${near?.direction} of the ${view.flight === null ? "marker" : "aircraft"}.`) : null,
        lines.length ? element("ul", {}, ...lines) : null,
        rest > 0
            ? element("p", { className: "note" }, more) : null);
    if (!values.length) markUnknown(found);
    if (severities.length) rate(found, Math.max(...severities), "computed");
    return found;
}

/** Each value once, with the names of its levels. The column is named only if no level has its value.
 * @param {Properties[]} values  the highest first
 * @returns {{ names: string[], text: string }[]} */
export function statementsOf(values) {
    /** @type {Map<string, number[]>} */
    const levels = new Map();
    for (const { altitude, edr, severity } of values) {
        const text = edr === undefined ? "no value here"
            : `EDR ${Number(edr).toFixed(2)}, ${(SEVERITIES[severity] ?? "no severity").toLowerCase()}`;
        levels.set(text, [...levels.get(text) ?? [], ...altitude === undefined ? [] : [altitude]]);
    }
    return [...levels].map(([text, altitudes]) => ({
        names: altitudes.length ? altitudes.sort((a, b) => a - b).map((each) => flightLevel(each)) : ["Whole column"],
        text,
    }));
}

/** The sources that a view selects, as a part of a sentence.
 * @param {Billow.View} view */
const originText = ({ sources }) => (sources ? `of ${sources.join(" or ")} ` : "");

/** The parameters of a request for the field on the map: the view's filters that apply to fields, and its instant.
 * @param {Billow.View} view
 * @param {Record<string, string>} parameters */
function fieldQuery(view, parameters) {
    const query = new URLSearchParams(parameters);
    const given = filters(view);
    for (const name of FIELD_FILTERS) {
        const value = given.get(name);
        if (value !== null) query.set(name, value);
    }
    if (view.time !== null) query.set("time", new Date(view.time).toISOString().replace(/\.\d+Z/, "Z"));
    return query;
}
