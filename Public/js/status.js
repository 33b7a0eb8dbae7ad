// @ts-check
// The line at the top and the banners under it. They tell the user how far the picture can be trusted.
import { contact } from "./contact.js";
import { byId, element, setText } from "./dom.js";
import { age, clockTime, dateTime, instantOf, shortTime } from "./format.js";
import { FORECAST_SHAPES, isField, layerName, LAYERS } from "./layers.js";
import {
    edgesOf, isHatched, isMarkedIncomplete, lackingOf, pictureState, shownView, STATED_AGE_MILLISECONDS,
} from "./picture-state.js";
import { clockDifference, now } from "./server.js";
import { filterText, opacityText, settingsText, summary } from "./view.js";

/** After so long, a banner says that the map does not show the new settings yet. */
const OTHER_MILLISECONDS = 5_000;
const LOST_CONTACT_MILLISECONDS = 40_000;
/** Without contact, tiles of different visits may form a picture. A larger difference of their times has a banner. */
const MIXED_MILLISECONDS = 60_000;
const CLOCKS_APART_MILLISECONDS = 120_000;
/** The subjects of problems with what the user chose. */
const CHOICES = ["This link", "The chosen time"];
const LEVELS = ["good", "wait", "past", "warn", "bad"];

/** The page's knowledge about its picture; viewer.js updates it.
 * @typedef {{
 *     server: Billow.Status | null,
 *     contact: { since: number | null, problem: string | null, isSilent?: boolean },
 *     extent: (number | null)[] | null,
 *     problems: Map<string, string>,
 *     missing?: number, isEmpty?: boolean, lacksSource?: boolean,
 * } & import("./picture-state.js").OnMap} Knowledge
 *
 * `billow` is the member of the TileJSON, `server` is `/status`. `contact` has the time of the server's last response,
 * by its clock, the reason if contact is lost, and whether that is being checked. `extent` contains the first and the
 * last instant with a picture.
 * `problems` contains other failures: subject → text. `missing` is the number of hatched places without a picture,
 * because it could not be loaded. `lacksSource` is true if the list of sources calls one of the map's late or worse. */

/** @param {Billow.View} view
 * @returns {Knowledge} */
export function emptyKnowledge(view) {
    return {
        view, billow: null, server: null, contact, extent: null, problems: new Map(),
        pictures: { current: null, next: null, isOutdated: false }, frame: null, lacking: null,
    };
}

export class StatusBar {
    /** @type {Map<string, HTMLElement>} */
    #banners = new Map();
    #root = byId("banners");
    #backToLive;
    /** Windows where warnings have one line until they have the focus. viewer.css has the same limits. */
    #isSmall = matchMedia("(max-width: 480px) and (max-height: 700px)");

    /** @param {() => void} backToLive */
    constructor(backToLive) { this.#backToLive = backToLive; }
    /** Since when the map shows other settings than the form, by the clock of `performance`. */
    #otherSince = Infinity;
    /** The banner that was announced last. */
    #announced = "";

    /** Updates the line and the banners. This is cheap, because elements change only if their text changes.
     * @param {Knowledge} knowledge */
    show(knowledge) {
        this.#otherSince = pictureState(knowledge).isOther ? Math.min(this.#otherSince, performance.now()) : Infinity;
        const wanted = banners(knowledge, performance.now() - this.#otherSince > OTHER_MILLISECONDS);
        for (const [key, banner] of this.#banners) {
            if (!wanted.has(key)) {
                banner.remove();
                this.#banners.delete(key);
                if (key === this.#announced) setText(byId("announcement"), "");
            }
        }
        // While the timeline plays, banners come and go with the frames. Nobody could listen to all of them.
        const isSilent = knowledge.frame?.playing === true;
        for (const [key, { level, text }] of wanted) this.#show(key, level, text, isSilent);
        this.#root.tabIndex = this.#isSmall.matches ? 0 : -1;
        /** @type {Element[]} */
        const order = [...wanted.keys()].flatMap((key) => this.#banners.get(key) ?? []);
        order.push(...this.#root.querySelectorAll(".notice"));
        if (order.some((banner, index) => this.#root.children[index] !== banner)) this.#root.replaceChildren(...order);
        const state = stateOf(knowledge, wanted);
        const root = byId("state");
        root.dataset.level = state.level;
        setText(byId("state-text"), state.text);
        setText(byId("times"), timesOf(knowledge));
        const view = shownView(knowledge);
        setText(byId("summary"), summary(view, knowledge.contact.problem !== null || pictureState(knowledge).isOld));
        const filtered = byId("filtered");
        filtered.hidden = filterText(view) === null;
        setText(filtered, filterText(view) ?? "");
        const pale = byId("pale");
        pale.hidden = opacityText(view) === null;
        setText(pale, opacityText(view) ?? "");
        document.title = (this.#root.dataset.mark ?? "")
            + (wanted.has("simulated") ? "SIMULATED · Billow" : "Billow · turbulence map");
    }

    /** @param {string} key
     * @param {string} level
     * @param {string} text
     * @param {boolean} isSilent */
    #show(key, level, text, isSilent) {
        let banner = this.#banners.get(key);
        if (!banner) {
            // Screen readers announce a new banner once. Its ages tick without an announcement.
            banner = element("div", { className: "banner" }, element("p"));
            if (!isSilent) {
                setText(byId("announcement"), text);
                this.#announced = key;
            }
            if (key === "past") banner.append(
                element("button", { type: "button", onclick: this.#backToLive }, "Back to live")
            );
            this.#banners.set(key, banner);
        }
        banner.dataset.level = level;
        setText(banner.firstChild, text);
    }
}

/** All banners by their kind. The banner of the simulation comes first, then the others, worst first.
 * @param {Knowledge} knowledge
 * @param {boolean} [hasWaited]  whether the map has shown other settings than the form for some seconds */
export function banners(knowledge, hasWaited = false) {
    const { billow, pictures, problems } = knowledge;
    const view = shownView(knowledge);
    /** @type {Map<string, { level: string, text: string }>} */
    const found = new Map();
    /** @param {string} key
     * @param {string} level
     * @param {string | false | null | undefined} text */
    const add = (key, level, text) => {
        if (text) found.set(key, { level, text });
    };
    const simulated = billow?.simulated || knowledge.server?.simulated
        || pictures.current?.simulated || pictures.next?.simulated;
    add("simulated", "simulated", simulated && "SIMULATED DATA — not for operational use");
    add("contact", "bad", lostContact(knowledge));
    for (const [subject, text] of problems) add(
        `problem ${subject}`, CHOICES.includes(subject) ? "warn" : "bad", `${subject}: ${text}`
    );
    add("tiles", knowledge.missing || pictures.current?.missedFailures?.size ? "bad" : "warn", failedTiles(knowledge));
    add("mixed", "warn", mixedTimes(knowledge));
    add("stale", "warn", staleData(knowledge));
    add("incomplete", "warn", incompleteData(knowledge));
    add("sources", "warn", brokenSources(knowledge.server));
    const { time, isLive, isForecast, isPlaying, isOther } = pictureState(knowledge);
    // Before that, the header says "Loading…".
    add("other", "warn", isOther && (hasWaited || [...found.values()].some(({ level }) => level === "bad"))
        && `The map does not show your new settings yet. It still shows: ${settingsText(view)}.`);
    // While the timeline plays, the banner follows each frame. It stays at the live frame too, so that nothing moves.
    add("past", "past", time !== null && (isLive ? isPlaying && `Live picture: ${dateTime(time)}.` : isForecast
        ? `Forecast for ${dateTime(time)}, in ${age(time - now())}. Not live.${withoutForecast(view)}`
        : `Past picture: ${dateTime(time)}, ${age(now() - time)} ago. Not live.`));
    add("clock", "warn", clockDifference() > CLOCKS_APART_MILLISECONDS
        && `This device's clock and the server's are ${age(clockDifference())} apart. Ages use the server's clock.`);
    const order = [...LEVELS, "simulated"];
    return new Map([...found].sort(([, a], [, b]) => order.indexOf(b.level) - order.indexOf(a.level)));
}

/** Names the visible layers without forecasts, because missing data is not smooth air.
 * @param {Billow.View} view */
function withoutForecast({ layers }) {
    const observed = LAYERS.filter(({ id, shape }) => layers.includes(id) && !FORECAST_SHAPES.includes(shape));
    return observed.length ? ` No observations for this time yet: ${observed.map(({ name }) => name).join(", ")}.` : "";
}

/** Now, for `shortTime`. It is no instant beside a picture of another day, where a time without its day would be read
 * as of that day.
 * @param {Knowledge} knowledge */
function nearOf(knowledge) {
    const time = pictureState(knowledge).time ?? now();
    return shortTime(time, now()) === clockTime(time) ? now() : NaN;
}

/** @param {Knowledge} knowledge */
function lostContact(knowledge) {
    const { contact: { since: contact, problem }, view } = knowledge;
    const staleLayers = contact !== null && now() - contact > LOST_CONTACT_MILLISECONDS;
    if (!problem && !staleLayers) return null;
    const reason = problem ?? "no response";
    if (contact === null) return `No response from the server yet: ${reason}.`;
    const time = shortTime(contact, nearOf(knowledge));
    const since = `No contact with the server since ${time} (${age(now() - contact)}): ${reason}.`;
    return view.time === null ? `${since} The map is not updating.` : since;
}

/** @param {Knowledge} knowledge */
function failedTiles({ pictures: { current, next }, missing = 0, contact: { problem } }) {
    const missed = current?.missedFailures;
    const [first] = [current?.failures, missed, next?.failures].flatMap((failures) => [...failures?.values() ?? []]);
    // The banner of lost contact has the reason already.
    const reason = problem || !first ? "" : ` (${first})`;
    if (missing) {
        return `HATCHED places have no picture: it could not be loaded${reason}. They may hide turbulence.`;
    }
    if (missed?.size) return `A newer picture could not be loaded${reason}. The map shows the one before. Retrying.`;
    return first ? `Parts of the picture could not be loaded${reason}. They may have less detail. Retrying.` : null;
}

/** Warns that saved tiles of different times are side by side. With contact, all tiles are renewed.
 * @param {Knowledge} knowledge */
function mixedTimes({ contact: { problem }, pictures: { current }, frame, view }) {
    if (!problem || frame || view.time !== null || !current) return null;
    const { frameTime, newestTime = null } = current;
    if (frameTime === null || newestTime === null || newestTime - frameTime <= MIXED_MILLISECONDS) return null;
    return `The parts of this picture were saved at different times, from ${shortTime(frameTime, now())} to ${
        shortTime(newestTime, now())}. Turbulence has moved between them.`;
}

/** @param {Knowledge} knowledge */
function staleData(knowledge) {
    const { billow, server } = knowledge;
    const view = shownView(knowledge);
    if (!billow) return null;
    const { time: shown, isOld } = pictureState(knowledge);
    if (isOld && shown !== null) {
        return `The picture is ${age(now() - shown)} old and has not been updated.`;
    }
    if (billow.unknown) return "The server does not say how old its data is.";
    const received = instantOf(billow.dataTime);
    const staleLayers = view.layers.filter((id) => server?.layers?.[id]?.stale);
    const names = staleLayers.map(layerName).join(", ");
    if (billow.stale) {
        if (received === null) {
            return `No data has been received yet for ${names || "this view"}. An empty map does not mean smooth air.`;
        }
        const last = `${shortTime(received, nearOf(knowledge))}, ${age(now() - received)} ago`;
        // A field is stale when its next run is overdue, however lately its source answered.
        const isOverdue = staleLayers.length > 0 && staleLayers.every(isField);
        const reason = isOverdue ? "A newer field is overdue. Last answer" : "Last received";
        return `The data is stale${names && `: ${names}`}. ${reason} ${last}.`;
    }
    if (
        received === null && server && !server.sources?.some(
            ({ kind, update }) => kind !== "stored" && update !== "none"
        )
    ) {
        return "No source is configured: the map shows stored data only, however old.";
    }
    return null;
}

/** Warns about incomplete data, which looks like smooth air in the live picture, at an instant and in the timeline.
 * @param {Knowledge} knowledge */
function incompleteData(knowledge) {
    const { billow, server, absent = [] } = knowledge;
    const { incomplete, isPlaying } = pictureState(knowledge);
    if (!incomplete) return null;
    const near = nearOf(knowledge);
    // One request for all layers of a playing timeline names none.
    const inView = lackingOf(knowledge);
    const known = isPlaying && inView?.length ? null : inView;
    const lacking = isMarkedIncomplete(knowledge) ? known : [];
    const fields = LAYERS.filter(({ id }) => isField(id) && lacking?.includes(id) && !absent.includes(id));
    const others = lacking?.filter((id) => !absent.includes(id) && !fields.some((field) => field.id === id));
    const sentences = [];
    if (absent.length) sentences.push(`No ${absent.map(layerName).join(", ")} is stored for this time.`);
    if (fields.length) {
        const names = fields.map(({ name }) => name).join(", ");
        sentences.push(isHatched(knowledge) ? `${names} does not cover the whole map: hatched areas have no data.`
            : `${names} is not in this picture, or only in a part.`);
    }
    if (others?.length !== 0) {
        const missing = others ? `: ${others.map(layerName).join(", ")}` : "";
        sentences.push(`Some data is missing from this picture${missing}.`);
        const early = others?.filter((id) => isTooEarly(knowledge, id)) ?? [];
        for (const id of early.length ? early : [""]) {
            const since = instantOf((server?.layers?.[id] ?? billow)?.completeSince);
            if (since !== null) sentences.push(`The data is complete from ${shortTime(since, near)}${
                id && ` for ${layerName(id)}, of which little or nothing is stored for this time`}.`);
        }
    }
    if (knowledge.isEmpty) sentences.push("The whole map is hatched.");
    return `INCOMPLETE: ${sentences.join(" ")} Missing data may hide turbulence.`;
}

/** Whether the instant on the map is before the complete data of a layer.
 * @param {Knowledge} knowledge
 * @param {string} id */
export function isTooEarly(knowledge, id) {
    const { time, isLive } = pictureState(knowledge);
    return !isLive && time !== null && time < (instantOf(knowledge.server?.layers?.[id]?.completeSince) ?? 0);
}

/** @param {Billow.Status | null} server */
function brokenSources(server) {
    const broken = (server?.sources ?? []).filter((source) => source.reachable === false);
    if (!broken.length) return null;
    const reasons = broken.map((source) => {
        const error = source.lastError;
        const reason = typeof error === "string" ? error : error?.message ?? error?.detail;
        return reason ? `${source.id} (${reason})` : source.id;
    });
    return `Unreachable sources: ${reasons.join("; ")}.`;
}

/** The text at the top and its level. It never looks better than the banners, the legend and the list of sources.
 * @param {Knowledge} knowledge
 * @param {Map<string, { level: string }>} wanted */
export function stateOf(knowledge, wanted) {
    const worst = [...wanted.values()].reduce((level, banner) => Math.max(level, LEVELS.indexOf(banner.level)), 0);
    if (worst >= LEVELS.indexOf("bad")) return { level: "bad", text: wanted.has("contact") ? "No contact" : "Problem" };
    const { isLive, isForecast, isPlaying, isBehind, isOld } = pictureState(knowledge);
    const warning = worst >= LEVELS.indexOf("warn") ? "with a warning" : edgesOf(knowledge).length ? "incomplete"
        : knowledge.lacksSource ? "source missing" : null;
    const hasWarning = warning !== null;
    if (isBehind) return { level: "wait", text: "Loading…" };
    if (isPlaying) return { level: hasWarning ? "warn" : "past", text: "Playing" };
    if (isLive && knowledge.contact.isSilent) return { level: "wait", text: "Checking contact…" };
    if (isOld) return { level: "warn", text: "Old picture" };
    if (!isLive) return { level: hasWarning ? "warn" : "past", text: isForecast ? "Forecast" : "Past" };
    return hasWarning ? { level: "warn", text: `Live, ${warning}` } : { level: "good", text: "Live" };
}

/** The time of the picture and its age. The age of the newest data is only that of a live picture.
 * @param {Knowledge} knowledge */
export function timesOf(knowledge) {
    const parts = [];
    const { time, isLive } = pictureState(knowledge);
    if (time !== null) {
        const isAged = isLive && now() - time > STATED_AGE_MILLISECONDS;
        const text = shortTime(time, now()).replace(/ \d{4}/, "");
        parts.push(`Picture ${text}${isAged ? `, ${age(now() - time)} old` : ""}`);
        // The server's newest data is no part of another instant's picture.
        if (!isLive) parts.push(time > now() ? `in ${age(time - now())}` : `${age(now() - time)} ago`);
    }
    const received = instantOf(knowledge.billow?.dataTime);
    // The server may have newer data than the picture shows.
    const newest = time ?? Infinity;
    if (received !== null && (isLive || time === null && knowledge.view.time === null)) {
        parts.push(`data ${age(now() - Math.min(received, newest))} old`);
    }
    return parts.join(" · ");
}
