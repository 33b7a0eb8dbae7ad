// @ts-check
// What the page itself draws on the map, for a picture file: the corridor of a route with its waypoints, and a followed
// flight with its track and the area ahead. The server's pictures have none of it.

/** Layers with this metadata are a part of a picture file. */
export const IN_PICTURES = { inPictures: true };
const [BLUE, WHITE, SHADOW] = ["#1552c4", "#fff", "rgba(10, 25, 38, 0.6)"];
const FONT = "600 12px system-ui, 'DejaVu Sans', sans-serif";
/** Half the side of a waypoint's dot. */
const DOT_PIXELS = 6;
const RADIANS = Math.PI / 180;

/** A layer's shapes, from the lowest: areas to fill, or lines.
 * @typedef {{ isFill: boolean, colour: string, opacity: number, width: number, parts: Place[][][] }} Shape
 * @typedef {[longitude: number, latitude: number]} Place
 * A mark: a waypoint with its name, an aircraft with its path and heading, or a text. `corner` is the corner of a name
 * on the page, in pixels from the place.
 * @typedef {{
 *     kind: "waypoint" | "aircraft" | "text", place: Place, text: string, turn: number, corner: [x: number, y: number],
 * }} Mark
 * @typedef {{ shapes: Shape[], marks: Mark[] }} Overlay
 * A picture in web mercator: its box, as west,south,east,north, and its size in pixels.
 * @typedef {{ box: string, width: number, height: number }} Frame */

/** What the map shows besides the server's pictures, or null if that is nothing.
 * @param {maplibregl.Map} map
 * @returns {Overlay | null} */
export function overlayOf(map) {
    const { layers, sources } = map.getStyle();
    /** @type {Shape[]} */
    const shapes = [];
    for (const { type, source, metadata, filter, paint } of layers) {
        if (!metadata?.inPictures) continue;
        const [, name, value] = filter ?? [];
        const { data } = sources[source];
        /** @type {Billow.Feature[]} */
        const features = (data.features ?? [data]).filter((/** @type {Billow.Feature} */ { geometry, properties }) =>
            geometry && (!filter || properties[name] === value));
        const parts = features.flatMap(({ geometry }) => linesOf(geometry));
        if (parts.length) shapes.push({
            isFill: type === "fill", colour: paint[`${type}-color`], opacity: paint[`${type}-opacity`] ?? 1,
            width: paint["line-width"] ?? 0, parts,
        });
    }
    const marks = [...map.getContainer().querySelectorAll(".maplibregl-marker[data-place]")].map(markOf);
    return shapes.length || marks.length ? { shapes, marks } : null;
}

/** A geometry as polygons of rings, or as lines.
 * @param {{ type: string, coordinates: any }} geometry
 * @returns {Place[][][]} */
function linesOf({ type, coordinates }) {
    if (type === "MultiPolygon") return coordinates;
    return type === "LineString" ? [[coordinates]] : [coordinates];
}

/** @param {Element} node
 * @returns {Mark} */
function markOf(node) {
    const [longitude, latitude] = (node.getAttribute("data-place") ?? "").split(",").map(Number);
    const shape = node.querySelector(".followed");
    const [, turn = "0"] = /rotate\(([^)]+)\)/.exec(shape?.firstElementChild?.getAttribute("transform") ?? "") ?? [];
    const label = node.classList.contains("waypoint") ? node.querySelector("span") : null;
    // A name that would hide a report is hidden.
    const isHidden = label?.style.visibility === "hidden";
    return {
        kind: node.classList.contains("waypoint") ? "waypoint" : shape ? "aircraft" : "text",
        place: [longitude, latitude], turn: Number(turn),
        text: shape ? shape.querySelector("path")?.getAttribute("d") ?? "" : isHidden ? "" : node.textContent ?? "",
        corner: label ? [label.offsetLeft - DOT_PIXELS, label.offsetTop - DOT_PIXELS] : [0, 0],
    };
}

/** Converts places to pixels of a picture. A place may lie in several copies of the world.
 * @param {Frame} frame */
function projection({ box, width, height }) {
    const [west, south, east, north] = box.split(",").map(Number);
    const across = (east > west ? east : east + 360) - west;
    /** @param {number} latitude */
    const mercator = (latitude) => Math.asinh(Math.tan(latitude * RADIANS));
    const [top, bottom] = [mercator(north), mercator(south)];
    return {
        world: (360 / across) * width,
        /** @param {Place} place
         * @returns {[x: number, y: number]} */
        project: ([longitude, latitude]) => [
            ((longitude - west) / across) * width, ((top - mercator(latitude)) / (top - bottom)) * height,
        ],
    };
}

/** Draws the shapes as the map does.
 * @param {CanvasRenderingContext2D} context
 * @param {Frame} frame
 * @param {Overlay} overlay */
export function drawShapes(context, frame, { shapes }) {
    const { project, world } = projection(frame);
    for (const { isFill, colour, opacity, width, parts } of shapes) {
        context.beginPath();
        for (const line of parts.flat()) {
            const points = line.map(project);
            // Longitudes lie anywhere from -180 to beyond 360 degrees.
            for (let copy = -2; copy <= 2; copy += 1) {
                for (const [index, [x, y]] of points.entries()) {
                    if (index) context.lineTo(x + copy * world, y);
                    else context.moveTo(x + copy * world, y);
                }
            }
        }
        Object.assign(context, {
            globalAlpha: opacity, fillStyle: colour, strokeStyle: colour, lineWidth: width, lineJoin: "round",
        });
        if (isFill) context.fill("evenodd");
        else context.stroke();
        context.globalAlpha = 1;
    }
}

/** Draws the marks as the page does. A name that would be cut off is left out, because it would mislead. `isCovered`
 * tells whether something lies over an area of the picture.
 * @param {CanvasRenderingContext2D} context
 * @param {Frame} frame
 * @param {Overlay} overlay
 * @param {(left: number, top: number, right: number, bottom: number) => boolean} isCovered */
export function drawMarks(context, frame, { marks }, isCovered) {
    const { project, world } = projection(frame);
    for (const { kind, place, text, turn, corner } of marks) {
        const [east, y] = project(place);
        for (let x = ((east % world) + world) % world - world; x < frame.width + world; x += world) {
            if (x < -20 || x > frame.width + 20 || y < -20 || y > frame.height + 20) continue;
            if (isCovered(x - 6, y - 6, x + 6, y + 6)) continue;
            if (kind === "aircraft") drawAircraft(context, x, y, text, turn);
            else if (kind === "waypoint") {
                drawDot(context, x, y);
                if (text) drawLabel(context, frame, x + corner[0], y + corner[1], text, BLUE, WHITE, isCovered);
            } else {
                context.font = FONT;
                const left = x - context.measureText(text).width / 2 - 7;
                drawLabel(context, frame, left, y - 10, text, "rgba(252, 253, 253, 0.94)", "#17222b", isCovered);
            }
        }
    }
}

/** @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y */
function drawDot(context, x, y) {
    context.save();
    Object.assign(context, { fillStyle: WHITE, shadowColor: SHADOW, shadowBlur: 2 });
    for (const [radius, colour] of /** @type {[number, string][]} */ ([[6, WHITE], [4, BLUE]])) {
        context.fillStyle = colour;
        context.beginPath();
        context.arc(x, y, radius, 0, 2 * Math.PI);
        context.fill();
        context.shadowBlur = 0;
    }
    context.restore();
}

/** @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {string} path  empty for an aircraft without a heading
 * @param {number} turn  degrees */
function drawAircraft(context, x, y, path, turn) {
    context.save();
    context.translate(x, y);
    // On the page, 26 units of the path are 35 pixels.
    context.scale(35 / 26, 35 / 26);
    context.rotate(turn * RADIANS);
    const shape = new Path2D(path);
    if (!path) shape.arc(0, 0, 5, 0, 2 * Math.PI);
    Object.assign(context, { fillStyle: BLUE, strokeStyle: WHITE, lineWidth: 1.5 });
    context.fill(shape);
    context.stroke(shape);
    context.restore();
}

/** @param {CanvasRenderingContext2D} context
 * @param {Frame} frame
 * @param {number} left
 * @param {number} top
 * @param {string} text
 * @param {string} ground
 * @param {string} ink
 * @param {(left: number, top: number, right: number, bottom: number) => boolean} isCovered */
function drawLabel(context, frame, left, top, text, ground, ink, isCovered) {
    context.save();
    Object.assign(context, { font: FONT, textBaseline: "middle", fillStyle: ground });
    const [width, height, padding] = [context.measureText(text).width + (ink === WHITE ? 10 : 14), 20, 5];
    const isInside = left >= 0 && top >= 0 && left + width <= frame.width && top + height <= frame.height;
    if (isInside && !isCovered(left, top, left + width, top + height)) {
        context.beginPath();
        // A card with round corners.
        for (const [x, y, start] of [[width - 4, 4, 3], [width - 4, height - 4, 0], [4, height - 4, 1], [4, 4, 2]]) {
            context.arc(left + x, top + y, 4, (start * Math.PI) / 2, ((start + 1) * Math.PI) / 2);
        }
        context.closePath();
        context.fill();
        if (ink !== WHITE) {
            Object.assign(context, { strokeStyle: BLUE, lineWidth: 1 });
            context.stroke();
        }
        context.fillStyle = ink;
        context.fillText(text, left + (ink === WHITE ? padding : 7), top + height / 2 + 0.5);
    }
    context.restore();
}
