// @ts-check
// The viewer: composes the map and what is around it, and asks the server for what is newer.
import { AIRPORT_ZOOM, BASE_MAP, setTheme } from "./js/basemap.js";
import { contact, onContact } from "./js/contact.js";
import { Controls } from "./js/controls.js";
import { boxOf, Coverage } from "./js/coverage.js";
import { Dock } from "./js/dock.js";
import { byId, element, fatal } from "./js/dom.js";
import { Changes, listen } from "./js/events.js";
import { first } from "./js/early.js";
import { fieldText } from "./js/field.js";
import { compact, instantOf } from "./js/format.js";
import { Inspector } from "./js/inspect.js";
import { Legend } from "./js/legend.js";
import { measureCards } from "./js/layout.js";
import { makeMap } from "./js/map.js";
import { isMarked, momentOf } from "./js/moment.js";
import { Pictures } from "./js/picture.js";
import { pictureRequest, subjectOf, withinExtent } from "./js/request.js";
import { getJSON, now, ServerError } from "./js/server.js";
import { showSources } from "./js/sources.js";
import { emptyKnowledge, StatusBar } from "./js/status.js";
import { loadStyles, onSchemeChange, styleOf, themeOf } from "./js/styles.js";
import { formatHash, parseHash, pictureAddress } from "./js/view.js";

/** Without events, and with them, which tell of what is new. */
const POLL_MILLISECONDS = 15_000;
const FOLLOWED_POLL_MILLISECONDS = 30_000;
const TICK_MILLISECONDS = 1_000;
const BURST_MILLISECONDS = 1_000;
/** A picture is renewed no more often, whatever the sources send. */
const RENEWAL_MILLISECONDS = 55_000;

const { view: firstView, problems: firstProblems } = parseHash(location.hash);
const knowledge = emptyKnowledge(firstView);
const { view } = knowledge;
/** @type {AbortController | null} */
let polling = null;
/** @type {number | undefined} */
let timer;
/** What the events say; null while there are none.
 * @type {Changes | null} */
let changes = null;
const linked = new URLSearchParams(location.hash.replace(/^#/, ""));
/** Whether the link names the layers, rather than the server. */
const isLinked = linked.has("layers");
/** Whether the link says which part of the world the map shows. */
const isPlaced = linked.has("map");

function start() {
    noteLink(firstProblems);
    measureCards();
    const styles = loadStyles().catch(() => {});
    const made = makeMap(view, themeOf(view));
    if (typeof made === "string") return fatal(made);
    const map = made;
    Object.assign(window, { billow: { map } });

    const legend = new Legend(byId("legend"), change);
    const status = new StatusBar(() => change({ time: null }));
    const coverage = new Coverage(() => requestDraw());
    const draw = () => {
        knowledge.lacking = lackingInView();
        const moment = momentOf(knowledge);
        status.show(knowledge);
        dock.show(moment);
        showSources(knowledge.server, contact.problem !== null);
        map.getContainer().setAttribute("aria-busy", String(isBusy()));
    };
    const pictures = new Pictures(map, maplibregl, () => {
        // In one turn, so that the map shows the frame or the picture, never both and never none.
        if (dock.isLeaving && pictures.current?.request.subject === subjectOf(view) && !pictures.isOther) {
            dock.end();
            hearDock();
        }
        requestDraw();
    });
    knowledge.pictures = pictures;
    const controls = new Controls(view, change, () => knowledge.extent);
    const dock = new Dock(map, () => view, {
        changed: hearDock, toLive: () => change({ time: null }), attribution: () => attribution,
        chosen: (span) => change({ span }),
        moved(time) {
            view.time = time;
            controls.show(view);
            if (!dock.shown?.playing) writeHash();
        },
    });
    const inspector = new Inspector(map, maplibregl, legend, () => ({ ...view, time: shownTime() }), {
        left: () => view.flight !== null && change({ flight: null }),
        changed: (text) => flight?.then(({ told }) => told(text)),
        placed(place) {
            view.place = place;
            writeHash();
        },
    });
    /** Loaded when the first flight is looked for.
     * @type {Promise<{ flight: import("./js/flight.js").Flight, told: (text: string) => void }> | null} */
    let flight = null;
    const loadFlight = () => (flight ??= import("./js/flight.js").then(({ Flight, tellChange }) => ({
        flight: new Flight(map, () => ({ ...view, time: shownTime() }), inspector), told: tellChange,
    })));
    /** Loaded when the first route is.
     * @type {ReturnType<typeof makeRoute> | null} */
    let route = null;
    const loadRoute = () => (route ??= makeRoute());
    async function makeRoute() {
        const [{ RoutePanel }, { RouteForm }] = await Promise.all([
            import("./js/route.js"), import("./js/route-form.js"),
        ]);
        const panel = new RoutePanel(map, maplibregl, () => ({ ...view, time: shownTime() }), legend, () => {
            view.isRouteOpen = false;
            writeHash();
        });
        if (!isPlaced) panel.fitNext();
        const form = new RouteForm(map, maplibregl, () => view, change, () => panel.fitNext());
        return { panel, form };
    }
    const refreshRoute = () => {
        if (view.route === null && !route) return;
        loadRoute().then(({ panel, form }) => {
            form.fill(view);
            panel.refresh();
        });
    };
    /** @type {string | null} */
    let shownKey = null;
    /** What there is no picture of, as its instant lies outside of the log.
     * @type {{ subject: string, isPast: boolean } | null} */
    let refused = null;
    let isDrawing = false;
    let hasPicture = false;
    let hasAirports = false;
    let attribution = "";

    function hearDock() {
        knowledge.frame = dock.shown;
        // The timeline's frame is on the map once it has one, else the picture.
        if (knowledge.frame && dock.isOpen) pictures.clear();
        if (dock.problem) knowledge.problems.set("The timeline", dock.problem);
        else knowledge.problems.delete("The timeline");
        requestDraw();
    }

    /** At most one redraw a frame, however many tiles arrive in it. */
    function requestDraw() {
        if (isDrawing) return;
        isDrawing = true;
        setTimeout(() => {
            isDrawing = false;
            const key = `${pictures.current?.request.key} ${knowledge.frame?.time} ${knowledge.frame?.live}`;
            // While it plays, a card that changed with each frame could not be read.
            if (key !== shownKey && !knowledge.frame?.playing) {
                shownKey = key;
                if (view.flight === null) inspector.refresh();
                else followFlight();
                refreshRoute();
                showField();
            }
            draw();
        }, 0);
    }

    /** Takes the card along with the flight, or takes its track off the map. */
    function followFlight() {
        byId("flight-clear").hidden = view.flight === null;
        if (view.flight !== null || flight) loadFlight().then(({ flight }) => flight.refresh());
    }

    /** @param {string} text */
    async function findFlight(text) {
        const problem = byId("flight-problem");
        problem.hidden = true;
        try {
            const found = await (await loadFlight()).flight.search(text);
            if (found.length === 1) {
                if ("Notification" in window && Notification.permission === "default") Notification.requestPermission();
                return change({ flight: found[0].properties.icao24 });
            }
            const names = found.slice(0, 8).map(({ properties }) => properties.callsign || properties.icao24);
            byId("flights").replaceChildren(...names.map((name) => element("option", { value: name })));
            problem.textContent = found.length
                ? `${found.length} flights begin so: ${names.join(", ")}${found.length > 8 ? " and more" : ""}.`
                : "No aircraft of this call sign is seen now.";
        } catch (error) {
            problem.textContent = messageOf(error);
        }
        problem.hidden = false;
    }

    function showField() {
        const shown = { ...view, time: shownTime() };
        fieldText(shown).then((text) => legend.showField(text), () => legend.showField("The field is unknown."));
    }

    /** Loads the airports once one has come near enough to see some. */
    function lookForAirports() {
        if (hasAirports || map.getZoom() < AIRPORT_ZOOM) return;
        hasAirports = true;
        import("./js/airport-signs.js").then(({ showAirports }) => showAirports(map));
    }

    /** Whether the map is still to show what was asked for last. */
    function isBusy() {
        if (!map.getSource(BASE_MAP) || !map.isSourceLoaded(BASE_MAP)) return true;
        if (dock.isOpen) return dock.isBusy;
        const isBehind = pictures.isBusy || pictures.current?.request.subject !== subjectOf(view);
        return isBehind && refused === null;
    }

    /** Which layers lack data of what is on the map, in the part of the world that one sees. */
    function lackingInView() {
        if (!isMarked(knowledge)) return null;
        const { time, isLive, isPlaying } = momentOf(knowledge);
        const key = `${isLive ? Math.floor((time ?? 0) / 60_000) : ""} ${knowledge.billow?.completeSince}`;
        return coverage.of(view, isLive ? null : time, boxOf(map.getBounds()), key, isPlaying);
    }

    /** The instant of what is on the map, or null for live. */
    function shownTime() {
        const { time, isLive } = momentOf(knowledge);
        return isLive ? null : time ?? view.time;
    }

    /** @param {Partial<Billow.View>} difference */
    function change(difference) {
        Object.assign(view, difference);
        // Frames that are there already have the opacity of before.
        if ("time" in difference || "opacities" in difference) dock.leave();
        else dock.refilter();
        noteLink([]);
        knowledge.problems.delete("The picture");
        refused = null;
        writeHash();
        applyView();
    }

    function applyView() {
        setTheme(map, themeOf(view));
        controls.show(view);
        legend.show(view, styleOf(view));
        refreshRoute();
        followFlight();
        inspector.restore(view.place);
        draw();
        poll();
    }

    /** Whether nobody looks: a hidden page asks for nothing, unless it follows a flight and tells of changes. */
    const rests = () => document.visibilityState === "hidden" && view.flight === null;

    /** One look at the server; a newer call takes the place of an older one under way. */
    async function poll() {
        clearTimeout(timer);
        if (rests()) return;
        polling?.abort();
        const { signal } = (polling = new AbortController());
        await Promise.all([pollPicture(signal), pollStatus(signal), pollLegend()]);
        if (signal.aborted) return;
        draw();
        timer = setTimeout(poll, changes === null ? POLL_MILLISECONDS : FOLLOWED_POLL_MILLISECONDS);
    }

    /** Hears of new data at once. Where the stream breaks off, the page looks at once whether the server is there. */
    function follow() {
        /** @type {number | null} */
        let soon = null;
        let renewed = performance.now();
        listen("events", (name, data) => {
            if (name !== "data") return;
            changes ??= new Changes(knowledge.billow?.version);
            if (!changes.note(data, view.layers)) return;
            // Data comes in bursts: one look for all of one.
            const rest = renewed + RENEWAL_MILLISECONDS - performance.now();
            soon ??= setTimeout(() => {
                soon = null;
                renewed = performance.now();
                if (rests()) return;
                poll();
                dock.refresh();
            }, Math.max(BURST_MILLISECONDS, rest));
        }, () => {
            changes = null;
            poll();
        }, rests);
    }

    /** @param {AbortSignal} signal */
    async function pollPicture(signal) {
        // While the timeline has the map, the newest data's age is what is asked for.
        const asked = { ...view, time: dock.isOpen ? null : view.time };
        if (refused?.subject === subjectOf(asked) && (refused.isPast || (asked.time ?? 0) > now())) return;
        refused = null;
        const [path, query] = pictureAddress(asked, asked.time === null ? null : compact(asked.time));
        try {
            /** @type {Billow.TileJSON} */
            const tileJSON = await getJSON(path, query, signal);
            knowledge.problems.delete("The picture");
            attribution = tileJSON.attribution ?? "";
            knowledge.billow = tileJSON.billow ?? { unknown: true };
            knowledge.extent = tileJSON.time?.extent?.map(instantOf) ?? null;
            if (dock.isOpen) return;
            const request = await withinExtent(
                pictureRequest(tileJSON, asked, devicePixelRatio > 1 ? 2 : 1, changes?.of.bind(changes)));
            if (signal.aborted) return;
            if (!isRecent(request.subject)) pictures.show(request);
        } catch (error) {
            if (signal.aborted) return;
            if (!(error instanceof ServerError)) throw error;
            if (error.status === 0 || dock.isOpen) return;
            knowledge.problems.set("The picture", error.message);
            if (error.code === "time-outside-retention") {
                // Said once: what is past doesn't come back, and no tile of it would either.
                refused = { subject: subjectOf(asked), isPast: (asked.time ?? 0) <= now() };
            }
            // Better none than another than the form says.
            if (refused || pictures.current?.request.subject !== subjectOf(asked)) {
                pictures.clear();
                dock.end();
                hearDock();
            }
        }
    }

    /** Whether a live picture is on the map whole, and so new that it isn't renewed yet.
     * @param {string} subject */
    function isRecent(subject) {
        const { current, next, failed } = pictures;
        return view.time === null && !failed && !next && current?.request.subject === subject
            && performance.now() - current.shownAt < RENEWAL_MILLISECONDS;
    }

    /** @param {AbortSignal} signal */
    async function pollStatus(signal) {
        try {
            knowledge.server = await getJSON("status", null, signal);
            knowledge.problems.delete("The server's status");
        } catch (error) {
            if (!signal.aborted && !isOutOfReach(error)) {
                knowledge.problems.set("The server's status", messageOf(error));
            }
        }
    }

    async function pollLegend() {
        try {
            if (await loadStyles()) applyView();
            await legend.load();
            knowledge.problems.delete("The legend");
        } catch (error) {
            if (!isOutOfReach(error)) knowledge.problems.set("The legend", messageOf(error));
        }
    }

    map.on("moveend", () => {
        const { lng: longitude, lat: latitude } = map.getCenter();
        Object.assign(view, { zoom: map.getZoom(), longitude, latitude });
        writeHash();
        requestDraw();
        if (hasPicture) lookForAirports();
    });
    map.on("error", ({ error, sourceId }) => {
        // The pictures count their own tiles, and the timeline its frames.
        if (/^(turbulence|timeline)-/.test(sourceId ?? "")) return;
        knowledge.problems.set("The map", error?.message ?? "unknown error");
        draw();
    });
    map.on("webglcontextlost", () => knowledge.problems.set("The map", "graphics were lost; load this page again"));
    byId("route-form").addEventListener("submit", (event) => {
        event.preventDefault();
        loadRoute().then(({ form }) => form.submit());
    });
    byId("route-form").addEventListener("focusin", () => loadRoute(), { once: true });
    byId("route-pick").addEventListener("click", () => loadRoute().then(({ form }) => form.togglePicking()));
    const showLevels = () => import("./js/levels.js").then((levels) =>
        levels.showLevels({ ...view, time: shownTime() }, boxOf(map.getBounds())));
    for (const name of ["pointerenter", "focusin"]) byId("altitude").addEventListener(name, showLevels);
    byId("flight-form").addEventListener("submit", (event) => {
        event.preventDefault();
        findFlight(byId("flight-text", HTMLInputElement).value);
    });
    byId("flight-clear").addEventListener("click", () => inspector.close());
    byId("take").addEventListener("click", async () => {
        const { openShare } = await import("./js/share.js");
        writeHash();
        openShare({
            view: { ...view }, time: shownTime(), box: boxOf(map.getBounds()), span: dock.range,
            width: map.getContainer().clientWidth, base: new URL(".", document.baseURI).href,
        });
    });
    addEventListener("hashchange", () => {
        const parsed = parseHash(location.hash);
        Object.assign(view, parsed.view);
        dock.leave();
        noteLink(parsed.problems);
        knowledge.problems.delete("The picture");
        refused = null;
        map.jumpTo({ center: [parsed.view.longitude, parsed.view.latitude], zoom: parsed.view.zoom });
        applyView();
    });
    onContact(draw);
    onSchemeChange(() => view.style === null && change({}));
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && poll());
    for (const name of ["online", "offline"]) addEventListener(name, () => poll());
    setInterval(() => rests() || draw(), TICK_MILLISECONDS);
    draw();
    map.on("idle", draw);
    // Not `load`, which waits for the base map.
    map.once("style.load", async () => {
        await Promise.all([styles, first]);
        if (!isLinked) Object.assign(view, { layers: parseHash("").view.layers });
        applyView();
    });
    follow();
    // Not before the first picture, which needs the line for itself.
    map.once("idle", () => {
        hasPicture = true;
        lookForAirports();
        if (!isSecureContext || !("serviceWorker" in navigator)) return;
        navigator.serviceWorker.register("offline.js").catch(() => {});
    });
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));
/** Whether there was no answer; the line of the contact says that.
 * @param {unknown} error */
const isOutOfReach = (error) => error instanceof ServerError && error.status === 0;

/** @param {string[]} problems */
function noteLink(problems) {
    if (problems.length) knowledge.problems.set("This link", `${problems.join("; ")}. The default is shown instead`);
    else knowledge.problems.delete("This link");
}

function writeHash() {
    history.replaceState(null, "", formatHash(view));
}

start();
