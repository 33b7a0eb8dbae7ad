// @ts-check
// The headline of a place's card: the worst turbulence that the map shows there, from all visible layers. A section of
// the card that only knows its own layer must not name the place: a smooth report may lie beside a severe forecast.
import { element, swatch } from "./dom.js";
import { SEVERITIES } from "./view.js";

/** The greatest distance of what gives the headline from the place, in pixels. A finger finds features further away. */
export const HEADLINE_PIXELS = 12;

/** Notes the severity that a section gives the place.
 * @param {HTMLElement} section
 * @param {number} severity
 * @param {string} origin  where the severity comes from: "reported" */
export function rate(section, severity, origin) {
    section.dataset.severity = String(severity);
    section.dataset.origin = origin;
}

/** The headline above some sections; null if none of them has a severity.
 * @param {Node[]} sections
 * @param {Pick<import("./legend.js").Legend, "entry">} legend */
export function headline(sections, legend) {
    const rated = sections.flatMap((section) => {
        if (!(section instanceof HTMLElement) || section.dataset.severity === undefined) return [];
        return { severity: Number(section.dataset.severity), origin: section.dataset.origin ?? "" };
    }).sort((a, b) => b.severity - a.severity);
    const [worst, ...others] = rated;
    if (!worst) return null;
    const entry = legend.entry(worst.severity);
    /** @param {number} severity */
    const name = (severity) => legend.entry(severity)?.label ?? SEVERITIES[severity] ?? `Severity ${severity}`;
    const texts = others.filter(({ severity }) => severity < worst.severity)
        .map(({ severity, origin }) => `${name(severity)}, ${origin}`);
    return element("div", { className: "headline" },
        element("h3", {}, entry ? swatch(entry) : null, name(worst.severity)),
        element("p", { className: "note" },
            `The worst shown here, ${worst.origin}.${texts.length ? ` Also: ${texts.join("; ")}.` : ""}`));
}
