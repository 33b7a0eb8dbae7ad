// @ts-check
// The part of a route that lies beyond the alerts: its worst turbulence, and where no field is known. The server limits
// the distance of alerts, so the worst of a long route may lie beyond them.
import { element } from "./dom.js";
import { flightLevel } from "./format.js";
import { stretchesOf } from "./flight-plan.js";
import { FIELD_NAMES, rangeText, severityName } from "./route-sections.js";

/** Parts of one kind with at most this many nautical miles between them are one part. */
const JOINED_MILES = 30;
/** The reasons of the server for unknown values of a field.
 * Source: docs/http/features.md, the field along a flight */
const REASONS = new Map([
    ["time", "not stored for these times"], ["outside", "outside of its area"], ["level", "not at this level"],
    ["missing", "without a value"],
]);
/** The worst is named with at most this many parts. */
const MAX_PARTS = 3;

/** @typedef {{ from: number, to: number }} Part  nautical miles
 * @typedef {{ severity: number, parts: Part[] }} Worst
 * @typedef {{ severities: (number | null)[], unknown: (Part & { reason?: string })[] }} Field  by equal steps
 * @typedef {{ minAltitude: number, maxAltitude: number }} Band  feet */

/** The worst reported turbulence beyond a distance, within the altitudes of the alerts and at the others.
 * @param {Billow.Feature[]} cells  along the route
 * @param {number} distance  nautical miles
 * @param {Band} band
 * @returns {{ own: Worst | null, other: Worst | null }} */
export function worstReported(cells, distance, { minAltitude, maxAltitude }) {
    const beyond = cells.filter(({ properties }) => properties.distanceAlong > distance);
    /** @param {Billow.Feature} cell */
    const isOwn = ({ properties: { altitude, altitudeMin, altitudeMax } }) => {
        const low = altitudeMin ?? altitude;
        return low <= maxAltitude && (altitudeMax ?? low) >= minAltitude;
    };
    /** @param {Billow.Feature[]} found */
    const worst = (found) => {
        if (!found.length) return null;
        const severity = Math.max(...found.map(({ properties }) => properties.severity));
        return { severity, parts: stretchesOf(found.filter(({ properties }) =>
            properties.severity === severity), null).map(({ from, to }) => ({ from, to })) };
    };
    return { own: worst(beyond.filter(isOwn)), other: worst(beyond.filter((cell) => !isOwn(cell))) };
}

/** The worst computed turbulence beyond a distance; null if it is smooth or unknown.
 * @param {(number | null)[]} severities  along the route, by equal steps
 * @param {number} distance  nautical miles
 * @param {number} length  nautical miles
 * @returns {Worst | null} */
export function worstComputed(severities, distance, length) {
    const step = length / severities.length;
    const beyond = severities.flatMap((severity, index) =>
        (severity && (index + 1) * step > distance ? [{ severity, from: index * step, to: (index + 1) * step }] : []));
    if (!beyond.length) return null;
    const severity = Math.max(...beyond.map((part) => part.severity));
    return { severity, parts: joined(beyond.filter((part) => part.severity === severity)
        .map(({ from, to }) => ({ from: Math.max(from, distance), to }))) };
}

/** The computed turbulence of a profile, along the route: at the planned level, or the worst of all levels.
 * @param {Record<string, any> | undefined} field  from a profile with times
 * @returns {Field | null} */
export function computedAlong(field) {
    if (!field) return null;
    const unknown = field.unknown ?? [];
    /** @type {{ severity?: number }[] | undefined} */
    const path = field.path;
    if (path) return { severities: path.map(({ severity }) => severity ?? null), unknown };
    /** @type {(number | null)[][]} */
    const rows = field.severities ?? [];
    return { severities: (rows[0] ?? []).map((_, index) =>
        Math.max(0, ...rows.map((row) => row[index] ?? 0))), unknown };
}

/** The sentences about the rest of a route. `isWorse` is true if its severity is above the worst of the alerts.
 * @param {object} route
 * @param {number} route.ahead  the worst severity of the alerts; 0 if they have none
 * @param {number} route.distance  the end of the alerts, in nautical miles
 * @param {number} route.length  nautical miles
 * @param {Band} route.band
 * @param {Billow.Feature[]} route.cells
 * @param {Field | null} route.field  null if no field is stored at the departure
 * @param {Part[]} route.hazards  parts of the route within issued areas
 * @returns {{ isWorse: boolean, sentences: string[] }} */
export function beyondText({ ahead, distance, length, band, cells, field, hazards }) {
    const { own, other } = worstReported(cells, distance, band);
    const computed = worstComputed(field?.severities ?? [], distance, length);
    const worst = Math.max(own?.severity ?? 0, computed?.severity ?? 0);
    const isWorse = worst > ahead;
    const isOtherWorse = (other?.severity ?? 0) > Math.max(worst, ahead);
    const end = Math.round(distance);
    const found = [
        own && `${severityName(own.severity)} reported at ${partsText(own.parts)}`,
        computed && `${severityName(computed.severity)} computed at ${partsText(computed.parts)}`,
    ].filter(Boolean).join(", ");
    const areas = joined(hazards.filter(({ to }) => to > distance)
        .map(({ from, to }) => ({ from: Math.max(from, distance), to })));
    const levels = rangeText(flightLevel(band.minAltitude), flightLevel(band.maxAltitude));
    return { isWorse: isWorse || isOtherWorse, sentences: [
        other && isOtherWorse ? `Beyond ${end} NM, at other levels, ${severityName(other.severity)} is reported at ${
            partsText(other.parts)}.` : null,
        found ? `${isWorse ? "Worse lies beyond" : "The worst beyond"} ${end} NM: ${found}.`
            : `Beyond ${end} NM no turbulence is reported at ${levels}. This does not mean smooth air.`,
        areas.length ? `Hazard areas beyond: ${partsText(areas)}.` : null,
        ...unknownTexts(field, distance, length),
    ].flatMap((text) => text ?? []) };
}

/** Says for which miles beyond a distance no value of the field is known, and why.
 * @param {Field | null} field
 * @param {number} distance
 * @param {number} length */
function unknownTexts(field, distance, length) {
    if (!field) return [`No ${FIELD_NAMES} is stored for ${partsText([{ from: distance, to: length }])}.`];
    const beyond = field.unknown.filter(({ to }) => to > distance);
    return [...new Set(beyond.map(({ reason }) => reason))].map((reason) => {
        const parts = joined(beyond.filter((part) => part.reason === reason)
            .map(({ from, to }) => ({ from: Math.max(from, distance), to })));
        const words = REASONS.get(reason ?? "");
        return `No ${FIELD_NAMES} is known for ${partsText(parts)}${words ? `: ${words}` : ""}.`;
    });
}

/** @param {ReturnType<typeof beyondText>} text */
export const beyondNode = ({ isWorse, sentences: [first, ...rest] }) =>
    element("div", { className: "beyond" },
        element("p", { className: isWorse ? "problem" : "note" }, first),
        rest.length ? element("p", { className: "note" }, rest.join(" ")) : null);

/** "2857–2999 NM", "2100–2150, 2300 and 2 more parts to 2999 NM"
 * @param {Part[]} parts */
function partsText(parts) {
    const names = parts.slice(0, MAX_PARTS).map(({ from, to }) =>
        rangeText(String(Math.round(from)), String(Math.round(to))));
    const more = parts.slice(MAX_PARTS);
    return `${names.join(", ")} NM${more.length === 0 ? ""
        : `, and ${more.length} more ${more.length === 1 ? "part" : "parts"} to ${
            Math.round(more[more.length - 1].to)} NM`}`;
}

/** Joins parts that are near to each other.
 * @param {Part[]} parts
 * @returns {Part[]} */
function joined(parts) {
    /** @type {Part[]} */
    const found = [];
    for (const { from, to } of [...parts].sort((a, b) => a.from - b.from)) {
        const last = found[found.length - 1];
        if (last && from - last.to <= JOINED_MILES) last.to = Math.max(last.to, to);
        else found.push({ from, to });
    }
    return found;
}
