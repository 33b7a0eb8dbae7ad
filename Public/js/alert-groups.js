// @ts-check
// Groups the alerts ahead of a flight or along a route. Reported and computed turbulence is grouped by severity, worst
// first. Issued areas follow, grouped by kind.
import { areaLevels } from "./area-levels.js";
import { clockText } from "./clock-text.js";
import { AREA_KINDS } from "./datasets.js";
import { element, swatch } from "./dom.js";
import { age, clockTime, flightLevel, instantOf } from "./format.js";
import { now } from "./server.js";
import { filterText, SEVERITIES, severitiesOf } from "./view.js";

/** The first group is initially open, and so is each group with at most this many lines. */
const MAX_OPEN_LINES = 3;
/** Clusters of one severity with at most this much time between them are one line. */
export const JOINED_SECONDS = 300;

/** `severity` is null for issued areas.
 * @typedef {{ title: string, severity: number | null, lines: { label: string, note: string }[] }} Group
 * @typedef {Pick<Billow.Alerts, "clusters" | "hazards" | "field" | "items">} Found
 * @typedef {NonNullable<Billow.Alerts["items"]>[number]} Item */

/** @param {Found} found
 * @param {number} [departure]  of a flight that has not departed; the lines then tell how old the reports will be
 * @returns {Group[]} */
export function alertGroups({ clusters, hazards, field, items = [] }, departure) {
    const reported = bySeverity(clusters, "reported", items, departure);
    const computed = bySeverity(field?.clusters ?? [], "computed", field?.items ?? []);
    // The sort is stable: at the same severity, reports come before computed turbulence.
    const turbulence = [...reported, ...computed].sort((a, b) => (b.severity ?? 0) - (a.severity ?? 0));
    /** @type {Map<string, Group>} */
    const issued = new Map();
    for (const { kind, hazard, altitudeMin, altitudeMax, altitudeReference, validFrom, validTo } of hazards) {
        const title = `${AREA_KINDS.get(kind) ?? kind}, issued`;
        const group = issued.get(title) ?? { title, severity: null, lines: [] };
        issued.set(title, group);
        group.lines.push({
            label: hazard ?? AREA_KINDS.get(kind) ?? kind,
            note: [areaLevels({ altitudeMin, altitudeMax, altitudeReference }), validity(validFrom, validTo)]
                .filter(Boolean).join(", "),
        });
    }
    return [...turbulence, ...[...issued.values()].sort((a, b) => (a.title < b.title ? -1 : 1))];
}

/** "reported 13:48–14:02Z, 1 h 38 min before you pass": the age is that of the newest report. Null without times.
 * @param {number[]} times  of the reports
 * @param {number | null} [until]  the instant to which the age counts
 * @param {string} [event]  what happens then */
export function reportedText(times, until = null, event = "") {
    if (!times.length) return null;
    const [oldest, newest] = [Math.min(...times), Math.max(...times)];
    const [from, to] = [clockTime(oldest).slice(0, 5), clockText(newest, oldest)];
    return `reported ${from === to ? from : `${from}–${to}`}Z${
        until === null ? "" : `, ${age(until - newest)} before ${event}`}`;
}

/** The severities of a view but for smooth air, which alerts leave out.
 * @param {Billow.View} view */
const alertSeverities = ({ minSeverity, severities }) =>
    severitiesOf(severities?.filter((severity) => severity > 0)
        ?? SEVERITIES.map((_, severity) => severity).slice(Math.max(minSeverity, 1)));

/** The filters of a view, as members of a request for alerts.
 * @param {Billow.View} view */
export function alertFilters(view) {
    const { minSeverity, severities } = alertSeverities(view);
    return {
        hours: view.hours, minSeverity: Math.max(minSeverity, 1), ...(severities ? { severity: severities } : {}),
        ...(view.category === null ? {} : { category: view.category }),
        ...(view.sources ? { source: view.sources } : {}),
    };
}

/** Describes what the filters leave out of alerts, or null.
 * @param {Billow.View} view */
export function alertFilterText(view) {
    const { minSeverity, severities } = alertSeverities(view);
    const shown = { minSeverity: minSeverity > 1 ? minSeverity : 0, severities };
    return filterText({ ...view, ...shown, minAltitude: null, maxAltitude: null });
}

/** @typedef {{
 *     severity?: number, text: string, members?: string[], distance?: number, timeTo?: number, timeToPass?: number,
 * }} Cluster */

/** @param {Cluster[]} clusters
 * @param {string} basis
 * @param {Item[]} items  the cells of all clusters
 * @param {number} [departure]
 * @returns {Group[]} */
function bySeverity(clusters, basis, items, departure) {
    const cells = new Map(items.map((item) => [item.h3, item]));
    /** @type {Map<number, Group>} */
    const groups = new Map();
    for (const cluster of joined(clusters)) {
        const { severity = -1, members = [] } = cluster;
        const group = groups.get(severity)
            ?? { title: `${SEVERITIES[severity] ?? "Turbulence"}, ${basis}`, severity, lines: [] };
        groups.set(severity, group);
        const found = members.flatMap((h3) => cells.get(h3) ?? []);
        group.lines.push({
            label: positionText(cluster), note: [
                levelRange(found),
                members.length ? `${members.length} ${members.length === 1 ? "cell" : "cells"}` : null,
                reportedText(found.flatMap(({ observedAt }) => instantOf(observedAt) ?? []), departure,
                    "the departure"),
            ].filter(Boolean).join(", "),
        });
    }
    return [...groups.values()];
}

/** Joins the clusters of one severity that the flight meets one right after the other: nobody needs eight lines for one
 * area. Clusters without times stay apart.
 * @param {Cluster[]} clusters
 * @returns {Cluster[]} */
function joined(clusters) {
    const all = clusters.map((cluster) => ({ ...cluster }));
    const timed = all.filter(({ timeTo, timeToPass }) => timeTo !== undefined && timeToPass !== undefined)
        .sort((a, b) => (a.timeTo ?? 0) - (b.timeTo ?? 0));
    /** @type {Map<number, Cluster>} */
    const last = new Map();
    const absorbed = new Set();
    for (const cluster of timed) {
        const earlier = last.get(cluster.severity ?? -1);
        if (!earlier || (cluster.timeTo ?? 0) > (earlier.timeToPass ?? 0) + JOINED_SECONDS) {
            last.set(cluster.severity ?? -1, cluster);
            continue;
        }
        earlier.timeToPass = Math.max(earlier.timeToPass ?? 0, cluster.timeToPass ?? 0);
        earlier.members = [...new Set([...earlier.members ?? [], ...cluster.members ?? []])];
        absorbed.add(cluster);
    }
    return all.filter((cluster) => !absorbed.has(cluster));
}

/** "In 35 NM, 5 min, for 3 min", or "Here, for 3 min". Without a distance, the text of the server.
 * @param {Cluster} cluster */
function positionText({ distance, timeTo, timeToPass, text }) {
    if (distance === undefined) return text;
    const passing = timeTo === undefined || timeToPass === undefined ? 0 : timeToPass - timeTo;
    const isHere = Math.round(distance) === 0;
    return [
        isHere ? "Here" : `In ${Math.round(distance)} NM`,
        isHere || timeTo === undefined ? null : minutesText(timeTo),
        passing < 60 ? null : `for ${minutesText(passing)}`,
    ].filter(Boolean).join(", ");
}

/** "5 min", "2 h 05 min"
 * @param {number} seconds */
const minutesText = (seconds) =>
    (seconds < 3570 ? `${Math.round(seconds / 60)} min` : age(Math.round(seconds / 60) * 60_000));

/** @param {Item[]} items */
function levelRange(items) {
    const low = items.flatMap(({ altitudeMin, altitude }) => altitudeMin ?? altitude ?? []);
    const high = items.flatMap(({ altitudeMax, altitude }) => altitudeMax ?? altitude ?? []);
    if (!low.length) return null;
    const [from, to] = [flightLevel(Math.min(...low)), flightLevel(Math.max(...high))];
    return from === to ? from : `${from} – ${to}`;
}

/** @param {unknown} from
 * @param {unknown} to */
function validity(from, to) {
    const [start, end] = [instantOf(from), instantOf(to)];
    return start === null || end === null ? null
        : `valid ${clockText(start, now())} – ${clockText(end, start)}Z`;
}

/** Shows each group as a part that opens. Without groups, states that this does not mean smooth air.
 * @param {Group[]} groups
 * @param {import("./legend.js").Legend} legend
 * @returns {Node[]} */
export function groupNodes(groups, legend) {
    if (!groups.length) return [element("p", {},
        element("strong", {}, "No turbulence reported"), ". This does not mean smooth air.")];
    return groups.map(({ title, severity, lines }, index) => {
        const entry = severity === null ? undefined : legend.entry(severity);
        return element("details", { className: "group", open: index === 0 || lines.length <= MAX_OPEN_LINES },
            element("summary", {}, entry ? swatch(entry) : null, element("span", {}, title),
                element("span", { className: "count" }, String(lines.length))),
            element("ul", {}, ...lines.map(({ label, note }) =>
                element("li", {}, element("strong", {}, label), note ? element("span", {}, note) : null))));
    });
}
