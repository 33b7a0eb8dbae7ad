// @ts-check
// The route: a corridor on the map, and beside it what is known along it, with times, from above and from the side.
import { hazards, name, short, span } from "./along.js";
import { byId, element, swatch } from "./dom.js";
import { age, compact, flightLevel } from "./format.js";
import { COMPACT } from "./layout.js";
import { patchChildren } from "./patch.js";
import { levelsAround, readPlan, stretchesOf } from "./plan.js";
import { answer, getJSON, now, postJSON } from "./server.js";
import { styleOf } from "./styles.js";
import { filters } from "./view.js";

const WIDTH_NAUTICAL_MILES = 50;
const SPEED_KNOTS = 450;
const REACH_FEET = 6_000;
const MOST = 10_000;
const SOURCE = "route";
const COLOURS = { light: "#1552c4", dark: "#8fc4ff" };

export class RoutePanel {
    #map;
    #view;
    #legend;
    #change;
    #root = byId("route");
    #body = byId("route-body");
    /** @type {AbortController | null} */
    #abort = null;
    #drawn = "";
    #picture = "";
    #isClosed = false;
    /** Whether the map is to show the whole corridor, once it is there. */
    #isFitting = false;
    /** @type {string | null} */
    #route = null;

    /** @param {maplibregl.Map} map
     * @param {() => Billow.View} view  with the instant of what is on the map
     * @param {import("./legend.js").Legend} legend
     * @param {(difference: Partial<Billow.View>) => void} change */
    constructor(map, view, legend, change) {
        this.#map = map;
        this.#view = view;
        this.#legend = legend;
        this.#change = change;
        byId("route-form").addEventListener("submit", (event) => {
            event.preventDefault();
            this.#submit();
        });
        byId("route-clear").addEventListener("click", () => change({ route: null, level: null }));
        byId("route-close").addEventListener("click", () => {
            this.#isClosed = true;
            this.#show(false);
        });
    }

    /** Takes in the view's route, and asks anew for what is known along it. */
    async refresh() {
        const view = this.#view();
        this.#fill(view);
        this.#abort?.abort();
        if (view.route !== this.#route) this.#isClosed = false;
        this.#route = view.route;
        if (view.route === null) {
            this.#draw(null, view);
            return this.#show(false);
        }
        const { signal } = (this.#abort = new AbortController());
        if (!this.#isClosed) this.#show(true);
        try {
            const content = await this.#content(view, view.route, signal);
            if (!signal.aborted) patchChildren(this.#body, content);
        } catch (error) {
            if (signal.aborted) return;
            const { message } = /** @type {Error} */ (error);
            patchChildren(this.#body, [element("p", { className: "problem" }, `The route can't be told: ${message}`)]);
        }
    }

    /** @param {Billow.View} view */
    #fill(view) {
        const [route, level] = [byId("route-text", HTMLInputElement), byId("route-level", HTMLInputElement)];
        if (document.activeElement !== route) route.value = view.route ?? "";
        if (document.activeElement !== level) level.value = view.level === null ? "" : flightLevel(view.level);
        byId("route-clear").hidden = view.route === null;
    }

    #submit() {
        const { route, count, level: planned, leftOut } = readPlan(byId("route-text", HTMLInputElement).value);
        const typed = /^\s*(?:FL)?\s*(\d{2,3})\s*$/i.exec(byId("route-level", HTMLInputElement).value);
        const level = typed ? Math.min(Number(typed[1]) * 100, 60_000) : planned;
        const problem = byId("route-problem");
        problem.hidden = count >= 2;
        problem.textContent = "Give two places or more: ICAO codes such as KJFK EGLL, or 4430N05000W.";
        if (count < 2) return;
        const note = byId("route-note");
        note.hidden = leftOut.length === 0;
        note.textContent = `Left out, as they are no places known here: ${leftOut.join(" ")}`;
        this.#isClosed = false;
        this.#isFitting = true;
        this.#change({ route, level: level === null ? null : Math.round(level / 1000) * 1000 });
    }

    /** @param {boolean} isOpen */
    #show(isOpen) {
        this.#root.hidden = !isOpen;
        document.body.classList.toggle("route-open", isOpen);
    }

    /** @param {Billow.View} view
     * @param {string} route
     * @param {AbortSignal} signal */
    async #content(view, route, signal) {
        const along = filters(view);
        along.set("route", route);
        // What is observed is of the past: a departure to come is looked at with what is known now.
        const isPast = view.time !== null && view.time <= now();
        const departure = view.time ?? now();
        const departs = new Date(departure).toISOString().replace(/\.\d+Z/, "Z");
        const time = isPast ? departs : null;
        const corridor = new URLSearchParams(along);
        corridor.set("width", String(WIDTH_NAUTICAL_MILES));
        corridor.set("speed", String(SPEED_KNOTS));
        corridor.set("limit", String(MOST));
        corridor.set("minSeverity", String(Math.max(view.minSeverity, 1)));
        corridor.set("departure", departs);
        if (time) corridor.set("time", time);
        const profile = new URLSearchParams(along);
        if (time) profile.set("time", time);
        const [ring, cells, side] = await Promise.all([
            postJSON("corridors", { route, width: WIDTH_NAUTICAL_MILES }, signal),
            getJSON("collections/hexagons/corridor", corridor, signal), getJSON("profiles.json", profile, signal),
        ]);
        if (signal.aborted) return [];
        this.#draw(ring, view);
        if (this.#isFitting) this.#fit(ring.geometry);
        this.#isFitting = false;
        const picture = this.#sideView(profile, view);
        const stretches = stretchesOf(cells.features, view.level);
        return [
            element("h3", {}, route),
            element("p", { className: "note" }, `${[
                `${Math.round(side.length)} NM`, `${WIDTH_NAUTICAL_MILES} NM wide`,
                `${age((side.length / SPEED_KNOTS) * 3_600_000)} at ${SPEED_KNOTS} kt from ${short(departure)}Z`,
                view.level === null ? null : `planned ${flightLevel(view.level)}`,
            ].filter(Boolean).join(", ")}.`),
            picture,
            element("h4", {}, "Hexagons on the way"),
            stretches.length ? element("ol", { className: "stretches" },
                ...stretches.map((stretch) => this.#stretch(stretch, view.level))) : element("p", {},
                element("strong", {}, "No report of turbulence"), ". That is not a report of smooth air."),
            ...hazards(side.hazards, departure, SPEED_KNOTS),
            ...this.#levels(side, view.level),
            cells.incomplete || side.incomplete
                ? element("p", { className: "problem" }, "INCOMPLETE: some data is missing here.") : null,
            element("p", { className: "row" },
                element("a", { className: "link", href: `collections/hexagons/corridor?${corridor}&f=geojson`,
                    download: `route-${compact(departure)}.geojson` }, "GeoJSON"),
                element("a", { className: "link", href: `profiles.png?${this.#picture}`, download: "profile.png" },
                    "Profile as PNG")),
        ].flatMap((part) => part ?? []);
    }

    /** @param {import("./plan.js").Stretch} stretch
     * @param {number | null} level */
    #stretch({ severity, from, to, etaFrom, etaTo, low, high, cells, ownSeverity }, level) {
        const entry = this.#legend.entry(severity);
        const times = etaFrom === null ? "" : `${span(short(etaFrom), short(etaTo ?? etaFrom))}Z`;
        const miles = span(String(Math.round(from)), String(Math.round(to)));
        const own = level === null ? null
            : ownSeverity === null ? "none within 2,000 ft of your level" : `at your level: ${name(ownSeverity)}`;
        return element("li", {}, entry ? swatch(entry) : null,
            element("div", {}, element("strong", {}, `${times} ${entry?.label ?? name(severity)}`),
                element("span", {}, [
                    `${miles} NM`, span(flightLevel(low), flightLevel(high)),
                    `${cells} ${cells === 1 ? "cell" : "cells"}`,
                ].join(", ")),
                own ? element("span", {}, own) : null));
    }

    /** @param {{ altitudes: number[], severities: (number | null)[][] }} profile
     * @param {number | null} level */
    #levels(profile, level) {
        if (level === null) return [];
        const rows = levelsAround(profile, level, REACH_FEET).reverse().map(({ altitude, worst, count, known }) => {
            const entry = worst === null ? undefined : this.#legend.entry(worst);
            return element("tr", { className: altitude === level ? "own" : "" },
                element("th", { scope: "row" }, flightLevel(altitude)),
                element("td", {}, entry ? swatch(entry) : null, worst === null ? "no report" : name(worst)),
                element("td", {}, worst === null ? "" : `${count} of ${known}`));
        });
        return [
            element("h4", {}, "Levels"),
            element("table", {},
                element("thead", {}, element("tr", {}, ...["Level", "Worst", "Stretches of 10 NM"].map((title) =>
                    element("th", { scope: "col" }, title)))),
                element("tbody", {}, ...rows)),
            element("p", { className: "note" }, "No report is not smooth air."),
        ];
    }

    /** The vertical profile as the server draws it, with the planned level.
     * @param {URLSearchParams} parameters
     * @param {Billow.View} view */
    #sideView(parameters, view) {
        const query = new URLSearchParams(parameters);
        const { id, theme } = styleOf(view);
        const look = { style: id, theme, "width-pixels": "640", "height-pixels": "300" };
        for (const [key, value] of Object.entries(look)) query.set(key, value);
        this.#picture = `${query}`;
        const image = element("img", { className: "profile", alt: "Flight levels over distance flown", width: 640,
            height: 300, src: this.#images.get(this.#picture) ?? BLANK });
        const key = this.#picture;
        if (!this.#images.has(key)) this.#load(key);
        // The picture's own plot: 56 pixels below its top to 244, from the ground to FL600.
        const mark = view.level === null ? null : element("span", { className: "planned", "aria-hidden": "true" });
        mark?.style.setProperty("--level", String(view.level === null ? 0 : view.level / 60_000));
        return element("div", { className: "side-view" }, image, mark);
    }

    /** Loaded by a request of its own, which can send a key.
     * @type {Map<string, string>} */
    #images = new Map();

    /** @param {string} query */
    async #load(query) {
        try {
            const response = await answer(`profiles.png?${query}`, {});
            for (const url of this.#images.values()) URL.revokeObjectURL(url);
            this.#images = new Map([[query, URL.createObjectURL(await response.blob())]]);
            const image = /** @type {HTMLImageElement | null} */ (this.#body.querySelector("img.profile"));
            if (image && query === this.#picture) image.src = this.#images.get(query) ?? BLANK;
        } catch {
            // The list says what lies there; the picture is asked for again with the next.
        }
    }

    /** @param {Billow.Feature["geometry"]} geometry */
    #fit({ type, coordinates }) {
        // In two parts it lies across the antimeridian, and no box holds it.
        if (type !== "Polygon") return;
        /** @type {number[][]} */
        const ring = coordinates[0];
        const [east, north] = [0, 1].map((axis) => Math.max(...ring.map((place) => place[axis])));
        const [west, south] = [0, 1].map((axis) => Math.min(...ring.map((place) => place[axis])));
        const padding = COMPACT.matches ? 40 : { left: 350, right: 350, top: 70, bottom: 150 };
        this.#map.fitBounds([[west, south], [east, north]], { padding, animate: false, maxZoom: 7 });
    }

    /** @param {{ geometry: object } | null} ring
     * @param {Billow.View} view */
    #draw(ring, view) {
        const data = ring ? { type: "Feature", properties: {}, geometry: ring.geometry } : EMPTY;
        const text = JSON.stringify(data.geometry ?? null);
        const source = this.#map.getSource(SOURCE);
        if (text === this.#drawn && source) return;
        this.#drawn = text;
        if (source) return source.setData(data);
        if (!ring) return;
        const colour = COLOURS[styleOf(view).theme === "dark" ? "dark" : "light"];
        this.#map.addSource(SOURCE, { type: "geojson", data });
        this.#map.addLayer({
            id: `${SOURCE}-fill`, type: "fill", source: SOURCE, paint: { "fill-color": colour, "fill-opacity": 0.08 },
        });
        this.#map.addLayer({
            id: `${SOURCE}-line`, type: "line", source: SOURCE, paint: { "line-color": colour, "line-width": 2 },
        });
    }
}

const EMPTY = { type: "FeatureCollection", features: [], geometry: undefined };
const BLANK = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";
