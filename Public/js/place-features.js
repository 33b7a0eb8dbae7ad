// @ts-check
// The sections of the card for layers other than hexagons: hazards and forecasts that contain the place, and pilot
// reports and aircraft near it.
import { areaLevels } from "./area-levels.js";
import { AREA_KINDS } from "./datasets.js";
import { element } from "./dom.js";
import { flightLevel, instantOf, shortTime } from "./format.js";
import { HEADLINE_PIXELS, rate } from "./headline.js";
import { AREA_SHAPE, layerName, LAYERS } from "./layers.js";
import { boxAround, pixelDistance } from "./distance.js";
import { agoText } from "./observation-text.js";
import { getFeatures } from "./features.js";
import { now } from "./server.js";
import { filters, SEVERITIES } from "./view.js";

/** A symbol within this distance of the place is listed, in pixels. A symbol within its own radius is hit. */
const SYMBOL_PIXELS = matchMedia("(pointer: coarse)").matches ? 22 : 12;
const RADIUS_PIXELS = 8;
const MAX_LINES = 8;

/** The texts of a feature; the first names it. The actions take an aircraft's ICAO address.
 * @typedef {[label: string, ...notes: (string | Node | null | undefined)[]]} Line
 * @typedef {{ showAlerts: (icao24: string) => void, follow: (icao24: string) => void }} Actions
 * @typedef {Record<string, any>} Properties */

/** Layer shape → whether its features are symbols instead of areas, and the function that describes one.
 * @type {Record<string, {
 *     isSymbol?: boolean, line: (properties: Properties, time: number | null, actions: Actions) => Line,
 * }>} */
const DESCRIPTIONS = {
    [AREA_SHAPE]: { line: areaLine }, reports: { isSymbol: true, line: reportLine },
    aircraft: { isSymbol: true, line: aircraftLine },
};

/** Requests the sections for the view's layers with features at a place. Symbols and areas are separate lists.
 * `zoom` is the map's zoom. The actions show the alerts ahead of an aircraft, or follow it.
 * @param {Billow.View} view
 * @param {number} zoom
 * @param {number} longitude
 * @param {number} latitude
 * @param {AbortSignal} signal
 * @param {Actions} actions */
export async function featureSections(view, zoom, longitude, latitude, signal, actions) {
    // The topmost layer first.
    const layers = [...view.layers].reverse().flatMap((wanted) =>
        LAYERS.filter(({ id, shape }) => id === wanted && shape in DESCRIPTIONS));
    /** @type {import("./distance.js").Place} */
    const place = [longitude, latitude];
    const sections = await Promise.all(layers.map(async ({ id, shape }) => {
        const { isSymbol, line } = DESCRIPTIONS[shape];
        const degrees = isSymbol ? (SYMBOL_PIXELS * 360) / (512 * 2 ** zoom) : 0.0002;
        const query = filters(view);
        query.set("bbox", boxAround(longitude, latitude, degrees));
        query.set("limit", "100");
        if (view.time !== null) query.set("time", new Date(view.time).toISOString().replace(".000Z", "Z"));
        const { features } = await getFeatures(`collections/${id}/items`, query, signal);
        const maxDistance = isSymbol ? SYMBOL_PIXELS : 0;
        const hits = features.map((feature) => ({ ...feature, distance: pixelDistance(feature.geometry, place, zoom) }))
            .filter(({ distance }) => distance <= maxDistance);
        // Hit symbols come first, then the more important ones, because the list shows the first lines only.
        /** @param {{ distance: number }} feature */
        const isMissed = ({ distance }) => Number(distance > RADIUS_PIXELS);
        hits.sort((a, b) =>
            isMissed(a) - isMissed(b) || importance(b.properties) - importance(a.properties)
            || a.distance - b.distance);
        const lines = hits.map(({ properties }) => line(properties, view.time, actions));
        const node = lines.length ? section(layerName(id), lines) : null;
        if (node) rateFeatures(node, hits, shape);
        return { isSymbol: isSymbol === true, node };
    }));
    /** @param {boolean} wanted */
    const nodes = (wanted) => sections.flatMap(({ isSymbol, node }) => (node && isSymbol === wanted ? [node] : []));
    return { symbols: nodes(true), areas: nodes(false) };
}

/** Notes what the features say about turbulence at the place.
 * @param {HTMLElement} node  their section
 * @param {{ properties: Properties, distance: number }[]} hits
 * @param {string} shape */
function rateFeatures(node, hits, shape) {
    const near = hits.filter(({ distance }) => distance <= HEADLINE_PIXELS).map(({ properties }) => properties);
    const severities = near.flatMap(({ severity }) => severity ?? []);
    const isIssued = shape === AREA_SHAPE;
    if (severities.length) rate(node, Math.max(...severities), isIssued ? "issued" : "a pilot's report");
    if (!isIssued) return;
    const unknown = near.filter(({ severity }) => !isGiven(severity)).map(areaName);
    for (const name of new Set(unknown)) rate(node, null, `${name} without a severity, issued`);
}

/** @param {string} title
 * @param {Line[]} lines */
function section(title, lines) {
    const rows = lines.slice(0, MAX_LINES).map(([label, ...notes]) => element("li", {},
        element("strong", {}, label), ...notes.flatMap((note) => (note ? element("span", {}, note) : []))));
    const more = lines.length - rows.length;
    return element("section", { className: "features" }, element("h3", {}, title), element("ul", {}, ...rows),
        more > 0 ? element("p", { className: "note" }, `and ${more} more`) : null);
}

/** Whether a pilot report is urgent. The type is a text of the upstream: `Urgent PIREP`.
 * @param {Properties} properties */
export const isUrgent = ({ type }) => /urgent|^UUA$/i.test(type ?? "");

/** Ranks urgent reports before routine ones, then more severe ones first. Other features have equal rank.
 * @param {Properties} properties */
const importance = (properties) => (isUrgent(properties) ? 10 : 0) + (properties.severity ?? -1);

/** The legend's name of a severity.
 * @param {number | undefined} severity
 * @param {string | undefined} name  the server's name */
const severityText = (severity, name) => (severity === undefined ? name : SEVERITIES[severity] ?? name);
/** @param {unknown} value */
const isGiven = (value) => value !== undefined && value !== null;
/** @param {unknown} text */
const timeText = (text) => shortTime(instantOf(text) ?? 0, now());

/** @param {Properties} properties */
const areaName = ({ kind, hazard }) => [AREA_KINDS.get(kind) ?? kind, hazard].filter(Boolean).join(" ");

/** @param {Properties} properties
 * @returns {Line} */
function areaLine({
    kind, hazard, altitudeMin, altitudeMax, altitudeReference, validFrom, validTo, severity, severityName,
    forecastHour, text,
}) {
    return [
        areaName({ kind, hazard }),
        [
            areaLevels({ altitudeMin, altitudeMax, altitudeReference }), severityText(severity, severityName),
        ].filter(Boolean).join(", "),
        `valid ${timeText(validFrom)} – ${timeText(validTo)}${forecastHour ? `, forecast hour ${forecastHour}` : ""}`,
        text,
    ];
}

/** @param {Properties} properties
 * @param {number | null} time
 * @returns {Line} */
function reportLine({ type, severity, severityName, altitude, aircraft, observedAt, text }, time) {
    const instant = instantOf(observedAt);
    return [
        [
            isUrgent({ type }) ? "Urgent" : null, severityText(severity, severityName) ?? "turbulence not reported",
        ].filter(Boolean).join(": "),
        [isGiven(altitude) ? flightLevel(altitude) : "level not reported", aircraft].filter(Boolean).join(", "),
        instant === null ? null : agoText(instant, time), text,
    ];
}

/** The level, speed and heading of an aircraft, and the age of its position.
 * @param {Properties} properties
 * @param {number | null} time
 * @returns {(string | Node | null)[]} */
export function aircraftTexts({ altitude, groundSpeed, heading, onGround, observedAt }, time) {
    const instant = instantOf(observedAt);
    return [
        [
            onGround ? "on the ground" : isGiven(altitude) ? flightLevel(altitude) : null,
            isGiven(groundSpeed) ? `${Math.round(groundSpeed)} kt` : null,
            isGiven(heading) ? `${String(Math.round(heading) % 360).padStart(3, "0")}°` : null,
        ].filter(Boolean).join(", "),
        instant === null ? null : agoText(instant, time, "seen "),
    ];
}

/** @param {Properties} properties
 * @param {number | null} time
 * @param {Actions} actions
 * @returns {Line} */
function aircraftLine(properties, time, { showAlerts, follow }) {
    const { callsign, icao24, heading, onGround } = properties;
    /** @type {(text: string, action: (icao24: string) => void) => Node} */
    const button = (text, action) => element(
        "button", { type: "button", className: "alerts-button", onclick: () => action(icao24) }, text);
    return [
        callsign || icao24, ...aircraftTexts(properties, time),
        isGiven(heading) && !onGround ? button("Show alerts ahead", showAlerts) : null, button("Follow", follow),
    ];
}
