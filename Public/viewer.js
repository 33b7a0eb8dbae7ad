// @ts-check
// The viewer: composes the map and what is around it, and asks the server for what is newer.
import { BASE_MAP, setTheme } from "./js/basemap.js";
import { contact, onContact } from "./js/contact.js";
import { Controls } from "./js/controls.js";
import { Dock } from "./js/dock.js";
import { byId, fatal } from "./js/dom.js";
import { concerns, listen } from "./js/events.js";
import { fieldText } from "./js/field.js";
import { compact, instantOf } from "./js/format.js";
import { Inspector } from "./js/inspect.js";
import { Legend } from "./js/legend.js";
import { measureCards } from "./js/layout.js";
import { makeMap } from "./js/map.js";
import { momentOf } from "./js/moment.js";
import { Pictures } from "./js/picture.js";
import { pictureRequest, subjectOf } from "./js/request.js";
import { RoutePanel } from "./js/route.js";
import { getJSON, now, ServerError } from "./js/server.js";
import { showSources } from "./js/sources.js";
import { emptyKnowledge, StatusBar } from "./js/status.js";
import { loadStyles, onSchemeChange, styleOf, themeOf } from "./js/styles.js";
import { filters, formatHash, parseHash } from "./js/view.js";

/** Without events, and with them, which tell of what is new. */
const POLL_MILLISECONDS = 15_000;
const FOLLOWED_POLL_MILLISECONDS = 30_000;
const TICK_MILLISECONDS = 1_000;
const BURST_MILLISECONDS = 1_000;
/** A picture is renewed no more often, whatever the sources send: on a poor line that is what it costs. */
const RENEWAL_MILLISECONDS = 30_000;

const { view: firstView, problems: firstProblems } = parseHash(location.hash);
const knowledge = emptyKnowledge(firstView);
const { view } = knowledge;
/** @type {AbortController | null} */
let polling = null;
/** @type {number | undefined} */
let timer;
/** The newest version that changed a layer shown, by the events; null while there are none.
 * @type {number | null} */
let changedAt = null;

function start() {
    noteLink(firstProblems);
    measureCards();
    // Asked for before the map is made, which takes a while.
    const styles = loadStyles().catch(() => {});
    const made = makeMap(view, themeOf(view));
    if (typeof made === "string") return fatal(made);
    const map = made;
    Object.assign(window, { billow: { map } });

    const legend = new Legend(byId("legend"), change);
    const status = new StatusBar(() => change({ time: null }));
    const draw = () => {
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
        changed: hearDock, toLive: () => change({ time: null }),
        moved(time) {
            view.time = time;
            controls.show(view);
            if (!dock.shown?.playing) writeHash();
        },
    });
    const inspector = new Inspector(map, maplibregl, legend, () => ({ ...view, time: shownTime() }));
    const route = new RoutePanel(map, () => ({ ...view, time: shownTime() }), legend, change);
    /** @type {string | null} */
    let shownKey = null;
    /** What there is no picture of, as its instant lies outside of the log.
     * @type {{ subject: string, isPast: boolean } | null} */
    let refused = null;
    let isDrawing = false;

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
                inspector.refresh();
                route.refresh();
                showField();
            }
            draw();
        }, 0);
    }

    function showField() {
        const shown = { ...view, time: shownTime() };
        fieldText(shown).then((text) => legend.showField(text), () => legend.showField("The field is unknown."));
    }

    /** Whether the map is still to show what was asked for last. */
    function isBusy() {
        if (!map.getSource(BASE_MAP) || !map.isSourceLoaded(BASE_MAP)) return true;
        if (dock.isOpen) return dock.isBusy;
        const isBehind = pictures.isBusy || pictures.current?.request.subject !== subjectOf(view);
        return isBehind && refused === null;
    }

    /** The instant of what is on the map, or null for live. */
    function shownTime() {
        const { time, isLive } = momentOf(knowledge);
        return isLive ? null : time ?? view.time;
    }

    /** @param {Partial<Billow.View>} difference */
    function change(difference) {
        Object.assign(view, difference);
        if ("time" in difference) dock.leave();
        else dock.refilter();
        noteLink([]);
        knowledge.problems.delete("The picture");
        refused = null;
        writeHash();
        applyView();
        if ("route" in difference || "level" in difference) route.refresh();
    }

    function applyView() {
        setTheme(map, themeOf(view));
        controls.show(view);
        legend.show(view, styleOf(view));
        draw();
        poll();
    }

    /** One look at the server; a newer call takes the place of an older one under way. */
    async function poll() {
        clearTimeout(timer);
        polling?.abort();
        const { signal } = (polling = new AbortController());
        await Promise.all([pollPicture(signal), pollStatus(signal), pollLegend()]);
        if (signal.aborted) return;
        draw();
        timer = setTimeout(poll, changedAt === null ? POLL_MILLISECONDS : FOLLOWED_POLL_MILLISECONDS);
    }

    /** Hears of new data at once. Where the stream breaks off, the page looks at once whether the server is there. */
    function follow() {
        /** @type {number | null} */
        let soon = null;
        let renewed = -Infinity;
        listen("events", (name, data) => {
            const version = name === "data" ? concerns(data, view.layers) : null;
            if (version === null) return;
            changedAt = Math.max(changedAt ?? 0, version);
            // Data comes in bursts: one look for all of one.
            const rest = renewed + RENEWAL_MILLISECONDS - performance.now();
            soon ??= setTimeout(() => {
                soon = null;
                renewed = performance.now();
                if (document.visibilityState === "hidden") return;
                poll();
                dock.refresh();
            }, Math.max(BURST_MILLISECONDS, rest));
        }, () => {
            changedAt = null;
            poll();
        });
    }

    /** @param {AbortSignal} signal */
    async function pollPicture(signal) {
        // While the timeline has the map, the newest data's age is what is asked for.
        const asked = { ...view, time: dock.isOpen ? null : view.time };
        if (refused?.subject === subjectOf(asked) && (refused.isPast || (asked.time ?? 0) > now())) return;
        refused = null;
        const query = filters(asked);
        query.set("style", styleOf(asked).id);
        if (asked.time !== null) query.set("time", compact(asked.time));
        try {
            /** @type {Billow.TileJSON} */
            const tileJSON = await getJSON(`tiles/${asked.layers.join()}.json`, query, signal);
            knowledge.problems.delete("The picture");
            knowledge.billow = tileJSON.billow ?? { unknown: true };
            knowledge.extent = tileJSON.time?.extent?.map(instantOf) ?? null;
            if (dock.isOpen) return;
            pictures.show(pictureRequest(tileJSON, asked, devicePixelRatio > 1 ? 2 : 1, changedAt));
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
    });
    map.on("error", ({ error, sourceId }) => {
        // The pictures count their own tiles, and the timeline its frames.
        if (/^(turbulence|timeline)-/.test(sourceId ?? "")) return;
        knowledge.problems.set("The map", error?.message ?? "unknown error");
        draw();
    });
    map.on("webglcontextlost", () => knowledge.problems.set("The map", "the graphics were lost; load this page again"));
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
    setInterval(draw, TICK_MILLISECONDS);
    draw();
    map.on("idle", draw);
    // Not `load`, which waits for the base map.
    map.once("style.load", () => styles.then(applyView));
    follow();
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
