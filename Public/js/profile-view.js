// @ts-check
// Draws the vertical profile of a route from /profiles.json. All of its text has the size of the page's text, in a card
// of any width. The server's picture of the same profile is a download.
import { areaLevels, isAboveGround } from "./area-levels.js";
import { element, swatch, svgElement } from "./dom.js";
import { OWN_FEET, ownLevels } from "./flight-plan.js";
import { flightLevel } from "./format.js";
import { hourMinute, severityName } from "./route-sections.js";
import { SEVERITIES, showsSeverity } from "./view.js";

/** The plot is stretched to the width of the card, so its unit is a thousandth of its width. */
const PLOT_WIDTH = 1_000;
const PLOT_HEIGHT = 610;
const MAX_DISTANCES = 4;
const LABELLED_FEET = 20_000;
const BLOCK_FEET = 1_000;

/** @typedef {{
 *     altitudes: number[], severities: (number | null)[][], stretch: number, length: number,
 *     hazards?: Record<string, any>[], field?: Record<string, any>,
 * }} Profile */

/** @param {Profile} profile
 * @param {Billow.View} view
 * @param {import("./legend.js").Legend} legend
 * @param {number} departure
 * @param {number} speed  knots
 * @param {number | null} reportedUntil  the time of the newest reports, which the caption names */
export function profileFigure(profile, view, legend, departure, speed, reportedUntil = null) {
    const { altitudes, severities, stretch, length, field, hazards = [] } = profile;
    const ceiling = altitudes[altitudes.length - 1];
    /** @param {number} miles */
    const x = (miles) => Math.round(Math.min(Math.max(miles / length, 0), 1) * PLOT_WIDTH);
    /** @param {number} feet */
    const y = (feet) => Math.round((1 - Math.min(Math.max(feet / ceiling, 0), 1)) * PLOT_HEIGHT);
    /** @param {number} from @param {number} to  nautical miles
     * @param {number} low @param {number} high  feet */
    const box = (from, to, low, high) => `M${x(from)} ${y(high)}H${Math.max(x(to), x(from) + 3)}V${y(low)}H${x(from)}z`;
    const isShown = (/** @type {number} */ severity) => showsSeverity(view, severity);
    /** The boxes of equal values in a table with a row per altitude: value → path.
     * @param {(number | null)[][]} rows */
    const boxesOf = (rows) => {
        /** @type {Map<number, string>} */
        const paths = new Map();
        for (const [row, values] of rows.entries()) {
            const low = altitudes[row], high = altitudes[row + 1] ?? ceiling;
            for (let column = 0, end; column < values.length; column = end) {
                const value = values[column];
                for (end = column + 1; values[end] === value && end < values.length;) end += 1;
                if (value === null || low === high) continue;
                paths.set(value, (paths.get(value) ?? "") + box(column * stretch, end * stretch, low, high));
            }
        }
        return paths;
    };
    const reported = boxesOf(severities);
    const computed = boxesOf(field?.severities ?? []);
    const plot = svgElement("svg", {
        viewBox: `0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true",
    });
    /** @param {Map<number, string>} paths @param {string} name */
    const fill = (paths, name) => {
        const isVisible = (/** @type {number} */ severity) => legend.entry(severity) !== undefined
            && (name === "reported" || (severity > 0 && isShown(severity)));
        // A known value hides the hatching, even if the user has filtered its severity.
        plot.append(...[...paths.values()].map((d) => svgElement("path", { d, class: "known" })));
        if (name === "computed") {
            const d = [...paths].flatMap(([severity, boxes]) => (isVisible(severity) ? [boxes] : [])).join("");
            // The boxes cover the lines between them.
            plot.append(svgElement("path", { d, class: "edge" }), svgElement("path", { d, class: "cover" }));
        }
        for (const [severity, d] of [...paths].sort(([a], [b]) => a - b)) {
            const entry = legend.entry(severity);
            if (!entry || !isVisible(severity)) continue;
            plot.append(svgElement("path", { d, fill: entry.fill, "fill-opacity": entry.opacity ?? 1 }));
        }
        if (name === "reported") plot.append(svgElement("path", { d: [...paths.values()].join(""), class: name }));
    };
    fill(computed, "computed");
    for (let feet = LABELLED_FEET; feet < ceiling; feet += LABELLED_FEET) {
        plot.append(svgElement("path", { d: `M0 ${y(feet)}H${PLOT_WIDTH}`, class: "grid" }));
    }
    fill(reported, "reported");
    for (const { altitudeMin, altitudeMax, altitudeReference, stretches } of hazards) {
        const d = stretches.map((/** @type {[number, number]} */ [from, to]) =>
            box(from, to, altitudeMin ?? 0, altitudeMax ?? ceiling)).join("");
        plot.append(svgElement("path", { d, class: isAboveGround({ altitudeReference }) ? "hazard agl" : "hazard" }));
    }
    // Lines at the edges of a level leave its cells visible. A line along the level would cover them.
    if (view.level !== null) {
        const [low, high] = ownLevels(view.level);
        const d = [high, low].map((feet) => `M0 ${y(feet)}H${PLOT_WIDTH}`).join("");
        plot.append(svgElement("path", { d, class: "planned" }));
    }
    const { worst } = field ?? {};
    const hasWorst = worst?.severity > 0;
    if (hasWorst) {
        const [low, high] = ownLevels(Math.floor(worst.altitude / BLOCK_FEET) * BLOCK_FEET);
        plot.append(svgElement("path", { d: box(worst.from, worst.to, low, high), class: "worst" }));
    }
    const aboveGround = hazards.filter(isAboveGround);
    const levels = [];
    for (let feet = 0; feet <= ceiling; feet += LABELLED_FEET) {
        // The planned level's label replaces one that it would cover.
        if (view.level === null || Math.abs(feet - view.level) > 5_000) levels.push(feet);
    }
    const isFiltered = SEVERITIES.some((_, severity) => severity > 0 && !isShown(severity));
    const found = new Set([...reported.keys(), ...[...computed.keys()].filter((each) => each > 0 && isShown(each))]);
    return element("figure", { className: "side-view" },
        element("div", {
            className: `plot${field ? " has-field" : ""}`, role: "img",
            "aria-label": `Vertical profile: flight levels over distance flown. ${field?.text ?? ""}`,
        },
            ...levels.map((feet) => label("level", y(feet) / PLOT_HEIGHT, feet ? flightLevel(feet) : "ground")),
            view.level === null ? null : label("level own", y(view.level) / PLOT_HEIGHT, flightLevel(view.level)),
            plot,
            ...distancesOf(length).map((miles) => label("distance", miles / length, `${miles} NM`,
                `${hourMinute(departure + (miles / speed) * 3_600_000)}Z`))),
        element("figcaption", { className: "note" },
            ...SEVERITIES.flatMap((_, severity) => {
                const entry = found.has(severity) ? legend.entry(severity) : undefined;
                return entry ? [element("span", {}, swatch(entry), entry.label ?? severityName(severity))] : [];
            }),
            reported.size ? element("span", { className: field ? "sign outlined" : "" },
                reportedUntil === null ? "Reported" : `Reported until ${hourMinute(reportedUntil)}Z`) : null,
            field ? element("span", { className: "sign unknown" }, "Not known") : null,
            element("span", { className: "sign plain" }, !field ? "No report" : isFiltered ? "Smooth or filtered"
                : "Computed smooth"),
            hazards.length > aboveGround.length ? element("span", { className: "sign issued" }, "Hazard") : null,
            // The profile has no ground, so the box of such an area is too low over high ground.
            ...[...new Set(aboveGround.map(areaLevels))].map((levels) =>
                element("span", { className: "sign issued agl" }, `Hazard ${levels}, drawn from sea level`)),
            view.level === null ? null : element("span", { className: "sign own-level" },
                `Within ${(OWN_FEET / 1_000).toFixed(0)},000 ft of ${flightLevel(view.level)}`),
            hasWorst ? element("span", { className: "sign own-worst" },
                view.level === null ? "Worst computed" : "Worst computed on your way") : null));
}

/** A label beside the plot. `share` is its place along the edge.
 * @param {string} className
 * @param {number} share
 * @param {...string} lines */
function label(className, share, ...lines) {
    const node = element("span", { className, "aria-hidden": "true" }, ...lines.flatMap((line, index) =>
        (index ? [element("br"), line] : [line])));
    node.style.setProperty("--share", String(share));
    return node;
}

/** A few round distances along the route.
 * @param {number} length  nautical miles */
export function distancesOf(length) {
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000].find((each) =>
        length / each < MAX_DISTANCES) ?? length;
    return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}
