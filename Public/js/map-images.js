// @ts-check
// The images of the base map: names of countries, cities and airports, and the hatch of places without a picture.
// Loaded with the map library.
import { AIRPORT_SIGN, CITY_SIGN, colours, MISSING_HATCH, themed } from "./basemap.js";

/** Draws a name as an image when MapLibre reports the image as missing. MapLibre's text needs a glyph server, and this
 * page uses no server but Billow.
 * @param {maplibregl.Map} map */
export function drawNames(map) {
    /** @type {Set<string>} */
    const drawn = new Set();
    map.on("styleimagemissing", ({ id }) => {
        drawn.add(id);
        map.addImage(id, imageOf(id), { pixelRatio: 2 });
    });
    themed.add(() => {
        for (const id of drawn) map.updateImage(id, imageOf(id));
    });
}

/** @param {string} id */
export const imageOf = (id) => (id === MISSING_HATCH ? hatchImage() : nameImage(id));

/** The hatch of places without a picture: the lines of the server's hatch of missing data, bolder and over a veil. */
function hatchImage() {
    const side = 32;
    const { veil, hatch } = colours();
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error("this browser does not support canvas drawing");
    context.canvas.width = context.canvas.height = side;
    context.fillStyle = veil;
    context.fillRect(0, 0, side, side);
    context.strokeStyle = hatch;
    context.lineWidth = 4;
    // The lines of the neighbours reach into the corners.
    for (const shift of [-side, 0, side]) {
        context.beginPath();
        context.moveTo(shift - side, -side);
        context.lineTo(shift + 2 * side, 2 * side);
        context.stroke();
    }
    return context.getImageData(0, 0, side, side);
}

/** How a sign is drawn: the prefix of its id, its font, and the radius of its dot. A country has no prefix. */
const SIGNS = [
    { prefix: AIRPORT_SIGN, font: "600 20px", dot: 5 }, { prefix: CITY_SIGN, font: "400 21px", dot: 0 },
    { prefix: "", font: "500 23px", dot: 0 },
];

/** Draws the name of a country or city, or the code of an airport beside a dot.
 * @param {string} id */
function nameImage(id) {
    const { prefix, font: size, dot } = SIGNS.find(({ prefix }) => id.startsWith(prefix)) ?? SIGNS[0];
    const name = id.slice(prefix.length);
    const left = dot ? 22 : 7;
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error("this browser does not support canvas drawing");
    const font = `${size} system-ui, 'DejaVu Sans', sans-serif`;
    context.font = font;
    context.canvas.width = Math.ceil(context.measureText(name).width) + left + 7;
    context.canvas.height = 36;
    Object.assign(context, { font, textBaseline: "middle", lineJoin: "round", lineWidth: 5 });
    context.strokeStyle = colours().halo;
    context.strokeText(name, left, 18);
    context.fillStyle = colours().text;
    context.fillText(name, left, 18);
    if (dot) {
        context.lineWidth = 3;
        context.beginPath();
        context.arc(12, 18, dot, 0, 2 * Math.PI);
        context.stroke();
        context.fill();
    }
    return context.getImageData(0, 0, context.canvas.width, context.canvas.height);
}
