// @ts-check
// The first picture: the prefetched tiles over the base map, on a canvas, while the map library loads and starts. The
// map then shows the same tiles, so both have the same time and marks. Any change of the view removes the canvas.
import { COARSE, paletteOf } from "./basemap.js";
import { byId, element } from "./dom.js";
import { TileMarks } from "./tile-marks.js";
import { latitudeAt, mercator, WORLD_TILE_PIXELS } from "./visible-tiles.js";

/** @typedef {{
 *     tileJSON: Billow.TileJSON, request: Billow.PictureRequest,
 *     tiles: { tile: [z: number, x: number, y: number], opacity: number, response: Promise<Response> }[],
 * }} Prefetched
 * @typedef {import("./picture-state.js").ShownPicture} ShownPicture */

/** @type {Promise<{ properties: { kind: string }, geometry: { type: string, coordinates: any } }[]> | null} */
let ground = null;

export function prefetchGround() {
    ground ??= fetch(COARSE).then(async (response) => (await response.json()).features);
    ground.catch(() => {});
    return ground;
}

export class FirstPicture {
    /** The picture on the canvas, or null.
     * @type {ShownPicture | null} */
    current = null;
    next = null;
    isOutdated = false;
    #isRemoved = false;
    #canvas = element("canvas", { className: "first-picture", "aria-hidden": "true" });

    /** Draws the picture. Without all of its tiles it draws nothing, because a hole would look like smooth air.
     * @param {Billow.View} view
     * @param {"light" | "dark"} theme
     * @param {Prefetched} prefetched */
    async draw(view, theme, { request, tiles }) {
        const marks = new TileMarks();
        const loading = Promise.all(tiles.map(async ({ response }) => {
            const { headers, body } = await response;
            marks.readHeaders(headers);
            return createImageBitmap(await new Response(body).blob());
        }));
        // The ground is drawn while the tiles load. A failure of theirs is thrown below.
        loading.catch(() => {});
        const features = await prefetchGround();
        // One drawing by the processor is faster than by a graphics processor that is about to start the map.
        const context = this.#canvas.getContext("2d", { willReadFrequently: true });
        // The canvas has the Mercator projection.
        if (!context || view.isGlobe) return;
        const [width, height] = [innerWidth, innerHeight];
        this.#canvas.width = width * devicePixelRatio;
        this.#canvas.height = height * devicePixelRatio;
        const world = WORLD_TILE_PIXELS * 2 ** view.zoom;
        const [x, y] = mercator(view.longitude, view.latitude);
        const left = width / 2 - x * world, top = height / 2 - y * world;
        /** Draws in each visible repetition of the world, whose left edge is at a distance in pixels.
         * @param {(edge: number) => void} drawWorld */
        const repeat = (drawWorld) => {
            for (let turn = Math.floor(-left / world); left + turn * world < width; turn += 1) {
                context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
                context.translate(left + turn * world, top);
                drawWorld(left + turn * world);
            }
        };
        repeat((edge) => {
            /** @param {number} x */
            const longitude = (x) => ((x - edge) / world - 0.5) * 360;
            const [south, north] = [latitudeAt((height - top) / world), latitudeAt(-top / world)];
            const bounds = [longitude(0), south, longitude(width), north];
            drawGround(context, features, paletteOf(theme), world, view.zoom, bounds);
        });
        const images = await loading;
        await pageParsed();
        if (this.#isRemoved) return;
        repeat(() => {
            for (const [index, { tile: [z, column, row], opacity }] of tiles.entries()) {
                const size = world / 2 ** z;
                context.globalAlpha = opacity;
                context.drawImage(images[index], column * size, row * size, size, size);
            }
        });
        const { simulated, incomplete, isTorn, hasField, frameTime, newestTime } = marks;
        const failures = new Map();
        this.current = { request, simulated, incomplete, isTorn, hasField, frameTime, newestTime, failures };
        byId("map").dataset.picture = "first";
        byId("crosshair").after(this.#canvas);
    }

    /** Moves the canvas into the map's container, below the map's controls.
     * @param {HTMLElement} container */
    moveInto(container) {
        if (this.current) container.append(this.#canvas);
    }

    /** Removes the picture, or keeps it from being drawn. */
    remove() {
        this.#isRemoved = true;
        this.current = null;
        delete byId("map").dataset.picture;
        this.#canvas.remove();
    }
}

/** Resolves when the page has its elements, or is read to its end. This module may run before. */
async function pageParsed() {
    while (document.readyState === "loading" && !document.getElementById("crosshair")) {
        await new Promise((resolve) => setTimeout(resolve));
    }
}

/** @param {CanvasRenderingContext2D} context
 * @param {Awaited<ReturnType<typeof prefetchGround>>} features
 * @param {import("./basemap.js").Palette} palette
 * @param {number} world  the width of the world in pixels
 * @param {number} zoom
 * @param {number[]} bounds  the visible part: west, south, east, north */
function drawGround(context, features, palette, world, zoom, bounds) {
    context.fillStyle = palette.ocean;
    context.fillRect(0, -world, world, 3 * world);
    context.lineJoin = "round";
    /** @param {string} kind */
    const pathOf = (kind) => {
        const path = new Path2D();
        for (const { properties, geometry } of features) {
            if (properties.kind === kind) addTo(path, geometry.coordinates, world, bounds);
        }
        return path;
    };
    context.fillStyle = palette.land;
    context.fill(pathOf("land"), "evenodd");
    context.fillStyle = palette.ocean;
    context.fill(pathOf("lake"), "evenodd");
    for (const [kind, width] of lineWidths(zoom)) {
        context.strokeStyle = palette[kind];
        context.lineWidth = width;
        context.stroke(pathOf(kind));
    }
}

/** The widths of lines as in the style of the base map.
 * @param {number} zoom
 * @returns {[kind: "state" | "border" | "coast", width: number][]} */
function lineWidths(zoom) {
    const share = Math.min(Math.max((zoom - 1) / 5, 0), 1);
    return [["state", 0.8], ["border", 0.5 + 0.9 * share], ["coast", 0.5 + 0.7 * share]];
}

/** Adds the visible lines and rings of a line or polygon, or of several, to a path.
 * @param {Path2D} path
 * @param {any[]} coordinates
 * @param {number} world
 * @param {number[]} bounds */
function addTo(path, coordinates, world, bounds) {
    if (typeof coordinates[0]?.[0] !== "number") {
        for (const part of coordinates) addTo(path, part, world, bounds);
        return;
    }
    const [west, south, east, north] = bounds;
    const isOutside = coordinates.every(([longitude]) => longitude < west)
        || coordinates.every(([longitude]) => longitude > east)
        || coordinates.every(([, latitude]) => latitude < south)
        || coordinates.every(([, latitude]) => latitude > north);
    if (isOutside) return;
    for (const [index, [longitude, latitude]] of coordinates.entries()) {
        const [x, y] = mercator(longitude, latitude);
        if (index) path.lineTo(x * world, y * world);
        else path.moveTo(x * world, y * world);
    }
}
