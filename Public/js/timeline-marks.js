// @ts-check
// Draws the frames of the timeline: a mark per frame, hours, and a row per layer with the layer's own frames. Loaded
// after the first picture.
import { byId, element, setText } from "./dom.js";
import { clockText } from "./clock-text.js";
import { clockTime } from "./format.js";
import { countedText, severitiesIn } from "./hidden-severities.js";
import { isField, layerName, LAYERS } from "./layers.js";
import { getJSON } from "./server.js";

const SWATCH = "#legend [data-severity='3'] path";
const HOUR = 3_600_000;
/** Hours between labels, and the maximum number of labels. */
const LABEL_HOURS = [1, 2, 3, 6, 12, 24];
const MAX_LABELS = 9;
const BAR_PIXELS = 10;
const COUNTED = "Bars of the whole world. Filled: cells with reports. Striped: points of the computed field. "
    + "Each kind has its own scale.";
/** The least time between two drawings of the loaded frames. */
const READY_MILLISECONDS = 250;
/** The manifests of the layers and of the picture may begin in different minutes. */
const SKEW_MILLISECONDS = 120_000;

/** The frames by which each key moves the thumb. The slider's own steps would be milliseconds.
 * @type {Record<string, number>} */
const STEPS = {
    ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -4, PageUp: 4, Home: -Infinity, End: Infinity,
};

/** @typedef {{
 *     time: string, tiles?: string, forecast?: boolean, incomplete?: boolean, product?: string, run?: string,
 *     lead?: number,
 * }} ManifestFrame
 * @typedef {(number | null)[]} Counts  one per frame
 * @typedef {{
 *     id: string, frames: ManifestFrame[], moderateOrWorse?: Counts, fieldModerateOrWorse?: Counts,
 * }} ManifestLayer */

export class TimelineMarks {
    /** The instants of the frames, oldest first.
     * @type {number[]} */
    times = [];
    /** The index of the live frame: the last one that is no forecast. */
    liveIndex = 0;
    #marks = byId("marks");
    #scale = byId("scale");
    #scrubber = byId("scrubber", HTMLInputElement);
    /** The layers of `#scale`, which has a row per layer.
     * @type {ManifestLayer[]} */
    #layers = [];
    #isCounted = false;
    /** What the bars count. */
    #counted = "";
    /** @type {boolean[]} */
    #ready = [];
    /** @type {number | null} */
    #drawing = null;
    #requests = 0;
    /** The instant of the thumb, or of the mark outside the span. */
    #time = NaN;
    /** Where that is outside the span.
     * @type {"before" | "after" | null} */
    #outside = null;
    #outsideMark = element("p", { className: "outside" });

    /** @param {() => void} chosen  called if the user chooses a frame without a change of the slider's value */
    constructor(chosen) {
        this.#scrubber.after(this.#outsideMark);
        this.#scrubber.addEventListener("click", () => this.#outside && chosen());
        this.#scrubber.addEventListener("keydown", (event) => {
            const step = STEPS[event.key];
            if (step === undefined || event.altKey || event.ctrlKey || event.metaKey || !this.times.length) return;
            event.preventDefault();
            if (this.isAtEnd(step)) return;
            this.#point(this.frameBeside(this.times, this.#time, step));
            chosen();
        });
    }

    /** Moves the thumb to the frame nearest to the slider's value. Returns whether that is another instant than before.
     */
    choose() {
        const { times } = this;
        if (!times.length) return true;
        const before = this.#time;
        this.#time = this.frameNear(times, Number(this.#scrubber.value) / Number(this.#scrubber.max));
        this.#point(this.#time);
        this.#drawOutside(null, "");
        return this.#time !== before;
    }

    /** Whether no frame of the span is further in a direction.
     * @param {number} step  negative is back in time */
    isAtEnd(step) { return this.#outside === (step < 0 ? "before" : "after"); }

    /** The instant of the frame beside another instant; null is live.
     * @param {number[]} times  the instants of the frames
     * @param {number | null} time
     * @param {number} step  negative is back in time */
    frameBeside(times, time, step) {
        const index = this.#indexAt(time, times);
        // Between two frames, one step back leads to the earlier frame.
        const isBetween = time !== null && times[index] !== time;
        return times[Math.min(Math.max(index + step + (isBetween && step < 0 ? 1 : 0), 0), times.length - 1)];
    }

    /** The index of the last frame at an instant or before it; null is live.
     * @param {number | null} time
     * @param {number[]} times */
    #indexAt(time, times) {
        // The live frame is not the last one if the timeline has forecasts.
        return time === null ? this.liveIndex : times.findLastIndex((each) => each <= time);
    }

    /** The instant of the frame that is nearest to a place of the strip.
     * @param {number[]} times  the instants of the frames
     * @param {number} place  from 0 to 1 */
    frameNear(times, place) {
        const time = times[0] + place * (times[times.length - 1] - times[0]);
        return times.reduce((best, each) => (Math.abs(each - time) < Math.abs(best - time) ? each : best));
    }

    /** Shows an instant on the strip; null is live. The strip is linear in time, so the thumb points at exactly this
     * instant, also between two frames. Outside the span a mark at the end of the strip has the time. Returns words for
     * the latter.
     * @param {number | null} time */
    place(time) {
        const { times } = this;
        if (!times.length) return "";
        this.#time = time ?? times[this.liveIndex];
        this.#point(this.#time);
        const [first, last] = [times[0], times[times.length - 1]];
        const outside = this.#time < first ? "before" : this.#time > last ? "after" : null;
        return this.#drawOutside(outside, `${clockText(this.#time, outside === "before" ? first : last)}Z`);
    }

    /** @param {number} time */
    #point(time) { this.#scrubber.value = String(time - this.times[0]); }

    /** @param {"before" | "after" | null} outside
     * @param {string} time */
    #drawOutside(outside, time) {
        this.#outside = outside;
        this.#scrubber.toggleAttribute("data-outside", outside !== null);
        this.#outsideMark.hidden = outside === null;
        this.#outsideMark.dataset.end = outside ?? "";
        for (const [id, end] of [["step-back", "before"], ["step-forward", "after"]]) {
            byId(id).setAttribute("aria-disabled", String(outside === end));
        }
        setText(this.#outsideMark, outside === "before" ? `← ${time}` : `${time} →`);
        return outside ? `${outside} the span` : "";
    }

    /** Requests the layers' own frames and, unless a player supplies them, the frames of the timeline.
     * @param {string[]} layers
     * @param {Record<string, unknown>} parameters  of the manifest
     * @param {() => boolean} hasPlayer */
    async load(layers, parameters, hasPlayer) {
        const request = ++this.#requests;
        /** @param {boolean} isComposed
         * @returns {Promise<ManifestLayer[]>} */
        const get = async (isComposed) => {
            const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
            const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
            query.set("layers", layers.join());
            query.set("anchor", "true");
            if (isComposed) query.set("composed", "true");
            return (await getJSON("timeline.json", query)).layers;
        };
        const isComposed = layers.length > 1;
        const [own, composed] = await Promise.all([get(false), isComposed && !hasPlayer() ? get(true) : null]);
        if (request !== this.#requests) return;
        this.#layers = own.filter(({ id }) => layers.includes(id)).reverse()
            .map((layer) => ({ ...layer, frames: ownFrames(layer) }));
        const [whole] = composed ?? (isComposed ? [] : own);
        if (whole && !hasPlayer()) this.showFrames(whole);
        else this.#drawScale();
    }

    /** Creates a mark per frame. Its bar shows how much moderate turbulence or worse the frame has, if the server
     * counts it: in cells of reports, or in points of a field where the frame shows no cells.
     * @param {ManifestLayer} layer */
    showFrames({ frames, moderateOrWorse: cells = [], fieldModerateOrWorse: points = [] }) {
        const times = frames.map(({ time }) => Date.parse(time));
        // The player reports only changes of the loaded frames.
        if (times.join() !== this.times.join()) this.#ready = [];
        this.times = times;
        this.liveIndex = Math.max(0, frames.findLastIndex(({ forecast }) => forecast !== true));
        this.#isCounted = cells.length > 0 || points.length > 0;
        // The addresses of the tiles have the filter of these frames, which the user may have changed meanwhile.
        this.#counted = countedText(severitiesIn(new URLSearchParams(frames[0]?.tiles?.split("?")[1])));
        const bars = countBars(cells, points);
        this.#scrubber.max = String(Math.max(times[times.length - 1] - times[0], 1));
        this.#marks.replaceChildren(...frames.map(({ forecast, incomplete }, index) => {
            const mark = element("span");
            const [from, to] = extentOf(index, times);
            mark.style.setProperty("--from", from.toFixed(4));
            mark.style.setProperty("--to", to.toFixed(4));
            const bar = bars[index];
            if (bar) mark.append(barOf(bar));
            mark.toggleAttribute("data-forecast", forecast === true);
            mark.toggleAttribute("data-incomplete", incomplete === true);
            return mark;
        }));
        this.#drawReady();
        this.#drawScale();
    }

    /** Marks the loaded frames, soon, because each drawing of the page delays the loading.
     * @param {boolean[]} ready  one flag per frame */
    showReady(ready) {
        this.#ready = ready;
        this.#drawing ??= setTimeout(() => this.#drawReady(), READY_MILLISECONDS);
    }

    #drawReady() {
        clearTimeout(this.#drawing ?? undefined);
        this.#drawing = null;
        for (const [index, isReady] of this.#ready.entries()) {
            this.#marks.children[index]?.toggleAttribute("data-ready", isReady);
        }
    }

    /** The layers with a frame of their own at the instant of the thumb's frame, or after the frame before it. */
    get added() {
        const index = this.#indexAt(this.#time, this.times);
        const [before = -Infinity, time] = [this.times[index - 1], this.times[index]];
        return this.#layers.filter(({ frames }) => frames.some((frame) => {
            const own = Date.parse(frame.time);
            return own > before && own <= time;
        })).map(({ id }) => layerName(id));
    }

    #drawScale() {
        const { times } = this;
        if (times.length < 2) return this.#scale.replaceChildren();
        const hours = labelledHours(times).map((time) => placed(positionOf(time, times),
            element("span", {}, `${clockTime(time).slice(0, 2)}Z`)));
        const present = placed(positionOf(times[this.liveIndex], times), element("div", { className: "now" }));
        this.#scale.replaceChildren(present,
            element("div", { className: "hours" },
                this.#isCounted ? element("b", { title: `${this.#counted}. ${COUNTED}` }, this.#counted)
                    : element("b", {}, "Frames"),
                element("b", {}, "UTC"), ...hours),
            ...this.#layers.map((layer) => rowOf(layer, times)));
    }
}

/** The frames of a layer that show something of its own. A frame of a field may have no field, or still that of the
 * frame before it.
 * @param {ManifestLayer} layer */
export function ownFrames({ id, frames }) {
    /** @param {ManifestFrame | undefined} frame */
    const fieldOf = (frame) => [frame?.product, frame?.run, frame?.lead].join(" ");
    return isField(id) ? frames.filter((frame, index) =>
        frame.product !== undefined && fieldOf(frame) !== fieldOf(frames[index - 1])) : frames;
}

/** Whether an instant has a place on the timeline.
 * @param {number} time
 * @param {number[]} times */
export const isWithin = (time, times) =>
    time >= times[0] - SKEW_MILLISECONDS && time <= times[times.length - 1] + SKEW_MILLISECONDS;

/** The row of a layer. Filled marks are observed or current, hollow ones are forecasts, diamonds are computed.
 * @param {ManifestLayer} layer
 * @param {number[]} times */
function rowOf({ id, frames: all }, times) {
    const isComputed = isField(id);
    const frames = all.filter(({ time }) => isWithin(Date.parse(time), times));
    const marks = frames.map(({ time, forecast, lead }) => {
        const isAhead = forecast === true || (lead ?? 0) > 0;
        return placed(positionOf(Date.parse(time), times), element("i", {
            className: [isComputed && "computed", isAhead && "ahead"].filter(Boolean).join(" "),
        }));
    });
    /** @type {Set<string>} */
    const found = new Set(frames.map(({ forecast, lead }) =>
        forecast || (lead ?? 0) > 0 ? "forecast" : isComputed ? "nowcast" : kindOf(id)));
    const kinds = KINDS.filter((kind) => found.has(kind));
    return element("div", { className: "own-frames", "data-layer": id },
        element("b", {}, `${layerName(id)}: ${kinds.join(", ") || "no frames"}`), ...marks);
}

/** The order in which a row names the kinds of its frames. An old nowcast may be missing, so the first frame does not
 * decide.
 * @type {readonly string[]} */
const KINDS = ["observed", "issued", "nowcast", "forecast"];

/** @param {string} id */
const kindOf = (id) => (LAYERS.find((layer) => layer.id === id)?.shape === "areas" ? "issued" : "observed");

/** The place of an instant between the first and the last frame, from 0 to 1.
 * @param {number} time
 * @param {number[]} times  instants of at least one frame, oldest first */
export function positionOf(time, times) {
    const [first, last] = [times[0], times[times.length - 1]];
    return Math.min(Math.max((time - first) / Math.max(last - first, 1), 0), 1);
}

/** The part of the strip that is nearer to a frame than to any other, as two places from 0 to 1.
 * @param {number} index
 * @param {number[]} times
 * @returns {[from: number, to: number]} */
export function extentOf(index, times) {
    const place = positionOf(times[index], times);
    const before = index > 0 ? positionOf(times[index - 1], times) : place;
    const after = index < times.length - 1 ? positionOf(times[index + 1], times) : place;
    return [(before + place) / 2, (place + after) / 2];
}

/** The whole hours to label, between the first and the last frame.
 * @param {number[]} times */
export function labelledHours(times) {
    const [first, last] = [times[0], times[times.length - 1]];
    const step = HOUR * (LABEL_HOURS.find((hours) => (last - first) / (hours * HOUR) < MAX_LABELS) ?? 24);
    const start = Math.ceil(first / step) * step;
    return Array.from({ length: Math.max(0, Math.floor((last - start) / step) + 1) }, (_, index) =>
        start + index * step);
}

/** @template {HTMLElement} Node
 * @param {number} share  place on the timeline, from 0 to 1
 * @param {Node} node */
function placed(share, node) {
    node.style.setProperty("--at", share.toFixed(4));
    return node;
}

/** The bar of each frame, or null for a frame without moderate turbulence. A field has values everywhere, and reports
 * are where aircraft fly, so each kind has its own scale.
 * @param {Counts} cells
 * @param {Counts} points
 * @returns {({ share: number, isField: boolean } | null)[]}  relative to the highest count of the kind */
export function countBars(cells, points) {
    const kinds = Array.from({ length: Math.max(cells.length, points.length) }, (_, index) => {
        const count = cells[index] ?? null;
        return count === null ? { count: points[index] ?? 0, isField: true } : { count, isField: false };
    });
    /** @param {boolean} isField */
    const highest = (isField) => Math.max(1, ...kinds.map((kind) => (kind.isField === isField ? kind.count : 0)));
    const [most, mostOfField] = [highest(false), highest(true)];
    return kinds.map(({ count, isField }) =>
        (count > 0 ? { share: count / (isField ? mostOfField : most), isField } : null));
}

/** @param {{ share: number, isField: boolean }} bar */
function barOf({ share, isField }) {
    const bar = element("i");
    bar.toggleAttribute("data-field", isField);
    bar.style.height = `${Math.max(2, Math.round(share * BAR_PIXELS))}px`;
    bar.style.setProperty("--bar", document.querySelector(SWATCH)?.getAttribute("fill") ?? "");
    return bar;
}
