// @ts-check
// The labels beside aircraft, which the server draws into its pictures: call sign and level.
import { mercator, WORLD_TILE_PIXELS } from "./visible-tiles.js";

/** Of the aircraft in a square of this side, the server draws one. From a zoom on, the squares are smaller. */
const SQUARE = 11, SMALL_SQUARE = 2, SMALL_SQUARE_ZOOM = 9;
/** The most labels of a block of this side. */
const BLOCK = 256, BLOCK_LABELS = 25;
/** The distance from an aircraft to its label, the side of its symbol, and the label's size and halo. */
const GAP = 11, SYMBOL = 18, EM = 10, HALO = 1.5;
/** A box of a text reaches from 0.8 em above its baseline to 0.24 em below it. The baseline is below the aircraft. */
const HEIGHT = 1.04 * EM + 2 * HALO, BELOW = 4 - 0.28 * EM;
const LONGEST_TEXT = 40;

/** @typedef {import("./label-guards.js").Box} Box
 * @typedef {import("./label-guards.js").Label} Label
 * @typedef {import("./label-guards.js").Place} Place */

/** The labels of aircraft in the order of their rank. Aircraft on the ground have none.
 * @param {Billow.Feature[]} aircraft
 * @param {number} zoom  that of the map, a whole number
 * @returns {Label[]} */
export function aircraftLabels(aircraft, zoom) {
    const world = WORLD_TILE_PIXELS * 2 ** zoom;
    const square = zoom < SMALL_SQUARE_ZOOM ? SQUARE : SMALL_SQUARE;
    /** @param {Place} place
     * @param {number} side */
    const keyOf = ({ x, y }, side) => `${Math.floor(x / side)} ${Math.floor(y / side)}`;
    /** The first aircraft of each square.
     * @type {Map<string, Place & { text: string }>} */
    const shown = new Map();
    const byAddress = [...aircraft].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
    for (const { id, geometry, properties } of byAddress.filter((each) => !each.properties.onGround)) {
        const [x, y] = mercator(geometry.coordinates[0], geometry.coordinates[1]).map((share) => share * world);
        const key = keyOf({ x, y }, square);
        if (!shown.has(key)) shown.set(key, { x, y, text: labelText(String(id), properties) });
    }
    /** @type {Map<string, number>} */
    const counts = new Map();
    return [...shown.values()].filter((place) => {
        const block = keyOf(place, BLOCK), count = (counts.get(block) ?? 0) + 1;
        counts.set(block, count);
        return count <= BLOCK_LABELS;
    }).map(({ x, y, text }) => {
        const width = widthOf(text);
        const spots = [1, -1].map((side) => ({ x: x + side * (GAP + width / 2), y: y + BELOW }));
        return { width: width + 2 * HALO, height: HEIGHT, spots, symbol: { x, y } };
    });
}

/** The box of a label with its aircraft's symbol.
 * @param {Box & { symbol?: Place }} label
 * @returns {Box} */
export function withSymbol({ symbol, ...box }) {
    if (!symbol) return box;
    const left = Math.min(box.x - box.width / 2, symbol.x - SYMBOL / 2);
    const right = Math.max(box.x + box.width / 2, symbol.x + SYMBOL / 2);
    return { x: (left + right) / 2, y: symbol.y, width: right - left, height: SYMBOL };
}

/** "UAL123 FL350", "a1b2c3 9,000 ft"
 * @param {string} address
 * @param {{ callsign?: string, altitude?: number }} properties */
function labelText(address, { callsign, altitude }) {
    const hundreds = altitude === undefined ? null : Math.trunc((altitude + 50) / 100);
    const level = hundreds === null ? null : hundreds >= 180 ? `FL${hundreds}`
        : `${(hundreds * 100).toLocaleString("en")} ft`;
    const text = [callsign ?? address, level].filter((part) => part !== null).join(" ");
    return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text;
}

/** The server's bound of a text's width.
 * @param {string} text */
const widthOf = (text) => EM * [...text].reduce((sum, letter) => sum
    + (/[ ,.:\-'/()IJfijlrt]/.test(letter) ? 0.42 : /[0-9a-ln-vx-z]/.test(letter) ? 0.64
        : /[A-LN-VX-Z–]/.test(letter) ? 0.79 : 1), 0);
