// @ts-check
// The histogram over the altitude slider: the number of reports at each level. It counts the reports in view, but at
// all levels. The page loads this module when the pointer or the focus reaches the slider.
import { PROPERTIES } from "./datasets.js";
import { byId, element } from "./dom.js";
import { flightLevel } from "./format.js";
import { countedText } from "./hidden-severities.js";
import { CELLS } from "./layers.js";
import { fetchResponse } from "./server.js";
import { CEILING_FEET, filters } from "./view.js";

const BLOCK_FEET = 1_000;
const BLOCKS = CEILING_FEET / BLOCK_FEET;
const MODERATE = 3;
const CACHE_MILLISECONDS = 60_000;
const root = byId("histogram");
let lastRequest = "";
let requestedAt = -Infinity;

/** Counts the rows of a table by level: all rows, and those with moderate turbulence or worse.
 * @param {string} csv */
export function countLevels(csv) {
    const [head, ...rows] = csv.trimEnd().split(/\r?\n/);
    const names = head.split(",");
    const { lowerAltitude, upperAltitude, severity: severityName } = PROPERTIES.get(CELLS) ?? {};
    const [low, high, severity] = [lowerAltitude, upperAltitude, severityName].map((name) => names.indexOf(name ?? ""));
    const counts = Array.from({ length: BLOCKS }, () => ({ all: 0, worse: 0 }));
    if (low < 0 || high < 0 || severity < 0) return counts;
    for (const row of rows) {
        const cells = row.split(",");
        const last = Math.min(Math.floor(Number(cells[high]) / BLOCK_FEET), BLOCKS - 1);
        for (let block = Math.floor(Number(cells[low]) / BLOCK_FEET); block <= last; block += 1) {
            counts[block].all += 1;
            if (Number(cells[severity]) >= MODERATE) counts[block].worse += 1;
        }
    }
    return counts;
}

/** Shows the number of reports in a box, by level.
 * @param {Billow.View} view  with the instant of the map
 * @param {string} box */
export async function showLevels(view, box) {
    const query = filters({ ...view, minAltitude: null, maxAltitude: null });
    query.set("bbox", box);
    query.set("aggregate", "false");
    if (view.time !== null) query.set("time", new Date(view.time).toISOString().replace(/\.\d+Z/, "Z"));
    const request = `${query}`;
    if (request === lastRequest && performance.now() - requestedAt < CACHE_MILLISECONDS) return;
    lastRequest = request;
    requestedAt = performance.now();
    try {
        const response = await fetchResponse(`export/${CELLS}.csv?${request}`);
        const counts = countLevels(await response.text());
        if (request === lastRequest) draw(counts, countedText(view).replace("M", "m"));
    } catch {
        // The slider works without the histogram. The next visit repeats the request.
        if (request !== lastRequest) return;
        lastRequest = "";
        root.hidden = true;
    }
}

/** @param {ReturnType<typeof countLevels>} counts
 * @param {string} counted  what the darker part counts */
function draw(counts, counted) {
    const max = Math.max(...counts.map(({ all }) => all));
    const busiest = counts.findIndex(({ all }) => all === max);
    root.hidden = max === 0;
    root.setAttribute("aria-label",
        `Reports by level in view: most at ${flightLevel(busiest * BLOCK_FEET)}, ${max}`);
    // The darker part has the colour that the style gives to moderate turbulence.
    const fill = document.querySelector(`#legend [data-severity="${MODERATE}"] .swatch path`)?.getAttribute("fill");
    if (fill) root.style.setProperty("--moderate", fill);
    root.replaceChildren(...counts.map(({ all, worse }, block) => {
        const bar = element("span", { title: `${flightLevel(block * BLOCK_FEET)}: ${all} reports, ${
            worse} of them ${counted}` }, element("i"));
        bar.style.height = all ? `max(2px, ${(100 * all) / max}%)` : "0";
        const part = /** @type {HTMLElement} */ (bar.firstChild);
        part.style.height = all ? `${(100 * worse) / all}%` : "0";
        return bar;
    }));
}
