// @ts-check
// Addresses of the map's current content, for other programs: pictures, features and tiles. Sends no requests.
import { compactTime } from "./format.js";
import { CELLS, isField, layerName, showsCells } from "./layers.js";
import { groupFilter, groupsOf } from "./picture-request.js";
import { now } from "./server.js";
import { styleOf } from "./styles.js";
import { filters, filterText } from "./view.js";

const MAX_PIXELS = 2048;
const LOOP_WIDTH = 960;
/** A pack has this many zooms closer than the screen, up to the closest zoom of packs. */
const PACK_ZOOMS = 3;
const MAX_PACK_ZOOM = 14;
const MAX_PACK_TILES = 6_000;
/** File systems limit the length of a name, and a filter may have many sources. */
const MAX_FILTER_LETTERS = 120;
/** The span of a loop if the timeline uses the server's own span. */
const LOOP = { start: "-2h", end: "now", intervals: "13" };

/** The content of the map. `isEmpty` is whether the map is hatched as a whole, because little or nothing is stored.
 * @typedef {{
 *     view: Billow.View, time: number | null, box: string, width: number,
 *     span: { start: string | null, end: string | null, intervals: number | null }, base: string, isEmpty?: boolean,
 * }} MapContent */

/** @param {MapContent} content */
function pictureQuery({ view, time, box }) {
    const query = filters(view);
    query.set("style", styleOf(view).id);
    query.set("bbox", box);
    if (time !== null) query.set("time", compactTime(time));
    return query;
}

/** The instant and the filters of a file, as a part of its name. A file lies among others for long, so "live" alone
 * would say nothing.
 * @param {Billow.View} view
 * @param {number | null} time  null for live data
 * @param {number} at  when the file is made */
function fileStamp(view, time, at) {
    const only = (filterText(view) ?? "").toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, MAX_FILTER_LETTERS);
    return [time === null ? `live-${compactTime(at)}` : compactTime(time), only].filter(Boolean).join("-");
}

/** The downloads: a description, the address and the name of the file. A picture has the map below it.
 * @param {MapContent} content
 * @param {number} [at]  the present time, for the names of files
 * @returns {{ label: string, url: string, file: string, picture?: "still" | "loop" }[]} */
export function downloads(content, at = now()) {
    const { view, time, box, width, span, base } = content;
    const layers = view.layers.join();
    const stamp = fileStamp(view, time, at);
    const picture = pictureQuery(content);
    for (const [name, value] of Object.entries({
        width: String(Math.min(Math.round(width), MAX_PIXELS)), timestamp: "true", scalebar: "true",
    })) picture.set(name, value);
    picture.set("background", "map");
    const loop = pictureQuery(content);
    loop.set("background", "map");
    // The file has the legends below the map, where they cover no turbulence.
    loop.set("legend", "false");
    loop.delete("time");
    loop.set("width", String(Math.min(Math.round(width), LOOP_WIDTH)));
    const { start, end, intervals } = span.start === null ? LOOP : span;
    loop.set("start", start ?? LOOP.start);
    loop.set("end", end ?? LOOP.end);
    loop.set("intervals", String(intervals ?? LOOP.intervals));
    loop.set("anchor", "true");
    const pack = pictureQuery(content);
    pack.set("maxzoom", String(packZoom(box, view.zoom)));
    const features = filters(view);
    features.set("bbox", box);
    if (time !== null) features.set("time", new Date(time).toISOString().replace(/\.\d+Z/, "Z"));
    return [
        {
            label: "Picture (PNG)", url: `${base}maps/${layers}.png?${picture}`, file: `billow-${stamp}.png`,
            picture: "still",
        },
        {
            label: "Loop (animated PNG)", url: `${base}animations/${layers}.png?${loop}`,
            // A loop has a span of its own, which ends at the present time or counts from it.
            file: `billow-loop-${fileStamp(view, null, at)}.png`, picture: "loop",
        },
        ...["mbtiles", "pmtiles"].map((format) => ({
            label: `Tiles for offline use (${format === "mbtiles" ? "MBTiles" : "PMTiles"})`,
            url: `${base}export/${layers}.${format}?${pack}`, file: `billow-${stamp}.${format}`,
        })),
        ...view.layers.flatMap((id) => ["geojson", "csv"].map((format) => ({
            label: `${layerName(id)} (${format === "csv" ? "CSV" : "GeoJSON"})`,
            url: `${base}export/${id}.${format}?${features}`, file: `billow-${id}-${stamp}.${format}`,
        }))),
    ];
}

/** The pictures that together show what the map shows: the ground, the groups of layers, the hatch of an empty map, and
 * the marks.
 * @typedef {{
 *     ground: string, groups: { url: string, layers: string[], opacity: number }[], isHatched: boolean,
 *     marked: string, unmarked: string,
 * }} PictureParts */

/** The parts of a picture that the map draws differently: hatched, or with other severities or opacities of layers.
 * Without such a difference it is null, and one picture of the server has all. The time stamp states the filter of all
 * layers, so it comes from a picture of all. `marked` has the stamp and the scale bar, and `unmarked` has neither.
 * @param {MapContent} content
 * @param {boolean} [hasOverlay]  whether the page draws something between the turbulence and the marks
 * @returns {PictureParts | null} */
export function pictureParts(content, hasOverlay = false) {
    const { view, width, base, isEmpty = false } = content;
    const groups = groupsOf({ ...view, time: 0 });
    if (!hasOverlay && !isEmpty && groups.length === 1 && groups[0].opacity === 1 && !groups[0].severities) return null;
    const query = pictureQuery(content);
    query.set("width", String(Math.min(Math.round(width), MAX_PIXELS)));
    /** @param {string} layers
     * @param {URLSearchParams} query
     * @param {Record<string, string>} [more] */
    const address = (layers, query, more = {}) =>
        `${base}maps/${layers}.png?${new URLSearchParams([...query, ...Object.entries(more)])}`;
    const all = view.layers.join();
    const bare = new URLSearchParams(query);
    // The ground is the same at each instant, and cells have no picture of the future.
    bare.delete("time");
    return {
        // A field would have a hatch, even if it were invisible.
        ground: address(CELLS, bare, { background: "map", opacity: "0" }),
        groups: groups.filter(({ opacity }) => opacity > 0).map((group) => ({
            url: address(group.layers.join(), groupFilter(query, group)), layers: group.layers, opacity: group.opacity,
        })),
        isHatched: isEmpty,
        marked: address(all, query, { opacity: "0", timestamp: "true", scalebar: "true" }),
        unmarked: address(all, query, { opacity: "0" }),
    };
}

/** The addresses of a picture's legends: one for turbulence, and one for each other layer. The server would draw a
 * legend over the map, where it covers turbulence.
 * @param {MapContent} content */
export function legendAddresses({ view, base }) {
    /** @param {string} id */
    const isTurbulence = (id) => showsCells(id) || isField(id);
    const groups = [view.layers.filter(isTurbulence).join(), ...view.layers.filter((id) => !isTurbulence(id))];
    return groups.filter(Boolean).map((layer) => {
        const query = filters(view);
        query.set("layer", layer);
        query.set("style", styleOf(view).id);
        return `${base}legend.png?${query}`;
    });
}

/** The closest zoom of a pack of the visible part: three closer than the screen, or less if that has too many tiles.
 * @param {string} box
 * @param {number} zoom  the map's zoom; its tiles are twice as wide as the pack's */
export function packZoom(box, zoom) {
    const [west, south, east, north] = box.split(",").map(Number);
    const width = ((east > west ? east - west : east - west + 360)) / 360;
    /** @param {number} latitude */
    const mercator = (latitude) => Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI);
    const height = Math.min(mercator(north) - mercator(south), 1);
    /** @param {number} z */
    const count = (z) => (width * 2 ** z + 1) * (height * 2 ** z + 1);
    let best = Math.min(Math.max(Math.round(zoom) + 1 + PACK_ZOOMS, 0), MAX_PACK_ZOOM);
    while (best > 0 && count(best) > MAX_PACK_TILES) best -= 1;
    return best;
}

/** The tiles of a view. Each group of layers of equal opacity has one address; the lowest comes first.
 * @param {MapContent} content
 * @returns {{ url: string, json: string, opacity: number }[]} */
export function tileAddresses({ view, time, base }) {
    const query = filters(view);
    query.set("style", styleOf(view).id);
    const withTime = new URLSearchParams(query);
    if (time !== null) withTime.set("time", compactTime(time));
    // The instant is part of a tile's path, but a parameter of the TileJSON.
    const instant = time === null ? "latest" : compactTime(time);
    return groupsOf({ ...view, time: 0 }).map((group) => ({
        url: `${base}tiles/${group.layers.join()}/${instant}/{z}/{x}/{y}.png?${groupFilter(query, group)}`,
        json: `${base}tiles/${group.layers.join()}.json?${groupFilter(withTime, group)}`, opacity: group.opacity,
    }));
}

const ATTRIBUTION = "Turbulence: Billow, not for navigation";

/** Settings for other programs: a title, and the text to use there.
 * @param {MapContent} content
 * @returns {{ title: string, text: string }[]} */
export function snippets(content) {
    const { view } = content;
    const [longitude, latitude] = [view.longitude, view.latitude].map((degrees) => Number(degrees.toFixed(3)));
    const zoom = Number(view.zoom.toFixed(2));
    const all = tileAddresses(content);
    const json = JSON.stringify;
    return [
        {
            title: "Leaflet", text: [
                `map.setView([${latitude}, ${longitude}], ${Math.round(zoom + 1)});`,
                ...all.map(({ url, opacity }) => `L.tileLayer(${json(url.replace("{y}.png", "{y}{r}.png"))},
    { maxZoom: 22, opacity: ${opacity}, attribution: ${json(ATTRIBUTION)} }).addTo(map);`),
            ].join("\n"),
        },
        {
            title: "MapLibre GL", text: [
                `map.jumpTo({ center: [${longitude}, ${latitude}], zoom: ${zoom} });`,
                "// MapLibre can leave finer tiles over the new ones after zooming out. This ends their time at once.",
                'map.on("sourcedata", ({ tile }) => tile?.registerFadeDuration?.(0));',
                ...all.flatMap(({ json: url, opacity }, index) => [
                    `map.addSource("billow-${index}", { type: "raster", url: ${json(url)}, tileSize: 256 });`,
                    `map.addLayer({ id: "billow-${index}", type: "raster", source: "billow-${index}",
    paint: { "raster-opacity": ${opacity} } });`,
                ]),
            ].join("\n"),
        },
        {
            title: "OpenLayers", text: [
                `map.getView().setCenter(ol.proj.fromLonLat([${longitude}, ${latitude}]));`,
                `map.getView().setZoom(${zoom + 1});`,
                ...all.map(({ url, opacity }) => `map.addLayer(new ol.layer.Tile({ opacity: ${opacity}, source: new \
ol.source.XYZ({
    url: ${json(url)}, maxZoom: 22, attributions: ${json(ATTRIBUTION)} }) }));`),
            ].join("\n"),
        },
        {
            title: "QGIS", text: [
                "Layer, Add Layer, Add XYZ Layer:", ...all.map(({ url }) => url),
                "Layer, Add Layer, Add Vector Layer, File:",
                ...downloads(content).filter(({ url }) => url.includes(".geojson?"))
                    .map(({ url }) => `/vsicurl_streaming/${url}`),
            ].join("\n"),
        },
    ];
}
