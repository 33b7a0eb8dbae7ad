// @ts-check
import { downloads, legendAddresses, packZoom, pictureParts, snippets, tileAddresses } from "/js/downloads.js";
import { inRows } from "/js/picture-file.js";
import { parseHash } from "/js/view.js";
import { equal, ok, test } from "../harness.js";

const { view } = parseHash("#layers=hexagons,hazards&opacity=hazards:40&min=30000&style=night&map=4.00/39.000/-96.000");
const TAKEN = {
    view, time: Date.UTC(2026, 6, 21, 18), box: "-110.00,30.00,-80.00,48.00", width: 1440, base: "http://b.test/map/",
    span: { start: "-6h", end: "now", intervals: 19 },
};

test("downloads have the map's layers, filters, instant, box and style", () => {
    const found = downloads(TAKEN);
    const [picture, loop, pack, , features] = found.map(({ url }) => new URL(url));
    equal(picture.pathname, "/map/maps/hazards,hexagons.png");
    for (const [name, value] of [["bbox", TAKEN.box], ["minAltitude", "30000"], ["hours", "2"], ["style", "skypath"],
        ["time", "20260721T180000Z"]]) {
        equal(picture.searchParams.get(name), value);
    }
    equal([picture, loop].map(({ searchParams }) => searchParams.get("background")), ["map", "map"]);
    equal([loop.searchParams.get("start"), loop.searchParams.get("time")], ["-6h", null]);
    equal(pack.pathname, "/map/export/hazards,hexagons.mbtiles");
    for (const [name, value] of [["bbox", TAKEN.box], ["time", "20260721T180000Z"], ["maxzoom", "8"]]) {
        equal(pack.searchParams.get(name), value);
    }
    equal(features.searchParams.get("time"), "2026-07-21T18:00:00Z");
});

test("no legend lies over the map of a picture, because it has legends of its own", () => {
    const [picture] = downloads(TAKEN).map(({ url }) => new URL(url));
    equal(picture.searchParams.get("legend"), null);
    const layers = (/** @type {string} */ hash) =>
        legendAddresses({ ...TAKEN, view: parseHash(hash).view }).map((url) => new URL(url).searchParams.get("layer"));
    equal(layers("#layers=gtg,hazards,hexagons,pireps"), ["gtg,hexagons", "hazards", "pireps"]);
    equal(layers("#layers=pireps"), ["pireps"]);
    equal(new URL(legendAddresses(TAKEN)[0] ?? "").searchParams.get("minAltitude"), "30000");
});

test("legends stand side by side below the map, in as many rows as they need", () => {
    const images = [{ width: 240, height: 240 }, { width: 280, height: 200 }, { width: 290, height: 260 }];
    equal(inRows(images, 1440, 33), {
        places: [{ x: 8, y: 33, scale: 1 }, { x: 256, y: 33, scale: 1 }, { x: 544, y: 33, scale: 1 }], bottom: 301,
    });
    equal(inRows(images, 390, 33).places.map(({ x, y }) => [x, y]), [[8, 33], [8, 281], [8, 489]]);
    equal(inRows(images, 156, 0).places.map(({ scale }) => scale), [140 / 240, 0.5, 140 / 290]);
});

test("the name of a file has its instant and its filters, also for live data", () => {
    const at = Date.UTC(2026, 6, 21, 19);
    /** @type {(hash: string, time: number | null) => string[]} */
    const files = (hash, time) => downloads({ ...TAKEN, view: parseHash(hash).view, time }, at).map(({ file }) => file);
    const past = "20260721T180000Z-only-fl300-and-above";
    equal(files("#layers=hexagons,hazards&min=30000", TAKEN.time), [
        `billow-${past}.png`, "billow-loop-live-20260721T190000Z-only-fl300-and-above.png", `billow-${past}.mbtiles`,
        `billow-${past}.pmtiles`, `billow-hazards-${past}.geojson`, `billow-hazards-${past}.csv`,
        `billow-hexagons-${past}.geojson`, `billow-hexagons-${past}.csv`,
    ]);
    equal(files("#layers=gtg", null)[0], "billow-live-20260721T190000Z.png");
    equal(files("#layers=gtg&severity=3", null)[4], "billow-gtg-live-20260721T190000Z-only-moderate-or-worse.geojson");
});

test("a pack has zooms closer than the screen, but a limited number of tiles", () => {
    equal(packZoom("-1.00,50.00,1.00,51.00", 8), 12);
    equal(packZoom("-180.00,-85.05,180.00,85.05", 1), 5);
    equal(packZoom("-180.00,-85.05,180.00,85.05", 6), 6, "of the whole world no more");
    const elsewhere = packZoom("10.00,-10.00,30.00,10.00", 5);
    equal(packZoom("170.00,-10.00,-170.00,10.00", 5), elsewhere, "across the antimeridian");
    equal(packZoom("0.00,0.00,0.01,0.01", 13), 14);
});

test("tiles have the instant in their path, and each opacity has its own address", () => {
    const found = tileAddresses(TAKEN);
    equal(found.map(({ opacity }) => opacity), [0.4, 1]);
    ok(found[0].url.startsWith("http://b.test/map/tiles/hazards/20260721T180000Z/{z}/{x}/{y}.png?"), found[0].url);
    const [, live] = tileAddresses({ ...TAKEN, time: null });
    equal(live.url.split("?")[0], "http://b.test/map/tiles/hexagons/latest/{z}/{x}/{y}.png");
});

test("each snippet has both layers, and Leaflet's zooms are one higher", () => {
    const texts = Object.fromEntries(snippets(TAKEN).map(({ title, text }) => [title, text]));
    equal(Object.keys(texts), ["Leaflet", "MapLibre GL", "OpenLayers", "QGIS"]);
    for (const text of Object.values(texts)) ok(text.includes("hazards") && text.includes("hexagons"), text);
    ok(texts.Leaflet.includes("map.setView([39, -96], 5)") && texts.Leaflet.includes("{y}{r}.png"), texts.Leaflet);
    ok(texts.QGIS.includes("/vsicurl_streaming/http://b.test/map/export/hexagons.geojson?"), texts.QGIS);
});

test("a picture of an empty map has parts, because the map's hatch lies below the time stamp", () => {
    const parts = pictureParts({ ...TAKEN, view: parseHash("#layers=hexagons").view, isEmpty: true });
    equal([parts?.isHatched, parts?.groups.length], [true, 1]);
    equal(pictureParts({ ...TAKEN, isEmpty: false })?.isHatched, false);
});

test("a picture has parts only where the map draws its layers differently", () => {
    const parts = (/** @type {string} */ hash) => pictureParts({ ...TAKEN, view: parseHash(hash).view });
    equal(parts("#layers=gtg,hexagons"), null);
    equal(parts("#layers=hexagons&severities=0,3"), null);
    const found = parts("#layers=gtg,hexagons&severities=0,3");
    equal(found?.groups.map(({ layers, url }) => [layers.join(), new URL(url).searchParams.get("severity")]),
        [["gtg", "3"], ["hexagons", "0,3"]]);
    equal(new URL(found?.marked ?? "").searchParams.get("severity"), "0,3", "the stamp names the filter of all");
    equal(new URL(found?.ground ?? "").searchParams.get("time"), null, "cells have no picture of the future");
    const smooth = parts("#layers=gtg&severities=0")?.groups ?? [];
    equal(smooth.map(({ url, opacity }) => [new URL(url).searchParams.get("opacity"), opacity]), [["0", 1]],
        "the map shows no smooth air of a field, but its hatch");
    equal(parts("#layers=gtg,hazards&opacity=hazards:40")?.groups.map(({ opacity }) => opacity).sort(), [0.4, 1]);
});
