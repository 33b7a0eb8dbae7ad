// @ts-check
// The viewer: composes the map and its cards, and polls the server for new data.
import { BASE_MAP, ONLINE, setTheme } from "./js/basemap.js";
import { contact, onContact } from "./js/contact.js";
import { Controls } from "./js/controls.js";
import { boxOf, Coverage } from "./js/coverage.js";
import { Dock } from "./js/dock.js";
import { byId, fatal, setText, settling } from "./js/dom.js";
import {
    defaultLayersReady, firstPicture, firstTiles, rememberedDrawing, rememberedPicture,
} from "./js/prefetch.js";
import { compactTime, instantOf } from "./js/format.js";
import { Legend } from "./js/legend.js";
import { measureCards } from "./js/layout.js";
import {
    isMarkedIncomplete, lackedFields, OLD_PICTURE_MILLISECONDS, pictureState, shownKey, shownView,
} from "./js/picture-state.js";
import { Pictures } from "./js/picture.js";
import { isRenewed, pollMilliseconds, renewalDelay, savesPixels, UrgentRenewals } from "./js/renewal.js";
import { pictureRequest, subjectOf, withinExtent } from "./js/picture-request.js";
import { getJSON, now, ServerError } from "./js/server.js";
import { outsideText } from "./js/time-extent.js";
import { emptyKnowledge, StatusBar } from "./js/status.js";
import { loadStyles, onSchemeChange, styleOf, themeOf } from "./js/styles.js";
import { formatHash, parseHash, pictureAddress } from "./js/view.js";
import { boundsOf } from "./js/visible-tiles.js";

const TICK_MILLISECONDS = 1_000;
/** The shortest interval at which restored contact loads the route again. */
const ROUTE_RETRY_MILLISECONDS = 15_000;
/** The shortest interval at which the address follows the frames. Safari allows 100 changes in 30 s. */
const HASH_MILLISECONDS = 500;
/** A series of changes, such as of a slider by its keys, is requested after so long without another. */
const CHANGE_MILLISECONDS = 250;
/** The map waits this long for the first picture, because both need the processor. */
const FIRST_PICTURE_MILLISECONDS = 1_500;
/** The page's controls wait this long for a picture whose tiles the last visit had. */
const REMEMBERED_PICTURE_MILLISECONDS = 400;

const firstHash = location.hash;
const { view: firstView, problems: firstProblems, named: linked } = parseHash(firstHash);
const knowledge = emptyKnowledge(firstView);
const { view } = knowledge;
/** @type {AbortController | null} */
let polling = null;
/** @type {number | undefined} */
let timer;
/** The changes that the events announced; null without events.
 * @type {import("./js/events.js").Changes | null} */
let changes = null;
/** Whether the link names the part of the world that the map shows. */
const linkHasPosition = linked.includes("map");

async function start() {
    // The remembered picture needs the processor.
    await Promise.race([rememberedDrawing?.catch(() => {}), pause(REMEMBERED_PICTURE_MILLISECONDS)]);
    showLinkProblems(firstProblems);
    measureCards();
    /** Applies changes that the user makes before the map exists.
     * @type {() => void} */
    let begin = () => {};
    /** @type {Promise<void>} */
    const begun = new Promise((resolve) => { begin = resolve; });
    /** @type {(difference: Partial<Billow.View>) => void} */
    const changeWhenReady = (difference) => { begun.then(() => change(difference)); };
    const legend = new Legend(byId("legend"), changeWhenReady);
    const status = new StatusBar(() => changeWhenReady({ time: null }));
    const controls = new Controls(view, changeWhenReady, () => knowledge.extent);
    /** Shows the state of the first picture; later that of the map. */
    let showState = () => {
        if (!firstPicture.current && contact.problem === null) return;
        const box = boxOf(boundsOf(view, innerWidth, innerHeight));
        knowledge.lacking = isMarkedIncomplete(knowledge)
            ? coverage.lackingLayers(view, view.time, box, "first", false) : null;
        status.show(knowledge);
    };
    const coverage = new Coverage(() => showState());
    const described = describe();
    // The map needs these modules. They come after the tiles of the first picture, which does not need them.
    const mapModules = Promise.all([
        import("./js/map.js"), import("./js/inspect.js"), import("./js/missing-areas.js"),
        import("./js/chosen-time.js"), import("./js/map-style.js"),
    ]).catch(() => null);
    const ticker = setInterval(() => showState(), TICK_MILLISECONDS);
    await showFirstPicture();

    /** Explains the pixels on the map. The base map below them already has the theme of the user's style. */
    function showLegend() {
        const shown = shownView(knowledge);
        legend.show(shown, { ...styleOf(shown), theme: themeOf(view) }, view);
    }

    /** Applies what the server says about layers, styles and the age of the data. */
    async function describe() {
        await Promise.all([loadStyles().catch(() => {}), defaultLayersReady]);
        // The server's status decides the layers of a link that names none.
        view.layers = parseHash(firstHash).view.layers;
        controls.show(view);
        showLegend();
        legend.load().catch(() => {});
        if (rememberedPicture && rememberedPicture.request.subject !== subjectOf(view)) firstPicture.remove();
        const tiles = await firstTiles;
        if (!tiles) return;
        knowledge.billow = tiles.tileJSON.billow ?? { unknown: true };
        showState();
    }

    async function showFirstPicture() {
        if (!rememberedPicture) await described;
        const tiles = rememberedPicture ?? await firstTiles;
        if (!tiles) return;
        knowledge.pictures = firstPicture;
        const drawn = (rememberedDrawing ?? firstPicture.draw(view, themeOf(view), tiles)).then(showState, () => {});
        await Promise.race([drawn.then(nextPaint), pause(FIRST_PICTURE_MILLISECONDS)]);
    }

    const modules = await mapModules;
    if (!modules) {
        clearInterval(ticker);
        firstPicture.remove();
        return fatal("A part of this page could not be loaded. Reload it when there is contact with the server.");
    }
    const [{ loadLibrary, makeMap }, { Inspector }, { edgeText, isEmpty, MissingAreas }, { ChosenTime }] = modules;
    await Promise.all([loadLibrary(), described]);
    const made = makeMap(view, themeOf(view));
    clearInterval(ticker);
    if (typeof made === "string") {
        firstPicture.remove();
        return fatal(made);
    }
    const map = made;
    firstPicture.moveInto(map.getCanvasContainer());
    Object.assign(window, { billow: { map } });

    /** @type {typeof import("./js/sources.js").showSources} */
    let showSources = () => false;
    /** @type {typeof import("./js/origin-filters.js").showOriginFilters} */
    let showOriginFilters = () => {};
    Promise.all([import("./js/sources.js"), import("./js/origin-filters.js")]).then(([sources, origins]) => {
        ({ showSources } = sources);
        ({ showOriginFilters } = origins);
        requestDraw();
    });

    import("./js/toolbars.js").then(({ makeToolbars }) => makeToolbars(), () => {});

    const missing = new MissingAreas(map);
    /** Marks the places without a picture. A first picture is complete, and covers the map. */
    const markMissing = () => {
        if (firstPicture.current) return;
        const rasters = dock.states ? [dock.states]
            : pictures.current?.parts.map((part) => missing.statesOf(part)) ?? [];
        const hasNothing = knowledge.isEmpty = isEmpty(knowledge);
        missing.show(hasNothing ? [...rasters, new Map()] : rasters, refused !== null || hasNothing);
        knowledge.missing = missing.failed;
    };

    const draw = () => {
        knowledge.pictures = firstPicture.current
            ? { current: firstPicture.current, next: pictures.next, isOutdated: false } : pictures;
        knowledge.lacking = lackingInView();
        markMissing();
        const moment = pictureState(knowledge);
        if (isOutOfStep()) renewSoon();
        knowledge.lacksSource = showSources(
            knowledge.server, contact.problem !== null, shownView(knowledge).layers);
        status.show(knowledge);
        setText(legend.edges, edgeText(knowledge));
        showCardTimes();
        dock.show(moment, refused !== null);
        showOriginFilters(view, knowledge.server, change);
        map.getContainer().setAttribute("aria-busy", String(isBusy()));
    };
    const pictures = new Pictures(map, maplibregl, () => {
        // Removes the frame in the same turn, so that the map always shows either the frame or the picture.
        if (dock.isLeaving && pictures.current?.request.subject === subjectOf(view) && !pictures.isOutdated) {
            dock.end();
            onDockChange();
        }
        requestDraw();
    });
    const dock = new Dock(map, () => view, {
        changed: onDockChange, toLive: () => change({ time: null }), attribution: () => attribution,
        chosen: (span) => change({ span }),
        moved(time) {
            view.time = time;
            chosenTime.choose();
            controls.show(view);
            if (dock.shown?.playing) followFrames();
            else writeHash();
        },
    });
    const chosenTime = new ChosenTime(knowledge, dock, (time) => {
        view.time = time;
        pictures.stay();
        writeHash();
        applyView();
    });
    const inspector = new Inspector(map, maplibregl, legend, () => shownView(knowledge), {
        left: () => view.flight !== null && change({ flight: null }),
        follow: (icao24) => view.flight !== icao24 && change({ flight: icao24 }),
        changed: (text) => flight?.then(({ announce }) => announce(text)),
        placed(place) {
            view.place = place;
            writeHash();
        },
        loaded: () => showCardTimes(),
    });
    /** Loaded at the first search for a flight.
     * @type {Promise<{ flight: import("./js/flight.js").Flight, announce: (text: string) => void }> | null} */
    let flight = null;
    const loadFlight = () => (flight ??= import("./js/flight.js").then(({ Flight, announceChange }) => ({
        flight: new Flight(map, () => shownView(knowledge), inspector), announce: announceChange,
    })));
    /** Loaded with the first route.
     * @type {ReturnType<typeof makeRoute> | null} */
    let route = null;
    const loadRoute = () => (route ??= makeRoute());
    async function makeRoute() {
        const [{ RoutePanel }, { RouteForm }] = await Promise.all([
            import("./js/route.js"), import("./js/route-form.js"),
        ]);
        const panel = new RoutePanel(map, maplibregl, () => shownView(knowledge), legend, change, () => {
            view.isRouteOpen = false;
            writeHash();
        });
        if (!linkHasPosition) panel.fitNext();
        const form = new RouteForm(map, maplibregl, () => view, change, panel);
        return { panel, form };
    }
    const refreshRoute = () => {
        if (view.route === null && !route) return;
        loadRoute().then(async ({ panel, form }) => {
            form.fill(view);
            const refreshed = (routeRefresh = { view: shownView(knowledge), at: now() });
            await panel.refresh();
            // A newer refresh ended this one.
            if (refreshed !== routeRefresh) return;
            routeShown = refreshed;
            showCardTimes();
        });
    };
    /** Says what the cards are for. */
    function showCardTimes() {
        if (!inspector.shown && !routeShown) return;
        import("./js/card-times.js").then((lines) =>
            lines.showCardTimes(knowledge, { details: inspector.shown, route: routeShown }), () => {});
    }
    /** What the latest refresh of the route is for, and what the card of the route is for.
     * @type {{ view: Billow.View, at: number } | null} */
    let routeRefresh = null;
    /** @type {{ view: Billow.View, at: number } | null} */
    let routeShown = null;
    /** The pixels that the legend describes, by `shownKey`.
     * @type {string | null} */
    let describedKey = null;
    /** The pixels for which the cards were last refreshed.
     * @type {string | null} */
    let cardsKey = null;
    /** Loaded after the first picture.
     * @type {import("./js/field.js").FieldNote | null} */
    let fieldNote = null;
    /** The subject that has no picture, because its instant lies outside of the log.
     * @type {{ subject: string, isPast: boolean } | null} */
    let refused = null;
    let isDrawing = false;
    const urgent = new UrgentRenewals();
    /** @type {number | undefined} */
    let urgentTimer;
    /** Whether the picture is renewed, however new it is. */
    let isUrgent = false;
    /** The fields for which the picture has been renewed, because it lacked them. */
    let soughtFields = "";
    /** Keeps names off a picture's labels, and saves its tiles; loaded after the first picture. */
    let completePicture = () => {};
    let attribution = "";

    function onDockChange() {
        knowledge.frame = dock.shown;
        if (dock.isOpen) firstPicture.remove();
        // As soon as the timeline has a frame, the frame replaces the picture.
        if (knowledge.frame && dock.isOpen) pictures.clear();
        if (dock.problem) knowledge.problems.set("The timeline", dock.problem);
        else knowledge.problems.delete("The timeline");
        requestDraw();
    }

    /** Coalesces the redraws of a turn into one, however many tiles arrive. */
    function requestDraw() {
        if (isDrawing) return;
        isDrawing = true;
        setTimeout(() => {
            isDrawing = false;
            const key = shownKey(knowledge);
            if (key !== describedKey) {
                describedKey = key;
                showLegend();
                pollLegend();
                showField();
            }
            // While the timeline plays, the cards stay: nobody could read a card that changes with each frame.
            if (key !== cardsKey && !knowledge.frame?.playing) {
                cardsKey = key;
                if (view.flight === null) inspector.refresh();
                else followFlight();
                refreshRoute();
                completePicture();
            }
            draw();
        }, 0);
    }

    /** Moves the card with the flight, or removes the flight's track from the map. */
    function followFlight() {
        byId("flight-clear").hidden = view.flight === null;
        if (view.flight !== null || flight) loadFlight().then(({ flight }) => flight.refresh());
    }

    function showField() {
        const shown = shownView(knowledge);
        import("./js/field.js").then(({ FieldNote }) => {
            fieldNote ??= new FieldNote((text) => legend.showField(text));
            fieldNote.show(shown);
        }).catch(() => legend.showField("The description of the turbulence field could not be loaded."));
    }

    /** Whether the map does not yet show the latest request. */
    function isBusy() {
        if (!map.getSource(BASE_MAP) || !map.isSourceLoaded(BASE_MAP)) return true;
        const isOther = subjectOf(shownView(knowledge)) !== subjectOf(view);
        if (dock.isOpen) return dock.isBusy || isOther;
        return (pictures.isBusy || isOther) && refused === null;
    }

    /** The layers on the map that lack data in the visible part of the world. */
    function lackingInView() {
        const { time, isLive, isPlaying } = pictureState(knowledge);
        const shown = shownView(knowledge);
        knowledge.absent = coverage.absentLayers(shown, isLive ? null : time);
        if (!isMarkedIncomplete(knowledge)) return null;
        const key = `${isLive ? Math.floor((time ?? 0) / 60_000) : ""} ${knowledge.billow?.completeSince}`;
        const instant = isLive ? null : time;
        return coverage.lackingLayers(shown, instant, boxOf(map.getBounds()), key, isPlaying);
    }

    /** The instant of the map, or null for live. */
    function shownTime() {
        const { time, isLive } = pictureState(knowledge);
        return isLive ? null : time ?? view.time;
    }

    /** @param {Partial<Billow.View>} difference */
    function change(difference) {
        firstPicture.remove();
        Object.assign(view, difference);
        if ("time" in difference) chosenTime.choose();
        // Loaded frames have the previous opacity, so the timeline can't keep them.
        if ("time" in difference || "opacities" in difference) dock.leave();
        showLinkProblems([]);
        knowledge.problems.delete("The picture");
        refused = null;
        showView();
        requestView();
    }

    const requestView = settling(() => {
        dock.refilter();
        writeHash();
        loadView();
    }, CHANGE_MILLISECONDS);

    function applyView() {
        showView();
        loadView();
    }

    /** Shows what the view is, without any request. */
    function showView() {
        setTheme(map, themeOf(view));
        controls.show(view);
        showLegend();
        inspector.restore(view.place);
        draw();
    }

    /** Requests what the view shows. */
    function loadView() {
        refreshRoute();
        followFlight();
        poll();
    }

    /** Whether the page pauses. A hidden page sends no requests, unless it follows a flight and notifies of changes. */
    const isPaused = () => document.visibilityState === "hidden" && view.flight === null;

    /** Polls the server once. A newer call aborts an older one. */
    async function poll() {
        clearTimeout(timer);
        if (isPaused()) return;
        polling?.abort();
        const { signal } = (polling = new AbortController());
        await Promise.all([pollPicture(signal), pollStatus(signal), pollLegend()]);
        if (signal.aborted) return;
        draw();
        timer = setTimeout(poll, pollMilliseconds(changes !== null, view.time === null ? renewalDue() : Infinity));
    }

    /** Whether the live picture contradicts the server's data, and is not about to be replaced. */
    function isOutOfStep() {
        const { current, next } = pictures;
        if (view.time !== null || dock.isOpen || next || !current || contact.problem !== null) return false;
        const fields = lackedFields(knowledge, current);
        // The renewed picture may lack them too, because the server's fields are of other times.
        const isNew = fields !== "" && fields !== soughtFields;
        if (isNew) soughtFields = fields;
        return current.isTorn || isNew;
    }

    /** Renews the live picture within a second, unless that has happened often of late. */
    function renewSoon() {
        urgentTimer ??= setTimeout(() => {
            urgentTimer = undefined;
            if (isPaused()) return;
            urgent.spend();
            isUrgent = true;
            poll();
            dock.refresh();
        }, urgent.delay);
    }

    /** Follows the events, which announce new data. If the stream breaks, the page polls at once. */
    async function followEvents() {
        const { followEvents } = await import("./js/live-events.js");
        followEvents({
            knowledge, view, isPaused, poll, renewSoon, renewalDue, renewedBytes, refresh: () => dock.refresh(),
            savesPixels: () => (pictures.current?.request.scale ?? fullScale()) !== fullScale(),
            setChanges: (known) => { changes = known; },
        });
    }

    /** @param {AbortSignal} signal */
    async function pollPicture(signal) {
        // While the timeline controls the map, this request only serves to show the age of the newest data.
        const requested = { ...view, time: dock.isOpen ? null : view.time };
        if (refused?.subject === subjectOf(requested) && (refused.isPast || (requested.time ?? 0) > now())) return;
        refused = null;
        const [path, query] = pictureAddress(requested, requested.time === null ? null : compactTime(requested.time));
        try {
            /** @type {Billow.TileJSON} */
            const tileJSON = await getJSON(path, query, signal);
            knowledge.problems.delete("The picture");
            attribution = tileJSON.attribution ?? "";
            knowledge.billow = tileJSON.billow ?? { unknown: true };
            knowledge.extent = tileJSON.time?.extent?.map(instantOf) ?? null;
            if (dock.isOpen) return;
            const isFirst = pictures.current?.request.subject !== subjectOf(requested);
            const scale = requested.time === null && savesPixels(renewedBytes()) ? 1 : fullScale();
            const request = await withinExtent(
                pictureRequest(tileJSON, requested, scale, changes?.versionOf.bind(changes), isFirst));
            if (signal.aborted) return;
            if (isRecent(request)) return;
            isUrgent = false;
            pictures.show(request);
        } catch (error) {
            if (signal.aborted) return;
            if (!(error instanceof ServerError)) throw error;
            if (error.status === 0 && !dock.isOpen) chosenTime.fail();
            if (error.status === 0 || dock.isOpen) return;
            const isOutside = error.code === "time-outside-retention" && requested.time !== null;
            const text = isOutside ? await outsideText(view.layers.join(), requested.time ?? 0) : error.message;
            if (signal.aborted) return;
            knowledge.problems.set("The picture", text);
            if (isOutside) {
                // The page does not repeat such a request. Past data does not return, and its tiles would fail as well.
                refused = { subject: subjectOf(requested), isPast: (requested.time ?? 0) <= now() };
            }
            // No picture is better than one that contradicts the form.
            if (refused || pictures.current?.request.subject !== subjectOf(requested)) {
                pictures.clear();
                dock.end();
                onDockChange();
            }
        }
    }

    const fullScale = () => (devicePixelRatio > 1 ? 2 : 1);
    const renewedBytes = () => pictures.current?.bytes ?? 0;
    /** The time until the live picture is renewed. */
    const renewalDue = () => renewalDelay(pictures.current?.requestedAt ?? 0, renewedBytes());

    /** Whether the map completely shows a live picture that is too new to be renewed.
     * @param {Billow.PictureRequest} request */
    function isRecent({ subject, scale }) {
        const { current, next, failed } = pictures;
        const isOld = now() - (current?.frameTime ?? now()) > OLD_PICTURE_MILLISECONDS;
        if (isUrgent || isOld || current?.isTorn) return false;
        return view.time === null && !failed && !next && current?.request.subject === subject
            && current.request.scale === scale && isRenewed(current.requestedAt, renewedBytes());
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

    /** Waits for the map's first complete picture, which needs the whole bandwidth. Then starts all other work. */
    function onRender() {
        if (isBusy()) return;
        map.off("render", onRender);
        firstPicture.remove();
        requestDraw();
        dock.describe();
        import("./js/complete-map.js").then(({ completeMap }) => {
            completePicture = completeMap(
                map, () => shownView(knowledge), () => pictures.current?.tiles ?? [],
                (layers) => changes?.versionOf(layers) ?? null);
        }, () => {});
    }

    map.on("moveend", () => {
        const { lng: longitude, lat: latitude } = map.getCenter();
        Object.assign(view, { zoom: map.getZoom(), longitude, latitude });
        writeHash();
        requestDraw();
    });
    map.on("error", ({ error, sourceId }) => {
        // Pictures and the timeline count the failures of their own tiles.
        if (/^(turbulence|timeline)-/.test(sourceId ?? "")) return;
        // The page's own land is below a base map of another server.
        if (sourceId === ONLINE) return;
        knowledge.problems.set("The map", error?.message ?? "unknown error");
        draw();
    });
    map.on("webglcontextlost", () => {
        knowledge.problems.set("The map", "the graphics context was lost; reload this page if the map does not return");
        draw();
    });
    // Its pictures are lost, and MapLibre would stay blank. The address has what the page shows.
    map.on("webglcontextrestored", () => location.reload());
    byId("route-form").addEventListener("submit", (event) => {
        event.preventDefault();
        loadRoute().then(({ form }) => form.submit());
    });
    byId("route-form").addEventListener("focusin", () => loadRoute(), { once: true });
    byId("route-pick").addEventListener("click", () => loadRoute().then(({ form }) => form.togglePicking()));
    const showLevels = () => import("./js/level-histogram.js").then((levels) =>
        levels.showLevels({ ...view, time: shownTime() }, boxOf(map.getBounds())));
    for (const name of ["pointerenter", "focusin"]) byId("altitude").addEventListener(name, showLevels);
    byId("flight-form").addEventListener("submit", (event) => {
        event.preventDefault();
        loadFlight().then(async ({ flight }) => {
            const found = await flight.find(byId("flight-text", HTMLInputElement).value);
            if (found) change({ flight: found });
        });
    });
    byId("flight-text").addEventListener("input", () => loadFlight().then(({ flight }) =>
        flight.suggest(byId("flight-text", HTMLInputElement).value)));
    byId("flight-clear").addEventListener("click", () => inspector.close());
    byId("share").addEventListener("click", async () => {
        writeHash();
        // While the dialog loads, the timeline may play on.
        const content = {
            link: location.href,
            view: { ...view }, time: shownTime(), box: boxOf(map.getBounds()), span: dock.range,
            width: map.getContainer().clientWidth, base: new URL(".", document.baseURI).href,
            isEmpty: knowledge.isEmpty,
        };
        (await import("./js/share.js")).openShareDialog(content, map, attribution);
    });
    addEventListener("hashchange", () => {
        writtenHash = location.hash;
        const parsed = parseHash(location.hash);
        Object.assign(view, parsed.view);
        chosenTime.forget();
        firstPicture.remove();
        dock.leave();
        dock.refilter();
        showLinkProblems(parsed.problems);
        knowledge.problems.delete("The picture");
        refused = null;
        map.setProjection({ type: parsed.view.isGlobe ? "globe" : "mercator" });
        map.jumpTo({ center: [parsed.view.longitude, parsed.view.latitude], zoom: parsed.view.zoom });
        applyView();
    });
    let hadContact = contact.problem === null;
    let routeRetriedAt = -Infinity;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let routeTimer;
    onContact(() => {
        const hasContact = contact.problem === null;
        const isRestored = hasContact && !hadContact;
        hadContact = hasContact;
        // Nothing that changed meanwhile is on the map.
        if (isRestored && view.time === null) renewSoon();
        draw();
        // A route has no saved conditions. If only some requests fail, contact is lost and restored all the time.
        if (!isRestored) return;
        routeTimer ??= setTimeout(() => {
            routeTimer = undefined;
            routeRetriedAt = performance.now();
            refreshRoute();
        }, Math.max(0, routeRetriedAt + ROUTE_RETRY_MILLISECONDS - performance.now()));
    });
    onSchemeChange(() => view.style === null && change({}));
    document.addEventListener("visibilitychange", () => {
        if (document.visibilityState !== "visible") return;
        poll();
        // The live frame may be hours old.
        dock.refresh();
    });
    for (const name of ["online", "offline"]) addEventListener(name, () => poll());
    setInterval(() => {
        if (isPaused()) return;
        chosenTime.watch();
        draw();
    }, TICK_MILLISECONDS);
    draw();
    map.on("idle", draw);
    map.on("movestart", () => firstPicture.remove());
    // The map's button changes the projection. MapLibre then fires no event of the style.
    map.on("projectiontransition", () => {
        const isGlobe = map.getProjection()?.type === "globe";
        if (view.isGlobe === isGlobe) return;
        firstPicture.remove();
        view.isGlobe = isGlobe;
        writeHash();
    });
    // The event `load` would wait for the base map.
    map.once("style.load", () => {
        // A link may have opened before this listened.
        if (location.hash === writtenHash) applyView();
        else dispatchEvent(new Event("hashchange"));
    });
    followEvents();
    // The event `idle` would also wait for an online base map, whose server may not answer.
    map.on("render", onRender);
    showState = requestDraw;
    begin();
}

/** @param {number} milliseconds */
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
/** Resolves when the browser has painted the page. A hidden page is not painted. */
const nextPaint = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));
/** Whether there was no response. The banner of lost contact reports that.
 * @param {unknown} error */
const isOutOfReach = (error) => error instanceof ServerError && error.status === 0;

/** @param {string[]} problems */
function showLinkProblems(problems) {
    if (problems.length) knowledge.problems.set("This link", `${problems.join("; ")}. The default is shown instead`);
    else knowledge.problems.delete("This link");
}

/** @type {number | undefined} */
let hashTimer;
let hashWrittenAt = -Infinity;
let writtenHash = location.hash;

function writeHash() {
    clearTimeout(hashTimer);
    hashTimer = undefined;
    // A link that was opened meanwhile is about to apply, in the event `hashchange`.
    if (location.hash !== writtenHash) return;
    hashWrittenAt = performance.now();
    history.replaceState(null, "", formatHash(view));
    writtenHash = location.hash;
}

/** Writes the address while the timeline plays. Browsers limit how often. */
function followFrames() {
    hashTimer ??= setTimeout(() => {
        hashTimer = undefined;
        writeHash();
    }, hashWrittenAt + HASH_MILLISECONDS - performance.now());
}

start();
