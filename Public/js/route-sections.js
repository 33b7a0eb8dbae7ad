// @ts-check
// Texts for turbulence and hazards along a route.
import { areaLevels } from "./area-levels.js";
import { clockText } from "./clock-text.js";
import { AREA_KINDS } from "./datasets.js";
import { element } from "./dom.js";
import { fieldName } from "./field.js";
import { clockTime, instantOf } from "./format.js";
import { isField, LAYERS } from "./layers.js";
import { SEVERITIES } from "./view.js";

export const FIELD_NAMES = LAYERS.filter(({ id }) => isField(id)).map(({ name }) => name).join(", ");

/** @typedef {Record<string, any>} Properties */

/** @param {number} severity */
export const severityName = (severity) => SEVERITIES[severity] ?? `Severity ${severity}`;
/** "FL310–FL370", or one value if both are equal.
 * @param {string} from
 * @param {string} to */
export const rangeText = (from, to) => (from === to ? from : `${from}–${to}`);
/** @param {number} instant */
export const hourMinute = (instant) => clockTime(instant).slice(0, 5);

/** "22:00–23:10", or "22:00–1 Dec 00:10": an instant of another UTC day than the one before it has its date.
 * @param {number} from
 * @param {number} to
 * @param {number} near  the instant before them */
export function clockRange(from, to, near) {
    const [start, end] = [clockText(from, near), clockText(to, from)];
    return start.endsWith(end) ? start : `${start}–${end}`;
}

/** The computed field along the route, at the times of passage: its severity, its name, and where values are missing.
 * @param {Properties | undefined} field  from a profile with times
 * @param {string | null} extent  what part of the field it is */
export function fieldAlongRoute(field, extent = null) {
    if (!field) return [];
    const [first, ...rest] = /** @type {Properties[]} */ (field.fields ?? []);
    const names = first ? `${fieldName(first)}${rest.length ? `, and ${rest.length} more` : ""}. ` : "";
    return [
        element("h4", {}, `Computed along the route (${FIELD_NAMES})`),
        element("p", { className: "field-text" }, String(field.text ?? "")),
        extent === null ? null : element("p", { className: "note" }, extent),
        element("p", { className: "note" }, `${names}Computed, not observed. Unknown does not mean smooth air.`),
        field.stale ? element("p", { className: "problem" }, "The field is stale.") : null,
    ].flatMap((part) => part ?? []);
}

/** Parts of one reason with at most this many nautical miles between them are one part. */
const JOINED_MILES = 30;
/** At most this many parts are named. */
const MAX_PARTS = 3;
/** The server's reasons for unknown values of a field.
 * Source: docs/http/features.md, the field along a flight */
const REASONS = new Map([
    ["time", "not stored for these times"], ["outside", "outside of its area"], ["level", "not at this level"],
    ["missing", "without a value"],
]);

/** Says for which parts of a route the computed field is unknown, and why. No alert comes from there.
 * @param {Properties | undefined} field  from a profile with times
 * @returns {string[]}  sentences */
export function unknownTexts(field) {
    /** @type {{ from: number, to: number, reason?: string }[]} */
    const unknown = field?.unknown ?? [];
    return [...new Set(unknown.map(({ reason }) => reason))].map((reason) => {
        /** @type {{ from: number, to: number }[]} */
        const parts = [];
        for (const { from, to } of unknown.filter((part) => part.reason === reason)) {
            const last = parts[parts.length - 1];
            if (last && from - last.to <= JOINED_MILES) last.to = Math.max(last.to, to);
            else parts.push({ from, to });
        }
        const names = parts.slice(0, MAX_PARTS).map(({ from, to }) =>
            rangeText(String(Math.round(from)), String(Math.round(to))));
        const more = parts.slice(MAX_PARTS);
        const rest = more.length === 0 ? "" : `, and ${more.length} more ${more.length === 1 ? "part" : "parts"} to ${
            Math.round(more[more.length - 1].to)} NM`;
        const words = REASONS.get(reason ?? "");
        return `No ${FIELD_NAMES} is known for ${names.join(", ")} NM${rest}${words ? `: ${words}` : ""}.`;
    });
}

/** The issued hazard areas along the route, with the times of passage.
 * @param {Properties[]} hazards
 * @param {number} departure
 * @param {number} speed  knots */
export function hazardsAlongRoute(hazards, departure, speed) {
    if (!hazards?.length) return [];
    /** @param {number} miles */
    const etaAt = (miles) => departure + (miles / speed) * 3_600_000;
    return [
        element("h4", {}, "Hazard areas along the route"),
        element("ul", { className: "stretches" }, ...hazards.flatMap((hazard) =>
            /** @type {[number, number][]} */ (hazard.stretches).map(([from, to]) => element("li", {},
                element("div", {},
                    element("strong", {}, [
                        `${clockRange(etaAt(from), etaAt(to), departure)}Z`,
                        AREA_KINDS.get(hazard.kind) ?? hazard.kind, hazard.hazard,
                    ].filter(Boolean).join(" ")),
                    element("span", {}, `${Math.round(from)}–${Math.round(to)} NM, ${areaLevels(hazard)}`),
                    element("span", {}, `valid ${clockText(instantOf(hazard.validFrom) ?? 0, departure)}–${
                        clockText(instantOf(hazard.validTo) ?? 0, instantOf(hazard.validFrom) ?? 0)}Z${
                        (instantOf(hazard.validTo) ?? Infinity) <= etaAt(from) ? ", expires before you arrive"
                            : (instantOf(hazard.validFrom) ?? 0) > etaAt(to) ? ", begins after you pass" : ""
                    }`)))))),
    ];
}
