// @ts-check
// How much the picture can be trusted, in words: the line at the top and the banners under it.
import { byId, element } from "./dom.js";
import { age, dateTime, instantOf, near } from "./format.js";
import { clockDifference, now } from "./server.js";
import { layerName, leftOut, summary } from "./view.js";

/** The server makes a publication each minute and is asked four times in one; thrice that is not chance. */
const OLD_PICTURE_MILLISECONDS = 180_000;
const LOST_CONTACT_MILLISECONDS = 40_000;
const CLOCKS_APART_MILLISECONDS = 120_000;
const LEVELS = ["good", "wait", "past", "warn", "bad"];

/** What is known of the picture on the map.
 * @typedef {{
 *     request: { subject: string, key: string, asOf: number | null }, frameTime: number | null, simulated: boolean,
 *     incomplete: boolean, failures: Map<string, string>,
 * }} ShownPicture */

/** What a page knows about its picture; viewer.js fills it in.
 * @typedef {{
 *     view: Billow.View,
 *     billow: Billow.Publication | null,
 *     server: Billow.Status | null,
 *     contact: number | null,
 *     contactProblem: string | null,
 *     problems: Map<string, string>,
 *     pictures: { current: ShownPicture | null, next: ShownPicture | null, isOther: boolean },
 *     frame: Billow.Frame | null,
 * }} Knowledge
 *
 * `billow` is the member of the TileJSON, `server` is `/status`. `contact` is when the server last answered, by its
 * clock, and `contactProblem` why it does not. `problems` are what else failed: subject → words. `frame` is what the
 * timeline shows, or null where it isn't in use. */

/** @param {Billow.View} view
 * @returns {Knowledge} */
export function emptyKnowledge(view) {
    return {
        view, billow: null, server: null, contact: null, contactProblem: null, problems: new Map(),
        pictures: { current: null, next: null, isOther: false }, frame: null,
    };
}

export class StatusBar {
    /** @type {Map<string, HTMLElement>} */
    #banners = new Map();
    #root = byId("banners");
    #backToLive;

    /** @param {() => void} backToLive */
    constructor(backToLive) { this.#backToLive = backToLive; }

    /** Shows it all anew. Cheap: elements change only where their words do.
     * @param {Knowledge} knowledge */
    show(knowledge) {
        const wanted = banners(knowledge);
        for (const [key, banner] of this.#banners) {
            if (!wanted.has(key)) {
                banner.remove();
                this.#banners.delete(key);
            }
        }
        for (const [key, { level, text }] of wanted) this.#show(key, level, text);
        const order = [...wanted.keys()].flatMap((key) => this.#banners.get(key) ?? []);
        // Moving an element reads it out again, so only where the order differs.
        if (order.some((banner, index) => this.#root.children[index] !== banner)) this.#root.replaceChildren(...order);
        const state = stateOf(knowledge, wanted);
        const root = byId("state");
        root.dataset.level = state.level;
        setText(byId("state-text"), state.text);
        setText(byId("times"), timesOf(knowledge));
        setText(byId("summary"), summary(knowledge.view));
        const filtered = byId("filtered");
        filtered.hidden = leftOut(knowledge.view) === null;
        setText(filtered, leftOut(knowledge.view) ?? "");
        document.title = wanted.has("simulated") ? "SIMULATED · Billow" : "Billow · turbulence map";
    }

    /** @param {string} key
     * @param {string} level
     * @param {string} text */
    #show(key, level, text) {
        let banner = this.#banners.get(key);
        if (!banner) {
            // Ages in a banner tick; only its appearance is worth interrupting a screen reader for.
            banner = element("div", { className: "banner", role: level === "bad" ? "alert" : "status" }, element("p"));
            if (key === "past") banner.append(
                element("button", { type: "button", onclick: this.#backToLive }, "Back to live")
            );
            this.#banners.set(key, banner);
        }
        banner.dataset.level = level;
        setText(banner.firstChild, text);
    }
}

/** @param {Node | null} node
 * @param {string} text */
function setText(node, text) {
    if (node && node.textContent !== text) node.textContent = text;
}

/** Everything that must be said, worst first after the simulation.
 * @param {Knowledge} knowledge */
export function banners(knowledge) {
    const { view, billow, pictures, problems } = knowledge;
    /** @type {Map<string, { level: string, text: string }>} */
    const found = new Map();
    /** @param {string} key
     * @param {string} level
     * @param {string | false | null | undefined} text */
    const say = (key, level, text) => {
        if (text) found.set(key, { level, text });
    };
    const simulated = billow?.simulated || knowledge.server?.simulated
        || pictures.current?.simulated || pictures.next?.simulated;
    say("simulated", "simulated", simulated && "SIMULATED DATA — not for operational use");
    say("contact", "bad", lostContact(knowledge));
    for (const [subject, words] of problems) say(
        `problem ${subject}`, subject === "This link" ? "warn" : "bad", `${subject}: ${words}`
    );
    say("tiles", "bad", missingTiles(pictures));
    say("stale", "warn", staleData(knowledge));
    say("incomplete", "warn", incompleteData(knowledge));
    say("sources", "warn", brokenSources(knowledge.server));
    const past = pastTime(knowledge);
    // Said once it stands still: while it plays, the line at the top and the timeline say it.
    say("past", "past", past !== null && !knowledge.frame?.playing && (past > now()
        ? `Forecast for ${dateTime(past)}, in ${age(past - now())}. Not live.`
        : `Past picture: ${dateTime(past)}, ${age(now() - past)} ago. Not live.`));
    say("clock", "warn", clockDifference() > CLOCKS_APART_MILLISECONDS
        && `This device's clock and the server's are ${age(clockDifference())} apart. Ages are by the server's.`);
    return found;
}

/** The instant on the map where that isn't the live one, else null.
 * @param {Knowledge} knowledge */
function pastTime({ view, frame }) {
    return frame ? (frame.live ? null : frame.time) : view.time;
}

/** @param {Knowledge} knowledge */
function lostContact({ contact, contactProblem, view }) {
    const silent = contact !== null && now() - contact > LOST_CONTACT_MILLISECONDS;
    if (!contactProblem && !silent) return null;
    const reason = contactProblem ?? "no answer";
    if (contact === null) return `No answer from the server yet: ${reason}.`;
    const since = `No contact with the server since ${near(contact, now())} (${age(now() - contact)}): ${reason}.`;
    return view.time === null ? `${since} The map does not get newer.` : since;
}

/** @param {Knowledge["pictures"]} pictures */
function missingTiles({ current, next }) {
    const failures = [...(current?.failures ?? []), ...(next?.failures ?? [])];
    if (!failures.length) return null;
    const tiles = failures.length === 1 ? "A part of the picture" : `${failures.length} parts of the picture`;
    return `${tiles} could not be loaded (${failures[0][1]}). Turbulence may be missing on the map. Trying again.`;
}

/** @param {Knowledge} knowledge */
function staleData({ billow, pictures, server, view }) {
    if (!billow) return null;
    const shown = pictureTime(pictures);
    if (view.time === null && shown !== null && now() - shown > OLD_PICTURE_MILLISECONDS) {
        return `The picture is ${age(now() - shown)} old and has not been renewed.`;
    }
    if (billow.unknown) return "The server does not say how old its data is.";
    const received = instantOf(billow.dataTime);
    const silent = view.layers.filter((id) => server?.layers?.[id]?.stale);
    const names = silent.map(layerName).join(", ");
    if (billow.stale) {
        if (received === null) {
            return `No data has been received yet for ${names || "what is shown"}. An empty map is not a smooth one.`;
        }
        const last = `${near(received, now())}, ${age(now() - received)} ago`;
        return `The data is stale${names && `: ${names}`}. Last received ${last}.`;
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

/** What the log does not hold looks like smooth air, in the live picture, at an instant and in the timeline alike.
 * @param {Knowledge} knowledge */
function incompleteData({ billow, pictures, frame }) {
    const incomplete = frame ? frame.incomplete : billow?.incomplete || pictures.current?.incomplete;
    // While it plays, the timeline says it at each frame.
    if (!incomplete || frame?.playing) return null;
    const since = instantOf(billow?.completeSince);
    const words = since === null ? "" : ` The log is complete since ${near(since, now())}.`;
    return `INCOMPLETE: some data of this picture is missing. An empty map is not a smooth one.${words}`;
}

/** @param {Billow.Status | null} server */
function brokenSources(server) {
    const broken = (server?.sources ?? []).filter((source) => source.reachable === false);
    if (!broken.length) return null;
    const words = broken.map((source) => {
        const error = source.lastError;
        const reason = typeof error === "string" ? error : error?.message ?? error?.detail;
        return reason ? `${source.id} (${reason})` : source.id;
    });
    return `Can't be reached: ${words.join("; ")}.`;
}

/** The instant of the picture on the map, or null where there is none.
 * @param {Knowledge["pictures"]} pictures */
function pictureTime(pictures) {
    const picture = pictures.current;
    return picture ? picture.frameTime ?? picture.request.asOf : null;
}

/** The word at the top, and how bad it is.
 * @param {Knowledge} knowledge
 * @param {Map<string, { level: string }>} wanted */
export function stateOf({ view, pictures, frame }, wanted) {
    const worst = [...wanted.values()].reduce((level, banner) => Math.max(level, LEVELS.indexOf(banner.level)), 0);
    if (worst >= LEVELS.indexOf("bad")) return { level: "bad", text: wanted.has("contact") ? "No contact" : "Trouble" };
    if (!pictures.current || pictures.isOther) return { level: "wait", text: "Loading…" };
    if (frame?.playing) return { level: "past", text: "Playing" };
    if (frame && !frame.live) return { level: "past", text: "Past" };
    if (worst >= LEVELS.indexOf("warn")) return {
        level: "warn", text: view.time === null ? "Live, with a warning" : "Past"
    };
    return view.time === null ? { level: "good", text: "Live" } : { level: "past", text: "Past" };
}

/** @param {Knowledge} knowledge */
function timesOf({ billow, pictures, frame }) {
    const parts = [];
    const shown = frame ? frame.time : pictureTime(pictures);
    if (shown !== null) parts.push(`Picture ${near(shown, now())}`);
    const received = instantOf(billow?.dataTime);
    if (received !== null) parts.push(`data received ${age(now() - received)} ago`);
    return parts.join(" · ");
}
