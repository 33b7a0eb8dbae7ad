// @ts-check
// Keeps the map's names off the labels of issued areas and off pilot reports. Both are part of the server's pictures,
// so the map does not know them. This module places an invisible sign at each label, as the server places the labels,
// and at each report.
import { boxOf } from "./coverage.js";
import { bandText } from "./format.js";
import { inDrawingOrder, LAYERS } from "./layers.js";
import { getFeatures } from "./features.js";
import { now } from "./server.js";
import { filters } from "./view.js";
import { latitudeAt, mercator, WORLD_TILE_PIXELS } from "./visible-tiles.js";

const GUARDS = "label-guards";
/** The lowest zoom of the map at which areas have labels. */
const FIRST_ZOOM = 3;
const LINE_PIXELS = 15;
/** The side of a pilot report's symbol, and the share of it that is drawn below a zoom of the map. */
const REPORT_PIXELS = 20, SMALL_SHARE = 0.62, FULL_SIZE_ZOOM = 4;
/** Of the reports in a square of this side, the server draws one. From a zoom on, the squares are smaller. */
const REPORT_SQUARE = 22, SMALL_SQUARE = 2, SMALL_SQUARE_ZOOM = 9;
const LETTER_PIXELS = 6.8;
/** Widths are rounded up, so that few images suffice. */
const WIDTH_STEP = 16;
/** Heights to try for a label, as shares of the area's height: the server's order. */
const SHARES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];
const EMPTY = { type: "FeatureCollection", features: [] };
/** Areas begin to hold without a change of the data. */
const LONGEST_MILLISECONDS = 600_000;
let requests = 0;
/** What the guards on the map depend on. */
let placed = "";

/** @typedef {{ x: number, y: number }} Place  in pixels of the world
 * @typedef {Place & { width: number }} PlacedLabel
 * @typedef {Place & { side: number }} PlacedReport */

/** Places the guards of the areas and pilot reports that a view shows, unless they are placed.
 * @param {maplibregl.Map} map
 * @param {Billow.View} view  with the instant of the map
 * @param {(layers: string[]) => number | null} versionOf  returns the version that last changed layers, if known */
export async function guardLabels(map, view, versionOf) {
    const request = ++requests;
    const zoom = Math.round(map.getZoom());
    const guarded = LAYERS.filter(({ id, shape }) => ["areas", "reports"].includes(shape) && view.layers.includes(id));
    const version = versionOf(guarded.map(({ id }) => id)) ?? `unknown ${request}`;
    const key = [
        version, zoom, boxOf(map.getBounds()), filters(view), view.layers, view.time,
        Math.floor(now() / LONGEST_MILLISECONDS),
    ].join(" ");
    if (key === placed) return;
    placed = "";
    /** @param {string} wanted
     * @returns {Promise<Billow.Feature[]>} */
    const featuresOf = async (wanted) => {
        const layers = LAYERS.filter(({ id, shape }) => shape === wanted && view.layers.includes(id));
        const found = await Promise.all(inDrawingOrder(layers.map(({ id }) => id)).map((layer) => {
            const query = filters(view);
            query.set("bbox", boxOf(map.getBounds()));
            query.set("limit", "1000");
            // Reports are many, and only their places matter.
            if (wanted === "reports") query.set("properties", "severity");
            if (view.time !== null) query.set("time", new Date(view.time).toISOString().replace(".000Z", "Z"));
            return getFeatures(`collections/${layer}/items`, query);
        }));
        return found.flatMap(({ features }) => features);
    };
    const [areas, reports] = zoom < FIRST_ZOOM ? [[], []] : await Promise.all([
        featuresOf("areas"), featuresOf("reports"),
    ]);
    if (request !== requests) return;
    placed = key;
    const world = WORLD_TILE_PIXELS * 2 ** zoom;
    const symbols = placedReports(reports, zoom);
    /** @param {number} width
     * @param {number} height */
    const sign = (width, height) => {
        const id = `${GUARDS}${width}x${height}`;
        if (!map.hasImage(id)) map.addImage(id, new ImageData(width, height));
        return id;
    };
    /** @param {Place} place
     * @param {string} name */
    const guard = ({ x, y }, name) => ({
        type: "Feature", properties: { sign: name },
        geometry: { type: "Point", coordinates: [x / world * 360 - 180, latitudeAt(y / world)] },
    });
    const features = [
        ...placedLabels(areas, world, symbols).map((label) => guard(label, sign(label.width, LINE_PIXELS))),
        ...symbols.map((symbol) => guard(symbol, sign(Math.round(symbol.side), Math.round(symbol.side)))),
    ];
    const data = { type: "FeatureCollection", features };
    const source = map.getSource(GUARDS);
    if (source) return source.setData(data);
    if (!features.length) return;
    map.addSource(GUARDS, { type: "geojson", data: EMPTY });
    map.getSource(GUARDS)?.setData(data);
    // MapLibre places the signs of the highest layer first.
    map.addLayer({
        id: GUARDS, type: "symbol", source: GUARDS,
        layout: { "icon-image": ["get", "sign"], "icon-allow-overlap": true, "icon-padding": 1 },
    });
}

/** The symbols of pilot reports as the server draws them: the most severe one of each square.
 * @param {Billow.Feature[]} reports
 * @param {number} zoom  that of the map, a whole number
 * @returns {PlacedReport[]} */
export function placedReports(reports, zoom) {
    const world = WORLD_TILE_PIXELS * 2 ** zoom;
    const square = zoom < SMALL_SQUARE_ZOOM ? REPORT_SQUARE : SMALL_SQUARE;
    const side = zoom < FULL_SIZE_ZOOM ? REPORT_PIXELS * SMALL_SHARE : REPORT_PIXELS;
    /** @type {Map<string, PlacedReport & { severity: number }>} */
    const best = new Map();
    for (const { geometry, properties } of reports) {
        const [x, y] = mercator(geometry.coordinates[0], geometry.coordinates[1]).map((share) => share * world);
        const severity = properties.severity ?? -1, key = `${Math.floor(x / square)} ${Math.floor(y / square)}`;
        if (severity > (best.get(key)?.severity ?? -2)) best.set(key, { x, y, side, severity });
    }
    return [...best.values()].map(({ severity, ...place }) => place);
}

/** Places the labels of areas as the server does: in the order of their rank, each at its first free place, or nowhere.
 * Places that cover a report come after all others.
 * @param {Billow.Feature[]} areas
 * @param {number} world  the width of the world in pixels
 * @param {PlacedReport[]} [reports]
 * @returns {PlacedLabel[]} */
export function placedLabels(areas, world, reports = []) {
    /** @type {PlacedLabel[]} */
    const placed = [];
    for (const { geometry, properties: { hazard, altitudeMin, altitudeMax } } of [...areas].sort(byRank)) {
        const [ring] = geometry.type === "MultiPolygon" ? geometry.coordinates[0] : geometry.coordinates;
        const text = [hazard, bandText(altitudeMin ?? null, altitudeMax ?? null)].filter(Boolean).join(" ");
        const width = Math.ceil((text.length * LETTER_PIXELS) / WIDTH_STEP) * WIDTH_STEP;
        const free = spotsOf(ring, world).filter(({ x, y }) => placed.every((other) =>
            Math.abs(other.x - x) >= (other.width + width) / 2 || Math.abs(other.y - y) >= LINE_PIXELS));
        const clear = free.find(({ x, y }) => reports.every((report) =>
            Math.abs(report.x - x) >= (report.side + width) / 2
                || Math.abs(report.y - y) >= (report.side + LINE_PIXELS) / 2));
        const spot = clear ?? free[0];
        if (spot) placed.push({ ...spot, width });
    }
    return placed;
}

/** Warnings before advisories, turbulence before other hazards, and higher severities first.
 * @param {Billow.Feature} a
 * @param {Billow.Feature} b */
function byRank(a, b) {
    /** @param {Billow.Feature} area */
    const rank = ({ properties: { kind, hazard, severity } }) => [
        /sigmet/.test(kind ?? "") ? 0 : 1, /TURB|LLWS|MTW|WIND/i.test(hazard ?? "") ? 0 : 1, -(severity ?? 0),
    ];
    const [first, second] = [rank(a), rank(b)];
    const differing = first.findIndex((value, index) => value !== second[index]);
    return differing < 0 ? (String(a.id) < String(b.id) ? -1 : 1) : first[differing] - second[differing];
}

/** The places for a label inside a ring: the middle of the widest interval on several horizontal lines.
 * @param {[number, number][]} ring
 * @param {number} world
 * @returns {Place[]} */
function spotsOf(ring, world) {
    const points = ring.slice(0, -1).map(([longitude, latitude]) =>
        mercator(longitude, latitude).map((share) => share * world));
    const heights = points.map(([, y]) => y);
    const [top, bottom] = [Math.min(...heights), Math.max(...heights)];
    return SHARES.flatMap((share) => {
        const y = top + (bottom - top) * share;
        const crossings = points.flatMap(([ax, ay], index) => {
            const [bx, by] = points[(index + 1) % points.length];
            return ay > y === by > y ? [] : [ax + ((bx - ax) * (y - ay)) / (by - ay)];
        }).sort((a, b) => a - b);
        let widest = { x: 0, width: -1 };
        for (let index = 0; index + 1 < crossings.length; index += 2) {
            const [left, right] = [crossings[index], crossings[index + 1]];
            if (right - left > widest.width) widest = { x: (left + right) / 2, width: right - left };
        }
        return widest.width < 0 ? [] : [{ x: widest.x, y }];
    });
}
