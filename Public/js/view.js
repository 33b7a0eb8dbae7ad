// @ts-check
// The view: a plain object with everything that the page shows. The URL's hash has the same content, so links share it.
//   layers       ids of layers, the lowest first; at least one
//   order        the user's order of layers, the lowest first, or null
//   opacities    layer id → percent; other layers are opaque
//   hours        the history in hours
//   minAltitude, maxAltitude   feet, whole thousands; null is open
//   minSeverity  an index of SEVERITIES
//   severities   a selection of such, in rising order, or null if minSeverity applies
//   category     the aircraft category that severities are for, or null for the server's default
//   sources      ids of sources, or null for all
//   time         an instant, or null for live
//   style        the id of one of the server's styles, or null for the style of the user's scheme
//   span         the id of one of the timeline's spans, or null for the default of the layers
//   frames       the number of the timeline's frames, or null for that of the span
//   route, level  waypoints with blanks between them, and the planned altitude in feet; null is none
//   passage      the speed and departure along the route, as in passage.js, or null
//   flight       the ICAO address of the followed aircraft, or null
//   place        [longitude, latitude] of the open card, or null
//   isRouteOpen  whether the card of the route is open
//   isGlobe      whether the map is a globe
//   zoom, longitude, latitude
import { HISTORIES, SEVERITIES } from "./datasets.js";
import { bandText, compactTime, dateTime, hoursText, parseCompactTime, parseInstant } from "./format.js";
import { defaultLayers, inDrawingOrder, layerName, LAYERS } from "./layers.js";

export { HISTORIES, SEVERITIES };
/** The ids of the timeline's spans; dock.js defines their start and end. */
export const SPAN_IDS = ["-1h", "-2h", "-6h", "-24h", "+2h", "-2h+6h", "+6h", "+18h", "server"];
/** The numbers of frames that index.html offers. */
const FRAMES = [7, 13, 25, 49];
/** The server accepts this many sources. */
const MAX_SOURCES = 32;
export const CEILING_FEET = 60_000;
/** Whether an altitude may be a route's planned level. The server's profiles have levels of whole thousands of feet.
 * @param {number} feet */
export const isPlannedLevel = (feet) => feet >= 0 && feet <= CEILING_FEET && feet % 1000 === 0;
/** @type {Billow.View} */
const DEFAULT = {
    layers: defaultLayers(null), order: null, opacities: {},
    hours: 2, minAltitude: null, maxAltitude: null, minSeverity: 0, severities: null,
    category: null, sources: null,
    time: null, style: null, span: null, frames: null, route: null, level: null, passage: null, flight: null,
    place: null, isRouteOpen: true, isGlobe: false,
    zoom: 4, longitude: -100, latitude: 39,
};

/** Sets the default layers. Links without layers show the default.
 * @param {string[]} layers */
export function setDefaultLayers(layers) {
    DEFAULT.layers = layers;
}

/** Parses a hash. An invalid member keeps its default and is reported in `problems`, because a link must not silently
 * show another picture. So is an unknown name. `named` has the names of the valid members.
 * @param {string} hash */
export function parseHash(hash) {
    const view = { ...DEFAULT };
    /** @type {string[]} */
    const problems = [];
    /** @type {string[]} */
    const named = [];
    /** @type {string[]} */
    const known = [];
    const values = new URLSearchParams(hash.replace(/^#/, ""));
    /** Returns the members of the view. If the text is invalid, it returns false, or the unknown word.
     * @typedef {(text: string) => Partial<Billow.View> | string | false} Read */
    /** @type {(name: string, expected: string, read: Read) => void} */
    const parse = (name, expected, read) => {
        known.push(name);
        const text = values.get(name);
        if (text === null) return;
        const members = read(text);
        if (members && typeof members === "object") {
            Object.assign(view, members);
            named.push(name);
            return;
        }
        const unknown = members ? `${members.slice(0, 40)} is unknown; ` : "";
        problems.push(`${name} is "${text.slice(0, 40)}"; ${unknown}it must be ${expected}`);
    };
    /** @param {string} text */
    const numbers = (text) => text.split("/").map((part) => (part === "" ? NaN : Number(part)));
    /** @param {string} text */
    const thousands = (text) => {
        const isThousands = /^\d{1,5}$/.test(text) && Number(text) % 1000 === 0 && Number(text) <= CEILING_FEET;
        return isThousands ? Number(text) : null;
    };

    const list = `a list of ${LAYERS.map(({ id }) => id).join(", ")}`;
    /** @param {string} id */
    const isLayer = (id) => LAYERS.some((known) => known.id === id);
    /** The first word of a list that is no layer; null if there is none.
     * @param {string[]} ids */
    const unknownLayer = (ids) => ids.find((id) => !isLayer(id)) ?? null;
    parse("layers", list, (text) => {
        const layers = text.split(",");
        return unknownLayer(layers) ?? { layers: inDrawingOrder(layers) };
    });
    parse("order", list, (text) => {
        const order = [...new Set(text.split(","))];
        return unknownLayer(order) ?? { order, layers: inDrawingOrder(view.layers, order) };
    });
    parse("opacity", `percentages such as ${LAYERS.slice(0, 2).map(({ id }) => `${id}:60`).join()}`, (text) => {
        const given = text.split(",").map((part) => /^([a-z]+):(\d{1,3})$/.exec(part) ?? []);
        return given.every(([, id, percent]) => isLayer(id) && Number(percent) >= 10 && Number(percent) <= 100)
            && { opacities: Object.fromEntries(given.map(([, id, percent]) => [id, Number(percent)])) };
    });
    parse("hours", `one of ${HISTORIES.join(", ")}`, (text) =>
        text !== "" && HISTORIES.includes(Number(text)) && { hours: Number(text) });
    parse("min", "whole thousands of feet from 0 to 59000", (text) => {
        const feet = thousands(text);
        return feet !== null && feet < CEILING_FEET && { minAltitude: feet || null };
    });
    parse("max", "whole thousands of feet up to 60000, above min", (text) => {
        const feet = thousands(text);
        return feet !== null && feet > (view.minAltitude ?? 0) && { maxAltitude: feet };
    });
    const worst = SEVERITIES.length - 1;
    /** @param {string} text */
    const isSeverity = (text) => /^\d$/.test(text) && Number(text) <= worst;
    parse("severity", `0 to ${worst}`, (text) => isSeverity(text) && { minSeverity: Number(text) });
    parse("severities", `some of 0 to ${worst}, such as 1,3`, (text) => {
        const wanted = text.split(",");
        return wanted.length <= SEVERITIES.length && wanted.every(isSeverity) && severitiesOf(wanted.map(Number));
    });
    parse("category", "an aircraft category, such as C60", (category) => /^C\d{2,3}$/.test(category) && { category });
    parse("sources", "ids of sources", (text) => {
        const sources = [...new Set(text.split(","))];
        return sources.every((id) => id !== "") && sources.length <= MAX_SOURCES && { sources };
    });
    parse("time", "an instant such as 20260721T200000Z", (text) => {
        const time = parseInstant(text);
        return time !== null && { time };
    });
    parse("style", "the id of a style, such as night", (style) => /^[a-z0-9-]{1,40}$/.test(style) && { style });
    parse("span", "the id of a span, such as -6h", (span) => SPAN_IDS.includes(span) && { span });
    parse("frames", `one of ${FRAMES.join(", ")}`, (text) =>
        FRAMES.includes(Number(text)) && { frames: Number(text) });
    parse("route", "waypoints separated by blanks", (route) =>
        /^[\w.,-]{2,24}( [\w.,-]{2,24}){1,60}$/.test(route) && { route });
    parse("level", "a flight level of whole thousands of feet, such as 370", (text) => /^\d{1,3}$/.test(text)
        && isPlannedLevel(Number(text) * 100) && { level: Number(text) * 100 });
    parse("passage", "a speed and a departure, such as plan,450kt,20260721T140000Z", (passage) => {
        const [, time] = /^(?:plan|typed)(?:,[1-9]\d{1,2}kt|,1\d{3}kt)?(?:,(\d\w+))?$/.exec(passage) ?? [passage, ""];
        return (time === undefined || parseCompactTime(time) !== null) && { passage };
    });
    parse("flight", "an aircraft's ICAO address, such as a1b2c3", (flight) =>
        /^[0-9a-f]{6}$/.test(flight) && { flight });
    parse("place", "latitude/longitude", (text) => {
        const [latitude, longitude] = numbers(text);
        return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && { place: [longitude, latitude] };
    });
    parse("routecard", "closed", (text) => text === "closed" && { isRouteOpen: false });
    parse("projection", "globe", (text) => text === "globe" && { isGlobe: true });
    parse("map", "zoom/latitude/longitude", (text) => {
        const [zoom, latitude, longitude] = numbers(text);
        return zoom >= 0 && zoom <= 24 && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 540
            && { zoom, latitude, longitude };
    });
    for (const name of new Set(values.keys())) {
        if (known.includes(name)) continue;
        problems.push(`${name.slice(0, 40)} is unknown; it must be one of ${known.join(", ")}`);
    }
    return { view, problems, named };
}

/** The hash of a view, without members at their default.
 * @param {Billow.View} view */
export function formatHash(view) {
    const isFirst = [...view.layers].sort().join() === [...DEFAULT.layers].sort().join();
    const parts = [`map=${view.zoom.toFixed(2)}/${view.latitude.toFixed(3)}/${view.longitude.toFixed(3)}`];
    if (view.isGlobe) parts.push("projection=globe");
    if (!isFirst) parts.push(`layers=${view.layers.join()}`);
    if (view.order) parts.push(`order=${view.order.join()}`);
    const translucent = Object.entries(view.opacities).filter(([, percent]) => percent < 100);
    if (translucent.length) parts.push(`opacity=${translucent.map((pair) => pair.join(":")).join()}`);
    if (view.hours !== DEFAULT.hours) parts.push(`hours=${view.hours}`);
    if (view.minAltitude !== null) parts.push(`min=${view.minAltitude}`);
    if (view.maxAltitude !== null) parts.push(`max=${view.maxAltitude}`);
    if (view.severities) parts.push(`severities=${view.severities.join()}`);
    else if (view.minSeverity > 0) parts.push(`severity=${view.minSeverity}`);
    if (view.category !== null) parts.push(`category=${view.category}`);
    if (view.sources) parts.push(`sources=${view.sources.map(encodeURIComponent).join()}`);
    if (view.route !== null) parts.push(`route=${view.route.replaceAll(" ", "+")}`);
    if (view.level !== null) parts.push(`level=${view.level / 100}`);
    if (view.route !== null && view.passage !== null) parts.push(`passage=${view.passage}`);
    if (view.flight !== null) parts.push(`flight=${view.flight}`);
    if (view.place !== null) parts.push(`place=${view.place[1].toFixed(4)}/${view.place[0].toFixed(4)}`);
    if (view.route !== null && !view.isRouteOpen) parts.push("routecard=closed");
    if (view.style !== null) parts.push(`style=${view.style}`);
    if (view.span !== null) parts.push(`span=${encodeURIComponent(view.span)}`);
    if (view.frames !== null) parts.push(`frames=${view.frames}`);
    if (view.time !== null) parts.push(`time=${compactTime(view.time)}`);
    return `#${parts.join("&")}`;
}

/** The filters as parameters of the server. All routes accept the same ones.
 * @param {Billow.View} view */
export function filters(view) {
    const parameters = new URLSearchParams({ hours: String(view.hours) });
    if (view.minAltitude !== null) parameters.set("minAltitude", String(view.minAltitude));
    if (view.maxAltitude !== null) parameters.set("maxAltitude", String(view.maxAltitude));
    if (view.severities) parameters.set("severity", view.severities.join());
    else if (view.minSeverity > 0) parameters.set("minSeverity", String(view.minSeverity));
    if (view.category !== null) parameters.set("category", view.category);
    if (view.sources) parameters.set("source", view.sources.join());
    return parameters;
}

/** The address of a view's TileJSON, at an instant in compact form.
 * @param {Billow.View} view
 * @param {string | null} time
 * @returns {[path: string, parameters: URLSearchParams]} */
export function pictureAddress(view, time) {
    const query = filters(view);
    if (time !== null) query.set("time", time);
    return [`tiles/${view.layers.join()}.json`, query];
}

/** Converts a selection of severities to members of a view. A severity and all worse ones become `minSeverity`.
 * @param {number[]} wanted
 * @returns {Pick<Billow.View, "minSeverity" | "severities">} */
export function severitiesOf(wanted) {
    const severities = [...new Set(wanted)].sort((a, b) => a - b);
    const minSeverity = severities[0] ?? 0;
    const isOpen = severities.length === 0 || severities.length === SEVERITIES.length - minSeverity;
    return { minSeverity, severities: isOpen ? null : severities };
}

/** Whether a view shows a severity.
 * @param {Billow.View} view
 * @param {number} severity */
export const showsSeverity = ({ severities, minSeverity }, severity) =>
    severities ? severities.includes(severity) : severity >= minSeverity;

/** The shorter text of those that a view shows, or hides: "Without Moderate".
 * @param {Billow.View} view */
function severitiesText({ severities, minSeverity }) {
    if (!severities) return severityText(minSeverity);
    const hidden = SEVERITIES.filter((_, severity) => !severities.includes(severity));
    return hidden.length < severities.length ? `Without ${hidden.join(" and ")}`
        : severities.map((severity) => SEVERITIES[severity]).join(" and ");
}

/** @param {number} minSeverity */
export function severityText(minSeverity) {
    if (minSeverity === 0) return "All severities";
    return minSeverity === SEVERITIES.length - 1 ? SEVERITIES[minSeverity] : `${SEVERITIES[minSeverity]} or worse`;
}

/** The category and the sources that a view selects.
 * @param {Billow.View} view */
const originTexts = ({ category, sources }) => [
    ...(category === null ? [] : [`for ${category}`]), ...(sources ? [`from ${sources.join(" and ")}`] : []),
];

/** The view's settings in one line.
 * @param {Billow.View} view
 * @param {boolean} isLost  whether contact is lost, so that the live picture is not renewed */
export function summary(view, isLost = false) {
    const time = view.time === null ? (isLost ? "Not live" : "Live") : dateTime(view.time);
    return `${time} · ${settingsText(view)}`;
}

/** The view's filters and layers in one line.
 * @param {Billow.View} view */
export const settingsText = (view) => [
    hoursText(view.hours), bandText(view.minAltitude, view.maxAltitude), severitiesText(view), ...originTexts(view),
    view.layers.map((id) => [layerName(id), ...opacitiesOf(view, [id])].join(" at ")).join(", "),
].join(" · ");

/** The opacities of those layers that are translucent: "30 %".
 * @param {Billow.View} view
 * @param {string[]} layers */
const opacitiesOf = ({ opacities }, layers) =>
    layers.flatMap((id) => ((opacities[id] ?? 100) < 100 ? `${opacities[id]} %` : []));

/** Names the layers whose colours are paler than those of the legend, or null. A pale colour looks like a lighter
 * severity.
 * @param {Billow.View} view */
export function opacityText(view) {
    const pale = view.layers.flatMap((id) => opacitiesOf(view, [id]).map((percent) => `${layerName(id)} ${percent}`));
    return pale.length ? `Paler than the legend: ${pale.join(", ")}` : null;
}

/** Describes the data that the filters hide, or null. A filtered picture must not look like a complete one.
 * @param {Billow.View} view */
export function filterText(view) {
    const parts = [];
    if (view.minAltitude !== null || view.maxAltitude !== null) {
        parts.push(bandText(view.minAltitude, view.maxAltitude));
    }
    const severities = view.minSeverity > 0 || view.severities ? severitiesText(view) : null;
    const isWithout = severities?.startsWith("Without ");
    if (severities && !isWithout) parts.push(severities);
    parts.push(...originTexts(view));
    if (!isWithout) return parts.length ? `Only ${parts.join(", ")}` : null;
    return parts.length ? `Only ${parts.join(", ")}, w${severities?.slice(1)}` : severities;
}
