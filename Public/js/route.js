// @ts-check
// The route: a corridor on the map, and a card with the turbulence along it. The card has a list with times, and a
// vertical profile.
import {
    clockRange, FIELD_NAMES, fieldAlongRoute, hazardsAlongRoute, hourMinute, rangeText, severityName, unknownTexts,
} from "./route-sections.js";
import { loadAirports } from "./airports.js";
import { alertFilters, alertGroups, groupNodes, JOINED_SECONDS, reportedText } from "./alert-groups.js";
import { clockText } from "./clock-text.js";
import { contact, onContact } from "./contact.js";
import { byId, element, swatch } from "./dom.js";
import { greatCircle } from "./distance.js";
import { IN_PICTURES } from "./map-overlay.js";
import { outlineOf } from "./outline.js";
import { age, bandText, compactTime, flightLevel, shortTime } from "./format.js";
import { CELLS, isField, layerName, LAYERS } from "./layers.js";
import { patchChildren } from "./dom-patch.js";
import {
    BESIDE_FEET, levelsAround, OWN_FEET, ownLevels, stretchesOf, waypointsOf, withPositions,
} from "./flight-plan.js";
import { postJSON } from "./features.js";
import { parsePassage, pastText, sourceText, SPEED_KNOTS } from "./passage.js";
import { getJSON, now, ServerError } from "./server.js";
import { picking } from "./picking.js";
import { profileFigure } from "./profile-view.js";
import { hazardsOfPassage } from "./route-hazards.js";
import { RouteFit } from "./route-fit.js";
import { styleOf } from "./styles.js";
import { isOutside } from "./time-extent.js";
import { filters, filterText } from "./view.js";
import { Waypoints } from "./waypoints.js";

const WIDTH_NAUTICAL_MILES = 50;
const MINUTE = 60_000;
/** The profile of a field along a long route takes time on a small server. */
const PROFILE_MILLISECONDS = 60_000;
const LEVEL_RANGE_FEET = 6_000;
const MAX_FEATURES = 10_000;
/** The server's limit for the distance of alerts. */
const MAX_ALERT_NAUTICAL_MILES = 12_000;
const CEILING_FEET = 60_000;
/** The names of more airports are folded. */
const MAX_NAMES = 3;
/** The layers of warnings in force, such as SIGMETs. */
const WARNINGS = LAYERS.filter(({ isWarning }) => isWarning).map(({ id }) => id);
const SOURCE = "route";
const OUTLINE = "route-outline";
const COLOURS = { light: "#1552c4", dark: "#8fc4ff" };

export class RoutePanel {
    #map;
    #view;
    #legend;
    #waypoints;
    #change;
    #root = byId("route");
    #body = byId("route-body");
    /** @type {AbortController | null} */
    #abort = null;
    #drawn = "";
    /** Whether the map zooms to the whole corridor after the next response. */
    #isFitting = false;
    #fit;
    /** What the card shows, and when it was loaded.
     * @type {{ key: string, at: number } | null} */
    #loaded = null;
    /** The route that the content of the card is about, also if it could not be loaded.
     * @type {string | null} */
    #shown = null;

    /** @param {maplibregl.Map} map
     * @param {Pick<typeof maplibregl, "Marker">} library
     * @param {() => Billow.View} view  returns the current view, with the instant of the map
     * @param {import("./legend.js").Legend} legend
     * @param {(difference: Partial<Billow.View>) => void} change
     * @param {() => void} closed  called when the user closes the card */
    constructor(map, library, view, legend, change, closed) {
        this.#change = change;
        this.#map = map;
        this.#view = view;
        this.#legend = legend;
        this.#waypoints = new Waypoints(map, library, view);
        this.#fit = new RouteFit(map);
        byId("details-route").addEventListener("click", () => byId("details-close").click());
        onContact(() => this.#showAge());
        byId("route-close").addEventListener("click", () => {
            closed();
            this.#show(false);
        });
    }

    /** Applies the view's route, and requests the data along it again. */
    async refresh() {
        const view = this.#view();
        this.#abort?.abort();
        if (view.route === null) {
            this.#draw(null, view);
            this.#waypoints.show([]);
            this.#fit.end();
            this.#shown = null;
            return this.#show(false);
        }
        if (picking.onPick) return this.#sketch(view, view.route);
        const { signal } = (this.#abort = new AbortController());
        this.#show(view.isRouteOpen);
        this.#showLoading(view.route);
        try {
            const content = await this.#content(view, view.route, signal);
            if (signal.aborted) return;
            this.#loaded = { key: keyOf(view), at: now() };
            patchChildren(this.#body, content);
            this.#showAge();
        } catch (error) {
            if (signal.aborted) return;
            if (error instanceof ServerError && error.status === 0) return this.#showWithoutContact(view, view.route);
            const { message } = /** @type {Error} */ (error);
            const text = `The route could not be loaded: ${message}`;
            this.#loaded = null;
            patchChildren(this.#body, [element("p", { className: "problem" }, text)]);
        }
    }

    /** Opens the card before the view is applied.
     * @param {string} route */
    open(route) {
        this.#showLoading(route);
        this.#show(true);
    }

    /** The content of another route does not stay until the response.
     * @param {string} route */
    #showLoading(route) {
        if (this.#shown === route) return;
        this.#shown = route;
        this.#loaded = null;
        patchChildren(this.#body, [
            element("h3", {}, route), element("p", { className: "note" }, "Loading the route…"),
        ]);
    }

    /** While the user picks waypoints, the map has them and the line between them. No card opens, and the map stays
     * where it is.
     * @param {Billow.View} view
     * @param {string} route */
    async #sketch(view, route) {
        this.#fit.end();
        this.#show(false);
        const airports = await loadAirports();
        if (!picking.onPick || this.#view().route !== route) return;
        const places = waypointsOf(route, airports);
        this.#waypoints.show(places);
        this.#draw({ geometry: { type: "LineString", coordinates: greatCircle(places) } }, view);
    }

    /** Keeps the card of the same route, with its time. Otherwise the map has the line between the waypoints alone, if
     * it knows them.
     * @param {Billow.View} view
     * @param {string} route */
    async #showWithoutContact(view, route) {
        if (this.#loaded?.key === keyOf(view)) return this.#showAge();
        const places = waypointsOf(route, await loadAirports());
        // Meanwhile the user may have changed the route.
        if (this.#view().route !== route) return;
        this.#loaded = null;
        // A line that leaves out waypoints would be another route.
        const isComplete = places.length === route.split(" ").length;
        this.#draw(isComplete ? { geometry: { type: "LineString", coordinates: greatCircle(places) } } : null, view);
        patchChildren(this.#body, [
            element("h3", {}, route),
            element("p", { className: "note" }, places.flatMap(({ name }) => name ?? []).join(" – ")),
            element("p", { className: "problem" },
                `The conditions along a route need contact with the server. ${isComplete
                    ? "The map has the line alone."
                    : "The map has no line, because the places of the waypoints are not on this device."}`),
        ]);
    }

    /** Without contact nobody renews the card, so it names its time. */
    #showAge() {
        this.#body.querySelector(".without-contact")?.remove();
        if (!this.#loaded || contact.problem === null) return;
        const text = `No contact with the server. These conditions were loaded at ${
            shortTime(this.#loaded.at, now())}, and nothing renews them.`;
        this.#body.prepend(element("p", { className: "problem without-contact" }, text));
    }

    /** Makes the map zoom to the next route. */
    fitNext() { this.#isFitting = true; }

    /** @param {boolean} isOpen */
    #show(isOpen) {
        this.#root.hidden = !isOpen;
        document.body.classList.toggle("route-open", isOpen);
    }

    /** @param {Billow.View} view
     * @param {string} route
     * @param {AbortSignal} signal */
    async #content(view, route, signal) {
        const airports = await loadAirports();
        if (signal.aborted) return [];
        const places = waypointsOf(route, airports);
        this.#waypoints.show(places);
        // The server may know fewer airports than the page, so it gets positions.
        const positions = withPositions(route, airports);
        const along = filters(view);
        along.set("route", positions);
        // Observations belong to the past. A future departure uses the current observations, with their own times.
        const isPast = view.time !== null && view.time <= now();
        const mapTime = Math.floor((view.time ?? now()) / MINUTE) * MINUTE;
        const passage = parsePassage(view.passage);
        const speed = passage.speed ?? SPEED_KNOTS;
        const departure = passage.departure ?? mapTime;
        const reportedUntil = isPast ? mapTime : now();
        const isAhead = departure > reportedUntil;
        const departs = timeText(departure);
        const time = isPast ? timeText(mapTime) : null;
        const corridor = new URLSearchParams(along);
        corridor.set("width", String(WIDTH_NAUTICAL_MILES));
        corridor.set("speed", String(speed));
        corridor.set("limit", String(MAX_FEATURES));
        corridor.set("minSeverity", String(Math.max(view.minSeverity, 1)));
        corridor.set("departure", departs);
        if (time) corridor.set("time", time);
        const profile = new URLSearchParams(along);
        // The profile includes all levels. Otherwise filtered levels would appear as "no report".
        for (const name of ["minAltitude", "maxAltitude"]) profile.delete(name);
        if (places.length === route.split(" ").length) {
            // With `route`, the positions would appear as the title of the picture.
            profile.delete("route");
            profile.set("coords", `LINESTRING(${places.map((place) =>
                `${place.longitude} ${place.latitude}`).join(", ")})`);
        }
        if (time) profile.set("time", time);
        // Speed and departure give the field's values at the times of passage. Where the map says that no field is
        // stored, the card has none either: the server would answer with a later one.
        const hasField = await hasFieldAt(passage.departure ?? view.time);
        if (signal.aborted) return [];
        if (hasField) {
            profile.set("speed", String(speed));
            profile.set("departure", departs);
        }
        if (view.level !== null) profile.set("level", String(view.level));
        const [start] = places;
        const [ring, cells, profileData, ahead] = await Promise.all([
            postJSON("corridors", { route: positions, width: WIDTH_NAUTICAL_MILES }, signal),
            getJSON(`collections/${CELLS}/corridor`, corridor, signal),
            getJSON("profiles.json", profile, signal, PROFILE_MILLISECONDS),
            start ? postJSON("alerts", {
                ...alertRequest(positions, start, view, speed, time), departure: departs,
            }, signal) : null,
        ]);
        if (signal.aborted) return [];
        const { length } = profileData;
        if (!hasField) delete profileData.field;
        const arrival = departure + (length / speed) * 60 * MINUTE;
        const [areas, isFieldShort] = await Promise.all([
            this.#hazards(along, departure, arrival, signal), hasField && hasFieldAt(arrival).then((has) => !has),
        ]);
        if (signal.aborted) return [];
        const isComplete = places.length === route.split(" ").length;
        const hazards = hazardsOfPassage(areas.features, isComplete ? places : [],
            { departure, speed, width: WIDTH_NAUTICAL_MILES, length });
        this.#draw(ring, view);
        if (this.#isFitting) this.#fit.show(ring.geometry);
        this.#isFitting = false;
        const { id, theme } = styleOf(view);
        const stretches = stretchesOf(cells.features, view.level);
        const hasBand = view.minAltitude !== null || view.maxAltitude !== null;
        // The band does not apply to the profile and the levels.
        const only = filterText({ ...view, minAltitude: null, maxAltitude: null });
        const isPassed = pastText(passage, now(), arrival);
        const alerts = ahead && { ...ahead, field: hasField ? ahead.field : undefined };
        return [
            element("h3", {}, route),
            namesNode(places),
            element("p", { className: "note" }, `${[
                `${Math.round(length)} NM`, `${WIDTH_NAUTICAL_MILES} NM wide`,
                `${age(arrival - departure)} at ${speed} kt from ${clockText(departure, now())}Z`,
                view.level === null ? null : `planned ${flightLevel(view.level)}`,
            ].filter(Boolean).join(", ")}.`),
            element("p", { className: "note passage" }, sourceText(passage, now()), " ",
                element("button", { type: "button", className: "link", onclick: () => this.#changePassage() },
                    view.passage === null ? "Set departure and speed" : "Change"),
                view.passage === null ? null : element("button", { type: "button", className: "link",
                    onclick: () => this.#change({ passage: null }) }, "Remove")),
            isPassed === null ? null : element("p", { className: "problem" }, isPassed),
            only ? element("p", { className: "note" }, `${only}.`) : null,
            isAhead ? element("p", { className: "problem" },
                `Reports are until ${clockText(reportedUntil, departure)}Z, ${
                    age(departure - reportedUntil)} before the departure.`) : null,
            hasField ? null : element("p", { className: "problem" },
                `No ${FIELD_NAMES} is stored for ${shortTime(departure, now())}, so no turbulence is computed here.`),
            isFieldShort ? element("p", { className: "problem" },
                `No ${FIELD_NAMES} is stored for the arrival at ${clockText(arrival, departure)}Z.`,
                " The end of the route is not known.") : null,
            profileFigure({ ...profileData, hazards: hazards.valid }, view, this.#legend, departure, speed,
                reportedUntil),
            ...alertSection(alerts, view.level, unknownTexts(profileData.field), length, this.#legend, departure,
                isAhead),
            element("h4", {}, `${layerName(CELLS)} along the route`),
            hasBand ? element("p", { className: "note" },
                `Only ${bandText(view.minAltitude, view.maxAltitude)}.`) : null,
            stretches.length ? element("ol", { className: "stretches" },
                ...stretches.map((stretch) => this.#stretch(stretch, view.level))) : element("p", {},
                element("strong", {}, "No turbulence reported"), ". This does not mean smooth air."),
            ...fieldAlongRoute(profileData.field, fieldExtent(view.level, alerts?.field !== undefined)),
            ...hazardsAlongRoute([...hazards.valid, ...hazards.other], departure, speed),
            ...this.#levels(profileData, view.level),
            cells.incomplete || profileData.incomplete || areas.incomplete
                ? element("p", { className: "problem" }, "INCOMPLETE: some data is missing here.") : null,
            element("p", { className: "row" },
                element("button", { type: "button", className: "link", onclick: () => import("./route-file.js").then(
                    ({ saveRoute }) => saveRoute({
                        route, corridor: ring, places, cells, areas, departure, speed,
                        width: WIDTH_NAUTICAL_MILES,
                    }, `route-${compactTime(departure)}.geojson`)) }, "GeoJSON"),
                element("a", { className: "link", href: `profiles.png?${profile}&style=${id}&theme=${theme}`,
                    download: `profile-${route.replaceAll(" ", "-")}.png` },
                    "Profile as PNG")),
            // The server draws the areas of the picture's time, and can't be asked for those of the passage.
            element("p", { className: "note" },
                `The PNG has the reports and the hazard areas of ${hourMinute(reportedUntil)}Z, not of the passage.`),
        ].flatMap((part) => part ?? []);
    }

    /** Opens the dialog for the departure and the speed. */
    async #changePassage() {
        const { openPassageDialog } = await import("./passage-dialog.js");
        openPassageDialog(parsePassage(this.#view().passage), (passage) => this.#change({ passage }));
    }

    /** The issued areas beside the route that are valid at some time of the flight.
     * @param {URLSearchParams} along
     * @param {number} departure
     * @param {number} arrival
     * @param {AbortSignal} signal */
    async #hazards(along, departure, arrival, signal) {
        const query = new URLSearchParams(along);
        // As in the profile, all levels count.
        for (const name of ["minAltitude", "maxAltitude"]) query.delete(name);
        query.set("width", String(WIDTH_NAUTICAL_MILES));
        query.set("limit", String(MAX_FEATURES));
        query.set("datetime", `${timeText(departure)}/${timeText(arrival)}`);
        /** @type {Billow.FeatureCollection[]} */
        const found = await Promise.all(WARNINGS.map((id) => getJSON(`collections/${id}/corridor`, query, signal)));
        return {
            features: found.flatMap(({ features }) => features),
            incomplete: found.some(({ incomplete }) => incomplete),
        };
    }

    /** @param {import("./flight-plan.js").Stretch} stretch
     * @param {number | null} level */
    #stretch({ severity, from, to, etaFrom, etaTo, low, high, cells, ownSeverity, observed }, level) {
        const entry = this.#legend.entry(severity);
        // A report is of its own time. The time of passage alone would look like a forecast.
        const isPassed = (etaTo ?? Infinity) < now();
        const isBefore = etaFrom !== null && observed.every((instant) => instant <= etaFrom);
        const times = [
            etaFrom === null ? null
                : `${isPassed ? "passed" : "you pass"} ${clockRange(etaFrom, etaTo ?? etaFrom, now())}Z`,
            reportedText(observed, isBefore ? etaFrom : null, "that"),
        ].filter(Boolean).join(", ");
        const miles = rangeText(String(Math.round(from)), String(Math.round(to)));
        const own = level === null ? null
            : ownSeverity === null ? "no reports within 2,000 ft of your level"
                : `within 2,000 ft of your level: ${severityName(ownSeverity)}`;
        return element("li", {}, entry ? swatch(entry) : null,
            element("div", {}, element("strong", {}, entry?.label ?? severityName(severity)),
                element("span", {}, [
                    `${miles} NM`, rangeText(flightLevel(low), flightLevel(high)),
                    `${cells} ${cells === 1 ? "cell" : "cells"}`,
                ].join(", ")),
                times ? element("span", {}, times) : null,
                own ? element("span", {}, own) : null));
    }

    /** @param {{ altitudes: number[], severities: (number | null)[][] }} profile
     * @param {number | null} level */
    #levels(profile, level) {
        if (level === null) return [];
        const levels = levelsAround(profile, level, LEVEL_RANGE_FEET).reverse();
        const rows = levels.map(({ altitude, worst, count, known, all }) => {
            const entry = worst === null ? undefined : this.#legend.entry(worst);
            return element("tr", { className: altitude === level ? "own" : "" },
                element("th", { scope: "row" }, flightLevel(altitude)),
                element("td", {}, entry ? swatch(entry) : null, worst === null ? "no report" : severityName(worst)),
                element("td", {}, worst === null ? "" : `${count} of ${all}`), element("td", {}, String(all - known)));
        });
        const titles = ["Level", "Worst report", "Segments", "No report"];
        return [
            element("h4", {}, `Levels, each ±${BESIDE_FEET.toLocaleString("en")} ft`),
            element("table", {},
                element("thead", {}, element("tr", {}, ...titles.map((title) =>
                    element("th", { scope: "col" }, title)))),
                element("tbody", {}, ...rows)),
            element("p", { className: "note" },
                `Each level has the reports within ${BESIDE_FEET.toLocaleString("en")} ft of it. A segment has 10 NM.`,
                " No report does not mean smooth air."),
        ];
    }

    /** @param {{ geometry: { type: string, coordinates: any } } | null} ring
     * @param {Billow.View} view */
    #draw(ring, view) {
        const [area, outline] = [ring?.geometry, ring && outlineOf(ring.geometry)].map((geometry) =>
            (geometry ? { type: "Feature", properties: {}, geometry } : EMPTY));
        const text = JSON.stringify(area);
        const source = this.#map.getSource(SOURCE);
        if (text === this.#drawn && source) return;
        this.#drawn = text;
        if (source) {
            this.#map.getSource(OUTLINE)?.setData(outline);
            return source.setData(area);
        }
        if (!ring) return;
        const colour = COLOURS[styleOf(view).theme === "dark" ? "dark" : "light"];
        this.#map.addSource(SOURCE, { type: "geojson", data: area });
        this.#map.addSource(OUTLINE, { type: "geojson", data: outline });
        this.#map.addLayer({
            id: `${SOURCE}-fill`, type: "fill", source: SOURCE, metadata: IN_PICTURES,
            // Antialiasing would show a seam at the antimeridian.
            paint: { "fill-color": colour, "fill-opacity": 0.08, "fill-antialias": false },
        });
        this.#map.addLayer({
            id: `${SOURCE}-line`, type: "line", source: OUTLINE, metadata: IN_PICTURES,
            paint: { "line-color": colour, "line-width": 2 },
        });
    }
}

/** @param {number} instant */
const timeText = (instant) => new Date(instant).toISOString().replace(/\.\d+Z/, "Z");

/** Whether a turbulence field is stored for an instant, as far as known. Null is now.
 * @param {number | null} time */
async function hasFieldAt(time) {
    const outside = await Promise.all(LAYERS.filter(({ id }) => isField(id)).map(({ id }) => isOutside(id, time)));
    return !outside.length || outside.includes(false);
}

/** Identifies the conditions that a card shows.
 * @param {Billow.View} view */
const keyOf = (view) => [view.route, view.level, view.passage, view.time, filters(view)].join(" ");

/** The body of the request for alerts along a route, from its start.
 * @param {string} route
 * @param {import("./flight-plan.js").Waypoint} start
 * @param {Billow.View} view
 * @param {number} speed  knots
 * @param {string | null} time */
function alertRequest(route, { longitude, latitude }, view, speed, time) {
    const { level } = view;
    // Without a planned level, the request covers the band of the map.
    const [minAltitude, maxAltitude] = level === null ? [view.minAltitude, view.maxAltitude] : ownLevels(level);
    /** @type {Record<string, unknown>} */
    const body = {
        route, position: [longitude, latitude], altitude: level ?? 0, speed,
        distance: MAX_ALERT_NAUTICAL_MILES, widthAround: WIDTH_NAUTICAL_MILES / 2, ...alertFilters(view),
        minAltitude: Math.max(minAltitude ?? 0, 0), maxAltitude: Math.min(maxAltitude ?? CEILING_FEET, CEILING_FEET),
    };
    if (time !== null) body.time = time;
    return body;
}

/** @param {Billow.Alerts | null} alerts
 * @param {number | null} level  feet
 * @param {string[]} unknown  sentences about the parts without a computed field
 * @param {number} length  nautical miles
 * @param {import("./legend.js").Legend} legend
 * @param {number} departure
 * @param {boolean} isAhead  whether the departure is after the reports
 * @returns {Node[]} */
function alertSection(alerts, level, unknown, length, legend, departure, isAhead) {
    if (!alerts) return [];
    const { distance = length } = alerts.query;
    // The server's upper limit is the top of the highest level.
    const [low, high] = level === null ? [alerts.query.minAltitude, alerts.query.maxAltitude]
        : [Math.max(level - OWN_FEET, 0), Math.min(level + OWN_FEET, CEILING_FEET)];
    const isCut = distance < length;
    const part = isCut ? `, first ${Math.round(distance)} NM` : "";
    return [
        element("h4", {}, `Ahead, ${rangeText(flightLevel(low), flightLevel(high))}${part}`),
        element("p", { className: "note" }, `All within ${WIDTH_NAUTICAL_MILES / 2} NM of the route.`,
            ` Parts of a severity that are less than ${JOINED_SECONDS / 60} min apart are one line.`,
            ` Distances and times count from the departure at ${clockText(departure, now())}Z.`,
            isCut ? " The server's alerts end there, and the lists below go on." : null),
        unknown.length ? element("p", { className: "problem" }, unknown.join(" ")) : null,
        alerts.truncated || alerts.field?.truncated ? element("p", { className: "problem" },
            "There is more: the server has left out the least severe cells.") : null,
        element("div", { className: "groups" },
            ...groupNodes(alertGroups(alerts, isAhead ? departure : undefined), legend)),
    ].flatMap((part) => part ?? []);
}

/** The names of a route's airports. Many of them would push the profile out of a small window.
 * @param {import("./flight-plan.js").Waypoint[]} places */
function namesNode(places) {
    const names = places.flatMap(({ name }) => name ?? []);
    const text = element("p", { className: "note" }, names.join(" – "));
    return names.length <= MAX_NAMES ? text : element("details", { className: "names" },
        element("summary", {}, `Names of the ${names.length} airports`), text);
}

/** Says which part of the field the computed turbulence along a route is, and why the alerts ahead differ from it.
 * @param {number | null} level  feet
 * @param {boolean} isAhead  whether the alerts have the field too */
function fieldExtent(level, isAhead) {
    const extent = `On the middle line of the route, at ${level === null ? "all levels" : flightLevel(level)}.`;
    const more = `“Ahead” has the worst within ${WIDTH_NAUTICAL_MILES / 2} NM to each side${
        level === null ? "" : ` and ${OWN_FEET.toLocaleString("en")} ft above and below`}`;
    return isAhead ? `${extent} ${more}, so it differs.` : extent;
}

const EMPTY = { type: "FeatureCollection", features: [], geometry: undefined };
