// @ts-check
// The form of the route. The user types waypoints, with suggestions, pastes a flight plan, or picks points on the map.
import { loadAirports } from "./airports.js";
import { byId, element, setText } from "./dom.js";
import { flightLevel } from "./format.js";
import { COMPACT } from "./layout.js";
import { picking } from "./picking.js";
import { chooseLevel, parseLevel, parsePlan, unusedText, waypointsOf } from "./flight-plan.js";
import { parsePassage, passageOfPlan, passageText } from "./passage.js";
import { formatPosition } from "./position.js";
import { now } from "./server.js";
import { Suggestions } from "./airport-suggestions.js";
import { closeSheet } from "./uncovered.js";
import { Waypoints } from "./waypoints.js";

/** A click within this distance of an airport selects the airport. */
const SNAP_PIXELS = 12;
/** From this zoom on, a pixel is less than a minute of latitude. */
const FINE_ZOOM = 9;
const MAX_POINTS = 60;
const MAX_CHOICES = 3;
const MILES_AROUND_THE_WORLD = 21_638;
const TILE_PIXELS = 512;
const LEVEL_PROBLEM = "Enter the level as FL370 or as 37000 feet, in whole thousands of feet up to FL600.";

const field = byId("route-text", HTMLInputElement);
const levelField = byId("route-level", HTMLInputElement);
const note = byId("route-note");
const pickButton = byId("route-pick");

export class RouteForm {
    #map;
    #view;
    #change;
    #panel;
    #waypoints;
    /** The points picked so far.
     * @type {string[]} */
    #points = [];
    /** @type {HTMLElement | null} */
    #bar = null;
    /** What began the picking, and the route then.
     * @type {{ opener: Element | null, route: string | null }} */
    #before = { opener: null, route: null };
    /** Whether the fields have a text that is no route, which stays until the user changes it. */
    #isWrong = false;
    /** The route of the note.
     * @type {string | null} */
    #noted = null;
    /** Whether the user changed the level after the route. The first change may come before this module. */
    #isLevelNewer = document.activeElement === levelField;

    /** @param {maplibregl.Map} map
     * @param {Pick<typeof maplibregl, "Marker">} library
     * @param {() => Billow.View} view
     * @param {(difference: Partial<Billow.View>) => void} change
     * @param {Pick<import("./route.js").RoutePanel, "fitNext" | "open" | "refresh">} panel */
    constructor(map, library, view, change, panel) {
        this.#map = map;
        this.#view = view;
        this.#change = change;
        this.#panel = panel;
        this.#waypoints = new Waypoints(map, library, view);
        byId("route-clear").addEventListener("click", () => {
            this.#stop();
            this.#forget();
            field.value = "";
            change({ route: null, level: null, passage: null });
        });
        field.addEventListener("input", () => { this.#isLevelNewer = false; });
        levelField.addEventListener("input", () => { this.#isLevelNewer = true; });
        loadAirports().then((airports) => new Suggestions(field, byId("route-places"), airports));
    }

    /** Shows a view's route and level.
     * @param {Billow.View} view */
    fill(view) {
        byId("route-clear").hidden = view.route === null && !this.#isWrong;
        if (view.route !== this.#noted) note.hidden = true;
        if (this.#isWrong && view.route === null) return;
        if (this.#isWrong) this.#forget();
        if (document.activeElement !== field) field.value = view.route ?? "";
        if (document.activeElement !== levelField) {
            levelField.value = view.level === null ? "" : flightLevel(view.level);
        }
    }

    /** Removes the words about an earlier text. */
    #forget() {
        this.#isWrong = false;
        note.hidden = true;
        levelField.setAttribute("aria-invalid", "false");
        this.#showProblem(null);
    }

    /** Applies the typed route. If it is none, the earlier one does not stay beside its text. */
    async submit() {
        this.#stop();
        const airports = await loadAirports();
        const plan = parsePlan(field.value, airports);
        const { route, count, unknown, resolved } = plan;
        const { level, note: levelNote } = chooseLevel(plan.level, typedLevel(), this.#isLevelNewer);
        const names = unknown.join(" ");
        const isLevelWrong = Number.isNaN(level);
        const levelProblem = `${Number.isNaN(plan.level) ? "The plan's level can't be used. " : ""}${LEVEL_PROBLEM}`;
        this.#forget();
        levelField.setAttribute("aria-invalid", String(isLevelWrong));
        this.#showProblem(count < 2 ? [
            names && `Unknown waypoints: ${names}.`, ...unknown.flatMap((name) => choicesText(name, airports)),
            "Enter at least two waypoints: airport codes or names, or positions such as 4430N05000W.",
        ].filter(Boolean).join(" ") : isLevelWrong ? levelProblem : null, count < 2);
        if (count < 2 || isLevelWrong) {
            this.#isWrong = true;
            return this.#change({ route: null, level: null, passage: null });
        }
        const planned = passageOfPlan(field.value, level, now());
        const earlier = this.#view();
        // Another route does not depart when the earlier plan did.
        const kept = route !== earlier.route && parsePassage(earlier.passage).isPlanned ? null : earlier.passage;
        const notes = [
            resolved.length ? `${resolved.join(", ")}.` : null, names && `Ignored, because unknown: ${names}.`,
            levelNote, ...planned.notes, unusedText(field.value),
        ].filter(Boolean);
        note.hidden = notes.length === 0;
        note.textContent = notes.join(" ");
        this.#noted = route;
        // The sheet of the settings closes, so the route's card has the note.
        if (COMPACT.matches) byId("route-body").before(note);
        else byId("route-problem").after(note);
        field.value = route;
        levelField.value = level === null ? "" : flightLevel(level);
        this.#panel.fitNext();
        this.#change({ route, level, passage: passageText(planned) ?? kept, isRouteOpen: true });
        closeSheet();
    }

    /** Starts or ends picking points on the map. */
    togglePicking() {
        if (this.#bar) return this.#end();
        const { route } = this.#view();
        this.#before = { opener: document.activeElement, route };
        this.#points = route?.split(" ") ?? [];
        this.#bar = element("section", { className: "picking card", "aria-label": "Route waypoints" },
            element("p", { role: "status" }),
            element("button", { type: "button", className: "link", onclick: () => this.#undo() }, "Undo"),
            element("button", { type: "button", className: "go", onclick: () => this.#end() }, "Done"));
        document.body.append(this.#bar);
        document.body.classList.add("is-picking");
        pickButton.setAttribute("aria-pressed", "true");
        picking.onPick = (place) => this.#add(place);
        addEventListener("keydown", this.#key, { capture: true });
        // In compact windows the sheet of the settings covers the map, so it closes.
        closeSheet();
        this.#map.getCanvas().focus();
        // The card would cover the points, so it closes until the picking ends.
        this.#panel.refresh();
        this.#show();
    }

    /** @param {maplibregl.LngLat} place */
    async #add(place) {
        const { lng, lat } = place.wrap();
        const airports = await loadAirports();
        const zoom = this.#map.getZoom();
        const miles = (MILES_AROUND_THE_WORLD * Math.cos((lat * Math.PI) / 180)) / (TILE_PIXELS * 2 ** zoom);
        const airport = airports.nearest(lng, lat, SNAP_PIXELS * miles, zoom);
        const point = airport?.icao ?? formatPosition(lng, lat, zoom < FINE_ZOOM);
        if (!this.#bar || point === null || this.#points[this.#points.length - 1] === point) return;
        if (this.#points.length < MAX_POINTS) this.#points.push(point);
        this.#show();
    }

    #undo() {
        this.#points.pop();
        this.#show();
    }

    /** @param {KeyboardEvent} event */
    #key = (event) => {
        const isTyping = event.target instanceof HTMLInputElement;
        if (event.key === "Escape") this.#end();
        else if (event.key === "Backspace" && !isTyping) this.#undo();
        else return;
        event.preventDefault();
        event.stopPropagation();
    };

    async #show() {
        const points = this.#points;
        const count = points.length;
        const text = count === 0 ? "Click the map to set the first waypoint."
            : count === 1 ? `${points[0]}. Click the next point.`
                : `${count} points. Click to add one after ${points[count - 1]}.`;
        setText(this.#bar?.querySelector("p") ?? null, text);
        this.#bar?.querySelector("button")?.toggleAttribute("disabled", count === 0);
        const route = count >= 2 ? points.join(" ") : null;
        this.#isWrong = false;
        // From two points on, the route panel shows the waypoints and the line.
        this.#waypoints.show(count === 1 ? waypointsOf(points[0], await loadAirports()) : []);
        if (route === this.#view().route) return;
        this.#showProblem(null);
        note.hidden = true;
        this.#change({ route, level: typedLevel() || this.#view().level, isRouteOpen: true });
    }

    /** Ends the picking, and opens the card of the route. */
    #end() {
        const focused = document.activeElement;
        const isFocusLost = focused === this.#map.getCanvas() || this.#bar?.contains(focused) === true;
        const { opener, route: earlier } = this.#before;
        this.#stop();
        const { route } = this.#view();
        if (route !== null) {
            if (route !== earlier) this.#panel.fitNext();
            this.#panel.open(route);
            this.#change({ isRouteOpen: true });
        }
        if (!isFocusLost) return;
        // In compact windows the sheet with the button is closed, so the card gets the focus.
        const places = [opener, pickButton, byId("route-close"), byId("toggle")];
        for (const place of places) {
            if (!(place instanceof HTMLElement) || place === document.body) continue;
            place.focus();
            if (document.activeElement === place) return;
        }
    }

    /** Ends the picking alone. */
    #stop() {
        if (!this.#bar) return;
        this.#bar.remove();
        this.#bar = null;
        picking.onPick = null;
        this.#waypoints.show([]);
        document.body.classList.remove("is-picking");
        pickButton.setAttribute("aria-pressed", "false");
        removeEventListener("keydown", this.#key, { capture: true });
    }

    /** @param {string | null} text
     * @param {boolean} [isOfRoute]  whether the problem is one of the waypoints */
    #showProblem(text, isOfRoute = text !== null) {
        byId("route-problem").hidden = text === null;
        byId("route-problem").textContent = text ?? "";
        field.setAttribute("aria-invalid", String(isOfRoute));
    }
}

/** Says which airports a name may mean, if it may mean several.
 * @param {string} name
 * @param {import("./airports.js").Airports} airports */
function choicesText(name, airports) {
    const found = airports.search(name, MAX_CHOICES);
    return found.length > 1 ? [`${name} may be ${found.map(({ icao }) => icao).join(" or ")}.`] : [];
}

/** The typed level in feet; null if there is none, and NaN for anything else. */
function typedLevel() {
    const text = levelField.value.trim();
    return text === "" ? null : parseLevel(text);
}
