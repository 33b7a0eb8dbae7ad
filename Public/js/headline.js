// @ts-check
// The headline of a place's card: the worst turbulence that the map shows there, from all visible layers. A section of
// the card that only knows its own layer must not name the place: a smooth report may lie beside a severe forecast.
import { element, swatch } from "./dom.js";
import { SEVERITIES } from "./view.js";

/** The greatest distance of what gives the headline from the place, in pixels. A finger finds features further away. */
export const HEADLINE_PIXELS = 12;

/** What the sections rate at the place; `severity` is null for an area whose severity is not known.
 * @type {WeakMap<Node, { severity: number | null, origin: string }[]>} */
const ratings = new WeakMap();

/** Notes a severity that a section gives the place.
 * @param {HTMLElement} section
 * @param {number | null} severity  null if the map shows a danger of unknown severity
 * @param {string} origin  where the severity comes from: "reported" */
export function rate(section, severity, origin) {
    ratings.set(section, [...ratings.get(section) ?? [], { severity, origin }]);
}

/** Sections of fields without a value at the place. The map is hatched there.
 * @type {WeakSet<Node>} */
const unknown = new WeakSet();

/** Notes that a section has no value at the place.
 * @param {HTMLElement} section */
export function markUnknown(section) { unknown.add(section); }

/** The headline above some sections; null if none of them has a severity, or lacks a value.
 * @param {Node[]} sections
 * @param {Pick<import("./legend.js").Legend, "entry">} legend
 * @param {string} [place]  words for the place */
export function headline(sections, legend, place = "here") {
    const all = sections.flatMap((section) => ratings.get(section) ?? []);
    const rated = all.flatMap(({ severity, origin }) => (severity === null ? [] : { severity, origin }))
        .sort((a, b) => b.severity - a.severity);
    const [worst, ...others] = rated;
    if (!worst && !all.length && sections.some((section) => unknown.has(section))) {
        // What follows may be of places far away.
        return element("div", { className: "headline" }, element("h3", {}, "Not known here"),
            element("p", { className: "note" }, "The turbulence field has no value here. Turbulence is possible."));
    }
    if (!worst) return null;
    const entry = legend.entry(worst.severity);
    /** @param {number} severity */
    const name = (severity) => legend.entry(severity)?.label ?? SEVERITIES[severity] ?? `Severity ${severity}`;
    const texts = others.filter(({ severity }) => severity < worst.severity)
        .map(({ severity, origin }) => `${name(severity)}, ${origin}`);
    // Nobody knows whether such an area is worse, so the headline does not claim to be the worst.
    const unrated = all.filter(({ severity }) => severity === null).map(({ origin }) => origin);
    texts.push(...unrated);
    return element("div", { className: "headline" },
        element("h3", {}, entry ? swatch(entry) : null, name(worst.severity)),
        element("p", { className: "note" },
            `The worst ${unrated.length ? "known severity" : "shown"} ${place}, ${worst.origin}.`
            + (texts.length ? ` Also: ${texts.join("; ")}.` : "")));
}

/** What a screen reader announces of a card: its headline, or else the first words of each section.
 * @param {Node[]} content */
export function announcement(content) {
    const elements = content.flatMap((node) => (node instanceof HTMLElement ? node : []));
    const top = elements.find(({ className }) => className === "headline");
    const words = top ? [...top.children]
        : elements.map((node) => node.querySelector("h3, h4, strong") ?? node);
    return words.map(({ textContent }) => textContent?.trim().replace(/[.]?$/, ".")).join(" ");
}
