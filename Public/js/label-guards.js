// @ts-check
// Keeps the map's names off the labels of issued areas and of aircraft, off pilot reports and off cells of moderate
// turbulence. All are part of the server's pictures, so the map does not know them. This module places an invisible
// sign at each label, as the server places the labels, and at each report and cell.
import { aircraftLabels, withSymbol } from "./aircraft-labels.js";
import { boxOf } from "./coverage.js";
import { bandText } from "./format.js";
import { LAYERS } from "./layers.js";
import { getFeatures } from "./features.js";
import { now } from "./server.js";
import { filters } from "./view.js";
import { latitudeAt, mercator, WORLD_TILE_PIXELS } from "./visible-tiles.js";

const GUARDS = "label-guards";
/** The lowest zoom of the map at which the names keep off the features of a shape.
 * @type {Record<string, number>} */
const FIRST_ZOOMS = { areas: 3, reports: 3, cells: 5, aircraft: 6 };
/** Cells below this severity are many, and names may lie over them. */
const LEAST_CELL_SEVERITY = 3;
/** The properties that the guards need, if not all. Reports and aircraft are many.
 * @type {Record<string, string>} */
const PROPERTIES = { reports: "severity", cells: "severity", aircraft: "callsign,altitude,onGround" };
/** How far a label of an aircraft outside the window may reach into it. */
const REACH_PIXELS = 150;
const LINE_PIXELS = 15;
/** The side of a pilot report's symbol, and the share of it that is drawn below a zoom of the map. */
const REPORT_PIXELS = 20, SMALL_SHARE = 0.62, FULL_SIZE_ZOOM = 4;
/** Of the reports in a square of this side, the server draws one. From a zoom on, the squares are smaller. */
const REPORT_SQUARE = 22, SMALL_SQUARE = 2, SMALL_SQUARE_ZOOM = 9;
const LETTER_PIXELS = 6.8;
/** Widths are rounded up, so that few images suffice. Those of cells are small. */
const WIDTH_STEP = 16, CELL_STEP = 4;
/** Heights to try for a label, as shares of the area's height: the server's order. */
const SHARES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];
const EMPTY = { type: "FeatureCollection", features: [] };
/** Areas begin to hold without a change of the data. */
const LONGEST_MILLISECONDS = 600_000;
let requests = 0;
/** What the guards on the map depend on. */
let placed = "";
/** The last request of each layer. Aircraft change often, and the other layers seldom.
 * @type {Map<string, { key: string, features: Promise<Billow.Feature[]> }>} */
const loaded = new Map();

/** @typedef {{ x: number, y: number }} Place  in pixels of the world
 * @typedef {Place & { side: number }} PlacedReport
 * @typedef {Place & { width: number, height: number }} Box  by its middle
 * @typedef {{ width: number, height: number, spots: Place[], symbol?: Place }} Label  with the middles of its possible
 *     boxes, the best first; `symbol` is the place of its aircraft */

/** Places the guards of what a view shows, unless they are placed.
 * @param {maplibregl.Map} map
 * @param {Billow.View} view  with the instant of the map
 * @param {(layers: string[]) => number | null} versionOf  returns the version that last changed layers, if known */
export async function guardLabels(map, view, versionOf) {
    const request = ++requests;
    const zoom = Math.round(map.getZoom());
    // The server places the labels of the top layers first.
    const guarded = [...view.layers].reverse().flatMap((id) =>
        LAYERS.filter((layer) => layer.id === id && zoom >= (FIRST_ZOOMS[layer.shape] ?? Infinity)));
    const queries = guarded.map(({ id, shape }) => {
        const query = queryOf(map, view, shape);
        const version = versionOf([id]) ?? `unknown ${request}`;
        return { id, query, key: [version, query, Math.floor(now() / LONGEST_MILLISECONDS)].join(" ") };
    });
    const key = [zoom, boxOf(map.getBounds()), ...queries.map(({ id, key }) => `${id} ${key}`)].join(" ");
    if (key === placed) return;
    placed = "";
    const found = await Promise.all(queries.map(({ id, query, key }) => featuresOf(id, query, key)));
    if (request !== requests) return;
    placed = key;
    /** @param {string} wanted */
    const featuresWith = (wanted) => found.filter((_, index) => guarded[index].shape === wanted).flat();
    const world = WORLD_TILE_PIXELS * 2 ** zoom;
    const symbols = placedReports(featuresWith("reports"), zoom);
    const labels = found.flatMap((features, index) => {
        const { shape } = guarded[index];
        return shape === "areas" ? areaLabels(features, world)
            : shape === "aircraft" ? aircraftLabels(features, zoom) : [];
    });
    const boxes = [
        ...inFreeSpots(labels, symbols).map(withSymbol),
        ...symbols.map(({ x, y, side }) => ({ x, y, width: side, height: side })),
        ...cellBoxes(featuresWith("cells"), world),
    ];
    // Between two zooms the map scales the pictures.
    showGuards(map, boxes, world, 2 ** (map.getZoom() - zoom));
}

/** The query for the features of a shape that a view shows.
 * @param {maplibregl.Map} map
 * @param {Billow.View} view
 * @param {string} shape */
function queryOf(map, view, shape) {
    const query = filters(view);
    const bounds = map.getBounds();
    const degrees = (REACH_PIXELS / (WORLD_TILE_PIXELS * 2 ** map.getZoom())) * 360;
    query.set("bbox", boxOf(shape !== "aircraft" ? bounds : {
        getWest: () => bounds.getWest() - degrees, getEast: () => bounds.getEast() + degrees,
        getSouth: () => bounds.getSouth(), getNorth: () => bounds.getNorth(),
    }));
    query.set("limit", "1000");
    if (shape === "cells" && !view.severities) {
        query.set("minSeverity", String(Math.max(view.minSeverity, LEAST_CELL_SEVERITY)));
    }
    if (PROPERTIES[shape]) query.set("properties", PROPERTIES[shape]);
    if (view.time !== null) query.set("time", new Date(view.time).toISOString().replace(".000Z", "Z"));
    return query;
}

/** The features of a layer, which are requested again only if `key` is another one.
 * @param {string} id
 * @param {URLSearchParams} query
 * @param {string} key */
function featuresOf(id, query, key) {
    const last = loaded.get(id);
    if (last?.key === key) return last.features;
    const features = getFeatures(`collections/${id}/items`, query).then(({ features }) => features);
    loaded.set(id, { key, features });
    features.catch(() => { if (loaded.get(id)?.features === features) loaded.delete(id); });
    return features;
}

/** Replaces the signs on the map.
 * @param {maplibregl.Map} map
 * @param {Box[]} boxes
 * @param {number} world  the width of the world in pixels
 * @param {number} scale */
function showGuards(map, boxes, world, scale) {
    /** @param {Box} box */
    const sign = (box) => {
        const step = box.width < WIDTH_STEP ? CELL_STEP : WIDTH_STEP;
        const [width, height] = [Math.ceil(box.width / step) * step, Math.round(box.height)];
        const id = `${GUARDS}${width}x${height}`;
        if (!map.hasImage(id)) map.addImage(id, new ImageData(width, height));
        return id;
    };
    const data = { type: "FeatureCollection", features: boxes.map((box) => ({
        type: "Feature", properties: { sign: sign(box) },
        geometry: { type: "Point", coordinates: [(box.x / world) * 360 - 180, latitudeAt(box.y / world)] },
    })) };
    const source = map.getSource(GUARDS);
    if (source) {
        map.setLayoutProperty(GUARDS, "icon-size", scale);
        return source.setData(data);
    }
    if (!boxes.length) return;
    map.addSource(GUARDS, { type: "geojson", data: EMPTY });
    map.getSource(GUARDS)?.setData(data);
    // MapLibre places the signs of the highest layer first.
    map.addLayer({
        id: GUARDS, type: "symbol", source: GUARDS,
        layout: { "icon-image": ["get", "sign"], "icon-size": scale, "icon-allow-overlap": true, "icon-padding": 1 },
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

/** The boxes around cells of moderate turbulence or worse.
 * @param {Billow.Feature[]} cells
 * @param {number} world  the width of the world in pixels
 * @returns {Box[]} */
export function cellBoxes(cells, world) {
    return cells.filter(({ properties }) => properties.severity >= LEAST_CELL_SEVERITY).map(({ geometry }) => {
        /** @type {[number, number][]} */
        const ring = geometry.type === "MultiPolygon" ? geometry.coordinates[0][0] : geometry.coordinates[0];
        const points = ring.map(([longitude, latitude]) => mercator(longitude, latitude).map((share) => share * world));
        const [left, right, top, bottom] = [0, 1].flatMap((axis) => {
            const sides = points.map((point) => point[axis]);
            return [Math.min(...sides), Math.max(...sides)];
        });
        const side = (/** @type {number} */ length) => Math.max(CELL_STEP, Math.ceil(length / CELL_STEP) * CELL_STEP);
        return { x: (left + right) / 2, y: (top + bottom) / 2, width: side(right - left), height: side(bottom - top) };
    });
}

/** The labels of issued areas, in the order of their rank.
 * @param {Billow.Feature[]} areas
 * @param {number} world  the width of the world in pixels
 * @returns {Label[]} */
export function areaLabels(areas, world) {
    return [...areas].sort(byRank).map(({ geometry, properties: { hazard, altitudeMin, altitudeMax } }) => {
        const [ring] = geometry.type === "MultiPolygon" ? geometry.coordinates[0] : geometry.coordinates;
        const text = [hazard, bandText(altitudeMin ?? null, altitudeMax ?? null)].filter(Boolean).join(" ");
        const width = Math.ceil((text.length * LETTER_PIXELS) / WIDTH_STEP) * WIDTH_STEP;
        return { width, height: LINE_PIXELS, spots: spotsOf(ring, world) };
    });
}

/** Places labels as the server does: in the order of their rank, each at its first free spot, or nowhere. Spots that
 * cover a report come after all others.
 * @param {Label[]} labels
 * @param {PlacedReport[]} [reports]
 * @returns {(Box & { symbol?: Place })[]} */
export function inFreeSpots(labels, reports = []) {
    /** @type {(Box & { symbol?: Place })[]} */
    const placed = [];
    for (const { width, height, spots, symbol } of labels) {
        const free = spots.filter(({ x, y }) => placed.every((other) =>
            Math.abs(other.x - x) >= (other.width + width) / 2
                || Math.abs(other.y - y) >= (other.height + height) / 2));
        const clear = free.find(({ x, y }) => reports.every((report) =>
            Math.abs(report.x - x) >= (report.side + width) / 2
                || Math.abs(report.y - y) >= (report.side + height) / 2));
        const spot = clear ?? free[0];
        if (spot) placed.push({ ...spot, width, height, symbol });
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
