// @ts-check
// The card of a place. A click on the map, or Enter, opens it. It shows the hexagon at the place, the reports behind
// the hexagon, and the features of other layers.
import { contact, onContact } from "./contact.js";
import { byId, element, onPageKey, setText, svgElement } from "./dom.js";
import { shortTime } from "./format.js";
import { showsCells } from "./layers.js";
import { patchChildren } from "./dom-patch.js";
import { picking } from "./picking.js";
import { now, ServerError } from "./server.js";
import { filterText } from "./view.js";

/** The radius of the mark at the place. */
const MARK_PIXELS = 12;
/** An aircraft that flies north, around the origin. */
const AIRCRAFT_SHAPE = "M0-10 2-3 10 2v3L2 3 1.500 8 4 10v2l-4-1-4 1v-2l2.500-2L-2 3l-8 2V2l8-5z";

/** The sections of a new card that arrive within this time of its request are shown together. Each drawing of the page
 * takes the processor from those that are still to come. */
const GATHER_MILLISECONDS = 80;

const importModules = () => Promise.all([
    import("./uncovered.js"), import("./headline.js"), import("./place-features.js"), import("./cell-section.js"),
    import("./field.js").then(async (field) => {
        await field.loadDistance();
        return field;
    }),
]);
/** The modules of the cards, once they are loaded. Even a repeated `import` lets the browser draw the map before the
 * requests of a card are sent.
 * @type {Awaited<ReturnType<typeof importModules>> | null} */
let modules = null;
/** @type {Promise<void> | null} */
let loading = null;
const loadModules = () => (loading ??= importModules().then((loaded) => { modules = loaded; }, (error) => {
    loading = null;
    throw error;
}));

export class Inspector {
    #map;
    #view;
    #legend;
    #callbacks;
    #marker;
    #mark = element("div", { className: "place", "aria-hidden": "true" });
    /** The ICAO address of the aircraft whose alerts the card shows, or null.
     * @type {string | null} */
    #aircraft = null;
    /** Loaded with the first aircraft.
     * @type {Promise<import("./aircraft-alerts.js").AircraftAlerts> | null} */
    #alerts = null;
    #loadAlerts;
    #root = byId("details");
    #body = byId("details-body");
    #announcement = byId("details-announcement");
    /** Names the time of a live card that lost contact. Its distances are of then. */
    #old = element("p", { className: "problem", hidden: true });
    /** When the content of a live card was loaded; null for no content, and for content of a past or future time.
     * @type {number | null} */
    #liveAt = null;
    /** Whether the map follows the cards, so that none covers the place. Ends when anything else moves the map. */
    #keepsUncovered = false;
    /** Whether this card learns of changes of other cards. */
    #isObserved = false;
    /** @type {maplibregl.LngLat | null} */
    #place = null;
    /** @type {AbortController | null} */
    #abort = null;
    /** The view of the card's content, and when it was requested; null without content.
     * @type {{ view: Billow.View, at: number } | null} */
    shown = null;

    /** `view` returns the current view.
     * @param {maplibregl.Map} map
     * @param {Pick<typeof maplibregl, "Marker">} library
     * @param {import("./legend.js").Legend} legend
     * @param {() => Billow.View} view
     * @param {{
     *     left: () => void, changed: (text: string) => void, placed: (place: [number, number] | null) => void,
     *     follow: (icao24: string) => void, loaded: () => void,
     * }} callbacks  `left` is called when the card closes or moves to another place; `follow` gets an aircraft to
     * follow; `changed` receives a text when the flight's alerts change; `placed` receives the card's place; `loaded`
     * is called after new content */
    constructor(map, library, legend, view, callbacks) {
        this.#callbacks = callbacks;
        this.#map = map;
        this.#view = view;
        this.#legend = legend;
        this.#loadAlerts = () => (this.#alerts ??= import("./aircraft-alerts.js").then(
            ({ AircraftAlerts }) => new AircraftAlerts(map, library, view, legend, callbacks.changed),
            (error) => {
                this.#alerts = null;
                throw error;
            }));
        this.#marker = new library.Marker({ element: this.#mark });
        byId("details-close").addEventListener("click", () => this.close());
        map.on("click", ({ lngLat }) => (picking.onPick ? picking.onPick(lngLat) : this.open(lngLat)));
        map.getCanvas().addEventListener("keydown", (event) => {
            if (event.key !== "Enter") return;
            if (picking.onPick) return picking.onPick(map.getCenter());
            this.open(map.getCenter());
            // Keyboard users continue in the card. Escape returns to the map.
            this.#root.focus();
        });
        // The modules are there before a pointer has reached a place, and before the first touch.
        const prepare = () => { loadModules().catch(() => {}); };
        map.getCanvas().addEventListener("pointermove", prepare, { once: true });
        map.on("idle", prepare);
        onPageKey((event) => event.key === "Escape" && this.close());
        this.#body.before(this.#old);
        onContact(() => this.#showAge());
        map.on("movestart", ({ isUncovering }) => {
            if (!isUncovering) this.#keepsUncovered = false;
        });
    }

    /** @param {maplibregl.LngLat} lngLat */
    open(lngLat) {
        this.#callbacks.left();
        this.#open(lngLat);
        this.#refreshUncovered();
        // The requests are sent before the address changes.
        const { lng, lat } = lngLat.wrap();
        this.#callbacks.placed([lng, lat]);
    }

    async #refreshUncovered() {
        this.#keepsUncovered = true;
        await this.refresh();
        if (!modules) return;
        // Other cards may come later, and this one grows.
        if (!this.#isObserved) modules[0].onCardChange(() => this.#uncover());
        this.#isObserved = true;
        this.#uncover();
    }

    /** Moves the map if a card or an edge of the window covers the place. */
    #uncover() {
        if (!modules || !this.#place || !this.#keepsUncovered) return;
        const [{ isCovered, uncoveredCentre }] = modules;
        const { lng, lat } = this.#place;
        if (!isCovered(this.#map.project([lng, lat]), MARK_PIXELS)) return;
        this.#map.easeTo({ center: [lng, lat], offset: uncoveredCentre() }, { isUncovering: true });
    }

    /** @param {maplibregl.LngLat} lngLat */
    #open(lngLat) {
        this.#place = lngLat;
        this.#clearAlerts();
        this.#mark.replaceChildren();
        this.#root.classList.remove("is-followed");
        delete this.#mark.dataset.place;
        this.#marker.setLngLat(lngLat).addTo(this.#map);
        this.#keepsUncovered = false;
        this.#body.replaceChildren(element("p", {}, "Loading…"));
        this.#clear();
        this.#root.hidden = false;
        document.body.classList.add("details-open");
    }

    /** Opens the card of a link's place, or closes the card if the link has none.
     * @param {[number, number] | null} place */
    restore(place) {
        if (!place) return this.#view().flight === null ? this.#hide() : undefined;
        const [lng, lat] = place;
        const shown = this.#place?.wrap();
        if (shown?.lng === lng && shown?.lat === lat) return;
        this.#open({ lng, lat, wrap() { return this; } });
        this.#refreshUncovered();
    }

    /** Opens the card at an aircraft, or moves it there, and shows the alerts ahead.
     * @param {maplibregl.LngLat} lngLat
     * @param {string} icao24
     * @param {number | undefined} heading  in degrees; the mark points there, also without the layer of aircraft */
    async follow(lngLat, icao24, heading) {
        if (this.#place && this.#aircraft === icao24) {
            this.#place = lngLat;
            this.#marker.setLngLat(lngLat);
            this.#point(lngLat, heading);
            return this.refresh();
        }
        this.#callbacks.placed(null);
        this.#open(lngLat);
        this.#point(lngLat, heading);
        this.#aircraft = icao24;
        // The user follows for what lies ahead, so this card stands above that of a route.
        this.#root.classList.add("is-followed");
        return this.refresh();
    }

    /** Draws an aircraft at the mark, also in picture files.
     * @param {maplibregl.LngLat} place
     * @param {number | undefined} heading */
    #point({ lng, lat }, heading) {
        this.#mark.dataset.place = `${lng},${lat}`;
        this.#mark.replaceChildren(svgElement("svg", { viewBox: "-13 -13 26 26", class: "followed" },
            heading === undefined ? svgElement("circle", { r: 5 })
                : svgElement("path", { d: AIRCRAFT_SHAPE, transform: `rotate(${heading})` })));
    }

    /** Removes a followed aircraft and its alerts from the map, which has a picture of another time. The card says why,
     * and stays, so that the user can stop following.
     * @param {string} name
     * @param {string} text
     * @param {Billow.View} view  the view without a position */
    lose(name, text, view) {
        this.#hide();
        this.#body.replaceChildren(element("h3", {}, name), element("p", { className: "problem" }, text));
        this.#root.hidden = false;
        document.body.classList.add("details-open");
        this.shown = { view, at: now() };
        this.#callbacks.loaded();
    }

    close() {
        if (this.#root.hidden) return;
        this.#callbacks.placed(null);
        this.#callbacks.left();
        this.#hide();
        this.#map.getCanvas().focus();
    }

    #hide() {
        this.#abort?.abort();
        this.#place = null;
        this.#clear();
        this.#clearAlerts();
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
        const startedAt = now();
        /** @type {Node[]} */
        let content;
        /** @type {string | null} */
        let announced = null;
        /** @type {number | null} */
        let liveAt = null;
        try {
            if (!modules) await loadModules();
            if (!modules || abort.signal.aborted) return;
            const [, { announcement, headline }, ...sectionModules] = modules;
            const parts = this.#parts(sectionModules, view, longitude, latitude, abort.signal);
            if (!this.shown) this.#showArrivals(parts, abort.signal);
            const [alerts, ...others] = await Promise.all(parts);
            const sections = others.flat();
            const place = view.flight === null ? "here" : "at the aircraft";
            content = [...alerts, ...[headline(sections, this.#legend, place) ?? []].flat(), ...sections];
            if (!content.length) content = [
                element("p", {}, element("strong", {}, "Nothing here"), " in the visible layers."),
                ...[filterText(view)].flatMap((only) => only
                    ? element("p", { className: "note" }, `${only}.`) : []),
            ];
            // The alerts of a flight announce their own changes.
            announced = announcement(alerts.length ? alerts : content);
            liveAt = view.time === null ? startedAt : null;
        } catch (error) {
            // Without contact what the card says of this place remains, and names its time.
            if (error instanceof ServerError && error.status === 0 && this.shown) return;
            const { message } = /** @type {Error} */ (error);
            content = [element("p", { className: "problem" }, `This place could not be loaded: ${message}`)];
        }
        if (abort.signal.aborted) return;
        if (this.shown) patchChildren(this.#body, content);
        else this.#body.replaceChildren(...content);
        // Screen readers announce the card when its headline changes, and not every age.
        setText(this.#announcement, announced ?? this.#body.textContent ?? "");
        this.#liveAt = liveAt;
        this.#showAge();
        this.shown = { view, at: startedAt };
        this.#callbacks.loaded();
    }

    /** The sections of the card, in their order: alerts first, then symbols, which lie above the cells and areas.
     * @param {[
     *     typeof import("./place-features.js"), typeof import("./cell-section.js"), typeof import("./field.js"),
     * ]} modules
     * @param {Billow.View} view
     * @param {number} longitude
     * @param {number} latitude
     * @param {AbortSignal} signal
     * @returns {Promise<Node[]>[]} */
    #parts([{ featureSections }, { CellSection }, { fieldSections }], view, longitude, latitude, signal) {
        const zoom = this.#map.getZoom();
        const features = featureSections(view, zoom, longitude, latitude, signal, {
            showAlerts: (icao24) => this.#showAlerts(icao24), follow: this.#callbacks.follow,
        });
        return [
            this.#alertSection(signal), features.then(({ symbols }) => symbols),
            view.layers.some(showsCells)
                ? new CellSection(view, zoom, this.#legend).content(longitude, latitude, signal) : null,
            features.then(({ areas }) => areas),
            fieldSections(view, longitude, latitude, signal, zoom),
        ].map(async (part) => [await part ?? []].flat());
    }

    /** Shows the parts of a new card as they arrive. The headline waits for all, because it names the worst.
     * @param {Promise<Node[]>[]} parts
     * @param {AbortSignal} signal */
    #showArrivals(parts, signal) {
        /** @type {Node[][]} */
        const arrived = parts.map(() => []);
        const requestedAt = performance.now();
        const show = () => {
            if (signal.aborted || this.shown || !arrived.some(({ length }) => length)) return;
            const note = element("p", { className: "note" }, "Loading the other layers…");
            // What lies ahead of a followed flight comes first, also while it loads.
            const [alerts, ...others] = arrived;
            const ahead = this.#aircraft === null || alerts.length ? alerts
                : [element("section", { className: "features alerts" }, element("h3", {}, `Ahead of ${this.#aircraft}`),
                    element("p", {}, "Loading…"))];
            this.#body.replaceChildren(...ahead, note, ...others.flat());
        };
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        let timer;
        for (const [index, part] of parts.entries()) part.then((nodes) => {
            arrived[index] = nodes;
            if (!nodes.length) return;
            clearTimeout(timer);
            timer = setTimeout(show, requestedAt + GATHER_MILLISECONDS - performance.now());
        }, () => {});
    }

    /** Forgets what the card said of another place. */
    #clear() {
        this.#announcement.textContent = "";
        this.shown = null;
        this.#liveAt = null;
        this.#showAge();
    }

    /** Without contact nobody renews a live card, so it names its time. */
    #showAge() {
        this.#old.hidden = this.#liveAt === null || contact.problem === null;
        if (this.#liveAt === null) return;
        setText(this.#old, `No contact with the server. This card is of ${shortTime(this.#liveAt, now())}, \
with its distances. Its ages count to now.`);
    }

    /** @param {AbortSignal} signal */
    async #alertSection(signal) {
        const aircraft = this.#aircraft;
        if (aircraft === null) return null;
        const alerts = await this.#loadAlerts();
        return signal.aborted ? null : alerts.section(aircraft, signal);
    }

    #clearAlerts() {
        this.#aircraft = null;
        this.#alerts?.then((alerts) => alerts.clear(), () => {});
    }

    /** @param {string} icao24 */
    #showAlerts(icao24) {
        this.#aircraft = icao24;
        this.refresh();
    }
}
