// @ts-check
// The viewer: composes the map, the pictures on it, the form, the legend and the status line, and asks the server
// every few seconds whether there is something newer.
import { BASE_MAP, drawNames, style } from "./js/basemap.js";
import { Controls } from "./js/controls.js";
import { Dock } from "./js/dock.js";
import { byId, element } from "./js/dom.js";
import { compact } from "./js/format.js";
import { listen } from "./js/events.js";
import { Inspector } from "./js/inspect.js";
import { keyHeaders } from "./js/key.js";
import { Legend } from "./js/legend.js";
import { Pictures } from "./js/picture.js";
import { pictureRequest, subjectOf } from "./js/request.js";
import { getJSON, now, ServerError } from "./js/server.js";
import { showSources } from "./js/sources.js";
import { emptyKnowledge, StatusBar } from "./js/status.js";
import { filters, formatHash, parseHash } from "./js/view.js";

const POLL_MILLISECONDS = 15_000;
const TICK_MILLISECONDS = 1_000;
const BURST_MILLISECONDS = 1_000;

const { view: firstView, problems: firstProblems } = parseHash(location.hash);
const knowledge = emptyKnowledge(firstView);
/** @type {AbortController | null} */
let polling = null;
/** @type {number | undefined} */
let timer;

function start() {
    if (typeof maplibregl === "undefined") {
        fatal(
            "The map library is missing. Run Scripts/setup-viewer where Billow is installed, then load this page again."
        );
        return;
    }
    const view = firstView;
    noteLink(firstProblems);
    const made = makeMap(view);
    if (!made) return;
    const map = made;

    const legend = new Legend(byId("legend"));
    const status = new StatusBar(() => (dock.isOpen ? dock.close() : change({ time: null })));
    const draw = () => {
        status.show(knowledge);
        showSources(knowledge.server);
        map.getContainer().setAttribute("aria-busy", String(isBusy()));
    };
    const pictures = new Pictures(map, maplibregl, () => requestDraw());
    knowledge.pictures = pictures;
    const controls = new Controls(view, change);
    const dock = new Dock(map, () => knowledge.view, () => {
        knowledge.frame = dock.shown;
        // One of the two is always on the map: the player's frame once it has one, else the picture.
        pictures.hide(knowledge.frame !== null);
        if (dock.problem) knowledge.problems.set("The timeline", dock.problem);
        else knowledge.problems.delete("The timeline");
        requestDraw();
    });
    const inspector = new Inspector(map, maplibregl, legend, () => ({ ...knowledge.view, time: shownTime() }));
    /** @type {string | null} */
    let shownKey = null;
    /** What there was no picture of, as its instant lies outside of what there is.
     * @type {{ subject: string, isPast: boolean } | null} */
    let refused = null;
    let drawing = false;

    /** At most one redraw a frame, however many tiles arrive in it. */
    function requestDraw() {
        if (drawing) return;
        drawing = true;
        setTimeout(() => {
            drawing = false;
            const key = `${pictures.current?.request.key} ${shownTime()}`;
            if (key !== shownKey) inspector.refresh();
            shownKey = key;
            draw();
        }, 0);
    }

    /** Whether the map is still to show what was asked for last. */
    function isBusy() {
        const isBehind = pictures.isBusy || pictures.current?.request.subject !== subjectOf(knowledge.view);
        return (isBehind && refused === null) || dock.isBusy || !map.isSourceLoaded(BASE_MAP);
    }

    /** The instant that is looked at, or null for live. */
    function shownTime() {
        return knowledge.frame && !knowledge.frame.live ? knowledge.frame.time : knowledge.view.time;
    }

    /** @param {Partial<Billow.View>} difference */
    function change(difference) {
        Object.assign(knowledge.view, difference);
        if ("time" in difference) dock.close();
        else dock.refilter();
        noteLink([]);
        knowledge.problems.delete("The picture");
        refused = null;
        writeHash();
        applyView();
    }

    function applyView() {
        controls.show(knowledge.view);
        legend.mark(knowledge.view.minSeverity);
        legend.showSymbols(knowledge.view.layers);
        draw();
        poll();
    }

    /** One look at the server; a newer call takes the place of an older one under way. */
    async function poll() {
        clearTimeout(timer);
        polling?.abort();
        const { signal } = (polling = new AbortController());
        if (!legend.isLoaded) loadLegend();
        await Promise.all([pollPicture(signal), pollStatus(signal)]);
        if (signal.aborted) return;
        draw();
        timer = setTimeout(poll, POLL_MILLISECONDS);
    }

    /** Hears of new data at once. One stream for all: browsers open few connections to a server. Where it breaks off,
     * the polling goes on meanwhile. */
    function follow() {
        /** @type {number | null} */
        let soon = null;
        listen("events", (name) => {
            if (name !== "data") return;
            // Data comes in bursts: one look for all of one.
            soon ??= setTimeout(() => {
                soon = null;
                poll();
                dock.refresh();
            }, BURST_MILLISECONDS);
        });
    }

    /** @param {AbortSignal} signal */
    async function pollPicture(signal) {
        const view = { ...knowledge.view };
        if (refused?.subject === subjectOf(view) && (refused.isPast || (view.time ?? 0) > now())) return;
        refused = null;
        const query = filters(view);
        if (view.time !== null) query.set("time", compact(view.time));
        try {
            /** @type {Billow.TileJSON} */
            const tileJSON = await getJSON(`tiles/${view.layers.join()}.json`, query, signal);
            noteContact();
            knowledge.problems.delete("The picture");
            knowledge.billow = tileJSON.billow ?? { unknown: true };
            pictures.show(pictureRequest(tileJSON, view, devicePixelRatio > 1 ? 2 : 1));
        } catch (error) {
            if (signal.aborted) return;
            if (!(error instanceof ServerError)) throw error;
            noteFailure(error);
            if (error.status === 0) return;
            noteContact();
            knowledge.problems.set("The picture", error.message);
            if (error.code === "time-outside-retention") {
                // Said once: what is past doesn't come back, and no tile of it would either.
                refused = { subject: subjectOf(view), isPast: (view.time ?? 0) <= now() };
                return pictures.clear();
            }
            // What is on the map is not what the form says: better none than another.
            if (pictures.current && pictures.current.request.subject !== subjectOf(view)) pictures.clear();
        }
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

    async function loadLegend() {
        try {
            await legend.load();
            legend.mark(knowledge.view.minSeverity);
            knowledge.problems.delete("The legend");
        } catch (error) {
            knowledge.problems.set("The legend", messageOf(error));
        }
        draw();
    }

    map.on("moveend", () => {
        const { lng: longitude, lat: latitude } = map.getCenter();
        Object.assign(knowledge.view, { zoom: map.getZoom(), longitude, latitude });
        writeHash();
    });
    map.on("error", ({ error, sourceId }) => {
        // The pictures count their own tiles.
        if (sourceId?.startsWith("turbulence-")) return;
        knowledge.problems.set("The map", error?.message ?? "unknown error");
        draw();
    });
    map.on("webglcontextlost", () => knowledge.problems.set("The map", "the graphics were lost; load this page again"));
    addEventListener("hashchange", () => {
        const parsed = parseHash(location.hash);
        Object.assign(knowledge.view, parsed.view);
        noteLink(parsed.problems);
        map.jumpTo({ center: [parsed.view.longitude, parsed.view.latitude], zoom: parsed.view.zoom });
        applyView();
    });
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && poll());
    addEventListener("online", poll);
    setInterval(draw, TICK_MILLISECONDS);
    draw();
    map.on("idle", draw);
    // Not `load`, which waits for the base map: the turbulence is what matters.
    map.once("style.load", applyView);
    follow();
    map.once("idle", () => {
        // On a phone the attribution opens by itself and hides the map; it stays behind its button.
        const attribution = map.getContainer().querySelector(".maplibregl-compact-show");
        attribution?.classList.remove("maplibregl-compact-show");
        attribution?.removeAttribute("open");
    });
}

/** @param {Billow.View} view */
function makeMap(view) {
    try {
        const map = new maplibregl.Map({
            container: "map", style: style(), center: [view.longitude, view.latitude], zoom: view.zoom,
            transformRequest: (url) => ({ url, headers: keyHeaders(url) }),
            maxZoom: 14, dragRotate: false, pitchWithRotate: false, touchPitch: false, attributionControl: false,
        });
        map.touchZoomRotate.disableRotation();
        map.keyboard.disableRotation();
        map.addControl(new maplibregl.NavigationControl({ showCompass: false }), "bottom-right");
        map.addControl(new maplibregl.ScaleControl({ unit: "nautical", maxWidth: 120 }), "bottom-right");
        const narrow = matchMedia("(max-width: 760px)").matches;
        map.addControl(new maplibregl.AttributionControl({ compact: narrow }), "bottom-right");
        drawNames(map);
        return map;
    } catch (error) {
        // MapLibre's message is a JSON text where WebGL is what is missing.
        const message = messageOf(error);
        const reason = /webgl/i.test(message) ? "this browser or device gives no WebGL" : message;
        return fatal(`The map can't be drawn here: ${reason}.`);
    }
}

function noteContact() {
    knowledge.contact = now();
    knowledge.contactProblem = null;
}

/** @param {ServerError} error */
function noteFailure(error) {
    if (!error.status) knowledge.contactProblem = error.message;
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** Whether there was no answer at all; the line of the contact says that.
 * @param {unknown} error */
const isOutOfReach = (error) => error instanceof ServerError && error.status === 0;

/** @param {string[]} problems */
function noteLink(problems) {
    if (problems.length) knowledge.problems.set("This link", `${problems.join("; ")}. The default is shown instead`);
    else knowledge.problems.delete("This link");
}

function writeHash() {
    history.replaceState(null, "", formatHash(knowledge.view));
}

/** @param {string} message
 * @returns {null} */
function fatal(message) {
    document.body.append(element("p", { className: "fatal", role: "alert" }, message));
    return null;
}

start();
