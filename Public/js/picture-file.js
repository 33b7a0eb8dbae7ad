// @ts-check
// Completes the server's picture of the map for a file: the route and the followed flight, the names of the map, "Not
// for navigation", the sources, and the legends. Nothing but the time stamp and the scale bar lies over the map.
import { AIRPORTS, CITIES, MISSING_HATCH, PLACES } from "./basemap.js";
import { imageOf } from "./map-images.js";
import { drawMarks, drawShapes } from "./map-overlay.js";
import { stampSizes, withStrip } from "./png-strip.js";
import { fetchResponse, ServerError } from "./server.js";
import { isOutside } from "./time-extent.js";

const WARNING = "Not for navigation.";
const BASE_MAP_SOURCES = "Base map: Natural Earth, GSHHG";
const FONT = "system-ui, 'DejaVu Sans', sans-serif";
const [PADDING, LINE_HEIGHT] = [8, 17];
/** The server draws the time stamp and the scale bar into corners of at most this size. */
const [STAMP_HEIGHT, SCALE_BAR] = [44, { width: 130, height: 50 }];

/** A picture without animation: the map whose names it gets, its instant, its parts if they are drawn differently, and
 * a note.
 * @typedef {{
 *     map: maplibregl.Map, time: number | null, parts: import("./downloads.js").PictureParts | null, note: string,
 * }} Still
 * A file: the server's picture and its box, the attribution of the turbulence, and what the page draws on the map. A
 * picture with the latter has parts. `still` is null for a loop, which has no names.
 * @typedef {{
 *     url: string, box: string, attribution: string, legendUrls: string[], still: Still | null,
 *     overlay: import("./map-overlay.js").Overlay | null,
 * }} Picture */

/** The server's picture, or its loop, with the strip below. A server without a base map draws it without land, as the
 * page does.
 * @param {Picture} file
 * @returns {Promise<Blob>} */
export async function pictureFile({ url, box, attribution, legendUrls, still, overlay }) {
    const [{ response, hasBaseMap }, ...legends] = await Promise.all([
        fetchPicture(still?.parts?.ground ?? url), ...legendUrls.map(fetchImage),
    ]);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const type = response.headers.get("Content-Type") ?? "image/png";
    const signs = still ? signsOnMap(still.map) : [];
    const sources = [
        still?.note, attribution, hasBaseMap ? BASE_MAP_SOURCES : "",
        signs.some(({ isCity }) => isCity) ? "Cities: GeoNames" : "",
    ].filter(Boolean).join(" · ");
    if (!still) {
        const [width, height] = [16, 20].map((at) => new DataView(bytes.buffer).getUint32(at));
        const drawn = overlay && {
            image: overlayImage({ box, width, height }, overlay), stamps: await stampsOf(url),
        };
        return new Blob([await withStrip(bytes, noteStrip(width, sources, legends), drawn)], { type });
    }
    const picture = await createImageBitmap(new Blob([bytes], { type }));
    const strip = noteStrip(picture.width, sources, legends);
    const context = canvas(picture.width, picture.height + strip.height);
    context.drawImage(picture, 0, 0);
    const frame = { box, width: picture.width, height: picture.height };
    if (still.parts) await drawParts(context, picture, still.parts, still.time, () => {
        if (overlay) drawShapes(context, frame, overlay);
    });
    drawSigns(context, picture, signs, still.map, box);
    if (overlay) drawMarks(context, frame, overlay, covering(picture));
    context.putImageData(strip, 0, picture.height);
    return new Promise((resolve, reject) => context.canvas.toBlob(
        (blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be saved"))), type));
}

/** @param {string} url */
async function fetchPicture(url) {
    try {
        return { response: await fetchResponse(url), hasBaseMap: true };
    } catch (error) {
        if (!(error instanceof ServerError) || error.code !== "base-map-missing") throw error;
        const bare = new URL(url, location.href);
        bare.searchParams.delete("background");
        return { response: await fetchResponse(bare.href), hasBaseMap: false };
    }
}

/** @param {string} url */
const fetchImage = async (url) => createImageBitmap(await (await fetchResponse(url)).blob());

/** Draws the groups of layers and the hatch as the map does. Then come what lies over them, the time stamp, and the
 * scale bar.
 * @param {CanvasRenderingContext2D} context
 * @param {{ width: number, height: number }} size
 * @param {import("./downloads.js").PictureParts} parts
 * @param {number | null} time
 * @param {() => void} drawAbove */
async function drawParts(context, { width, height }, { groups, isHatched, marked, unmarked }, time, drawAbove) {
    const [above, below, ...images] = await Promise.all([
        fetchImage(marked), fetchImage(unmarked), ...groups.map(async ({ url, layers, opacity }) =>
            // The map leaves out layers without data at the instant, too.
            (await isOutside(layers.join(), time) ? null : { image: await fetchImage(url), opacity })),
    ]);
    for (const each of images) {
        if (!each) continue;
        context.globalAlpha = each.opacity;
        context.drawImage(each.image, 0, 0);
    }
    context.globalAlpha = 1;
    if (isHatched) drawHatch(context);
    drawAbove();
    const marks = canvas(width, height);
    marks.drawImage(below, 0, 0);
    const { data: bare } = marks.getImageData(0, 0, width, height);
    marks.clearRect(0, 0, width, height);
    marks.drawImage(above, 0, 0);
    const image = marks.getImageData(0, 0, width, height);
    for (let at = 0; at < bare.length; at += 4) {
        if ([0, 1, 2, 3].every((place) => image.data[at + place] === bare[at + place])) image.data[at + 3] = 0;
    }
    marks.putImageData(image, 0, 0);
    context.drawImage(marks.canvas, 0, 0);
}

/** Draws the map's hatch of missing data over a whole picture. The map shows the hatch at two pixels per point.
 * @param {CanvasRenderingContext2D} context */
function drawHatch(context) {
    const hatch = imageOf(MISSING_HATCH);
    const image = canvas(hatch.width, hatch.height);
    image.putImageData(hatch, 0, 0);
    const pattern = context.createPattern(image.canvas, "repeat");
    if (!pattern) throw new Error("this browser does not support canvas patterns");
    pattern.setTransform(new DOMMatrix().scale(0.5));
    context.fillStyle = pattern;
    context.fillRect(0, 0, context.canvas.width, context.canvas.height);
}

/** Draws names where the map has them, but not over the time stamp or the scale bar.
 * @param {CanvasRenderingContext2D} context
 * @param {{ width: number, height: number }} picture
 * @param {MapSign[]} signs
 * @param {maplibregl.Map} map
 * @param {string} box */
function drawSigns(context, picture, signs, map, box) {
    const [west, south, east, north] = box.split(",").map(Number);
    const corner = map.project([west, north]);
    const far = map.project([east > west ? east : east + 360, south]);
    const scale = picture.width / (far.x - corner.x);
    const isCovered = covering(picture);
    for (const { image, x, y } of signs) {
        const left = (x - corner.x) * scale;
        const top = (y - corner.y) * scale;
        const right = left + image.width / 2;
        const bottom = top + image.height / 2;
        // A name that is cut off misleads.
        if (left < 0 || right > picture.width || bottom > picture.height) continue;
        if (isCovered(left, top, right, bottom)) continue;
        const sign = canvas(image.width, image.height);
        sign.putImageData(image, 0, 0);
        context.drawImage(sign.canvas, left, top, image.width / 2, image.height / 2);
    }
}

/** Whether the time stamp or the scale bar may lie over an area of a picture.
 * @param {{ width: number, height: number }} picture
 * @returns {(left: number, top: number, right: number, bottom: number) => boolean} */
const covering = ({ width, height }) => (left, top, right, bottom) =>
    top < STAMP_HEIGHT || (right > width - SCALE_BAR.width && bottom > height - SCALE_BAR.height);

/** What the page draws on the map, as an image for the frames of a loop.
 * @param {import("./map-overlay.js").Frame} frame
 * @param {import("./map-overlay.js").Overlay} overlay */
function overlayImage(frame, overlay) {
    const context = canvas(frame.width, frame.height);
    drawShapes(context, frame, overlay);
    // A loop has no scale bar.
    drawMarks(context, frame, overlay, (_left, top) => top < STAMP_HEIGHT);
    return context.getImageData(0, 0, frame.width, frame.height);
}

/** The sizes of the time stamps in a loop's frames. In a picture without turbulence and land, only the
 * stamp is opaque.
 * @param {string} url  of the loop */
async function stampsOf(url) {
    const bare = new URL(url, location.href);
    bare.searchParams.delete("background");
    bare.searchParams.set("opacity", "0");
    return stampSizes(new Uint8Array(await (await fetchResponse(bare.href)).arrayBuffer()));
}

/** The strip: the warning, then the sources, in as many lines as they need, then the legends, in as many rows.
 * @param {number} width
 * @param {string} sources
 * @param {ImageBitmap[]} [legends] */
export function noteStrip(width, sources, legends = []) {
    const context = canvas(width, 1);
    const bold = `600 13px ${FONT}`;
    const plain = `12px ${FONT}`;
    context.font = bold;
    const indent = context.measureText(`${WARNING}  `).width;
    context.font = plain;
    /** @type {string[]} */
    const lines = [""];
    for (const word of sources.split(" ")) {
        const line = `${lines[lines.length - 1]} ${word}`.trim();
        const start = PADDING + (lines.length === 1 ? indent : 0);
        if (start + context.measureText(line).width <= width - PADDING) lines[lines.length - 1] = line;
        else lines.push(word);
    }
    const noteHeight = lines.length * LINE_HEIGHT + 2 * PADDING;
    const { places, bottom } = inRows(legends, width, noteHeight);
    // Resizing a canvas resets its context.
    context.canvas.height = bottom;
    context.fillStyle = "#fcfcfc";
    context.fillRect(0, 0, width, context.canvas.height);
    Object.assign(context, { fillStyle: "#171717", textBaseline: "middle", font: bold });
    context.fillText(WARNING, PADDING, PADDING + LINE_HEIGHT / 2);
    context.font = plain;
    for (const [index, line] of lines.entries()) {
        context.fillText(line, PADDING + (index ? 0 : indent), PADDING + LINE_HEIGHT * (index + 0.5));
    }
    for (const [index, { x, y, scale }] of places.entries()) {
        context.drawImage(legends[index], x, y, legends[index].width * scale, legends[index].height * scale);
    }
    return context.getImageData(0, 0, width, context.canvas.height);
}

/** Places images side by side, in rows. One that is wider than a row becomes smaller.
 * @param {{ width: number, height: number }[]} images
 * @param {number} width  of the strip
 * @param {number} top  of the first row */
export function inRows(images, width, top) {
    let [x, y, bottom] = [PADDING, top, top];
    const places = images.map((image) => {
        const scale = Math.min(1, (width - 2 * PADDING) / image.width);
        if (x > PADDING && x + image.width * scale > width - PADDING) [x, y] = [PADDING, bottom];
        const place = { x, y, scale };
        x += image.width * scale + PADDING;
        bottom = Math.max(bottom, Math.ceil(y + image.height * scale) + PADDING);
        return place;
    });
    return { places, bottom };
}

/** @param {number} width
 * @param {number} height */
function canvas(width, height) {
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error("this browser does not support canvas drawing");
    Object.assign(context.canvas, { width, height });
    return context;
}

/** A name on the map: its image at two pixels per point, and the north-west corner of it on the page.
 * @typedef {{ image: ImageData, x: number, y: number, isCity: boolean }} MapSign */

/** The names that the map shows, where it shows them. A globe has none, because pictures are flat.
 * @param {maplibregl.Map} map
 * @returns {MapSign[]} */
function signsOnMap(map) {
    if (map.getProjection()?.type === "globe") return [];
    const layers = [CITIES, AIRPORTS, PLACES].filter((id) => map.getLayer(id));
    /** @type {Map<string, MapSign>} */
    const signs = new Map();
    for (const { layer, geometry, properties } of map.queryRenderedFeatures({ layers })) {
        const image = imageOf(properties[layer.id === PLACES ? "name" : "sign"]);
        const { x, y } = map.project(geometry.coordinates);
        const [width, height] = [image.width / 2, image.height / 2];
        const isCity = layer.id === CITIES;
        const left = layer.id === AIRPORTS ? x - 6 : x - width / 2;
        const top = isCity ? y - 7 - height : y - height / 2;
        // A name near the edge of two tiles comes twice.
        signs.set(`${properties.sign ?? properties.name}`, { image, x: left, y: top, isCity });
    }
    return [...signs.values()];
}
