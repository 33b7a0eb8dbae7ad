// @ts-check
// Finds where a flight along a route meets issued areas while they are valid. The server's profiles have the areas of
// one instant, and a flight takes hours: an area may end before the aircraft is there, or begin meanwhile.
import { greatCircle, milesBetween, milesFrom } from "./distance.js";
import { instantOf } from "./format.js";

const HOUR = 3_600_000;
/** Places along the route are at most this far apart, in degrees of arc: 6 nautical miles. */
const STEP_DEGREES = 0.1;

/** @typedef {Record<string, any> & { stretches: [from: number, to: number][] }} Hazard  stretches in nautical miles */

/** Divides areas beside a route into those that are valid where the flight passes, with these parts of the route, and
 * all others. Without the waypoints' positions, an area is taken to lie along the whole route.
 * @param {Billow.Feature[]} features  areas within a corridor, at any time of the flight
 * @param {{ longitude: number, latitude: number }[]} waypoints
 * @param {{ departure: number, speed: number, width: number, length: number }} flight  knots and nautical miles
 * @returns {{ valid: Hazard[], other: Hazard[] }} */
export function hazardsOfPassage(features, waypoints, { departure, speed, width, length }) {
    let miles = 0;
    const places = greatCircle(waypoints, STEP_DEGREES).map((place, index, line) => {
        if (index) miles += milesBetween(line[index - 1], place);
        return { place, miles, eta: departure + (miles / speed) * HOUR };
    });
    /** @type {{ valid: Hazard[], other: Hazard[] }} */
    const found = { valid: [], other: [] };
    for (const { geometry, properties } of features) {
        const from = instantOf(properties.validFrom) ?? -Infinity, to = instantOf(properties.validTo) ?? Infinity;
        if (!places.length) {
            found.valid.push({ ...properties, stretches: [[0, length]] });
            continue;
        }
        const distances = places.map(({ place }) => milesFrom(geometry, place));
        // The server knows the corridor better. An area that only touches it lies at its nearest place.
        const limit = Math.max(width / 2, Math.min(...distances));
        const touched = distances.map((distance) => distance <= limit);
        const valid = stretchesOf(places, (index) =>
            touched[index] && places[index].eta >= from && places[index].eta < to);
        if (valid.length) found.valid.push({ ...properties, stretches: valid });
        else found.other.push({ ...properties, stretches: stretchesOf(places, (index) => touched[index]) });
    }
    for (const list of Object.values(found)) list.sort((a, b) => a.stretches[0][0] - b.stretches[0][0]);
    return found;
}

/** @param {{ miles: number }[]} places
 * @param {(index: number) => boolean} isIn
 * @returns {[from: number, to: number][]} */
function stretchesOf(places, isIn) {
    /** @type {[number, number][]} */
    const stretches = [];
    for (const [index, { miles }] of places.entries()) {
        if (!isIn(index)) continue;
        if (index && isIn(index - 1)) stretches[stretches.length - 1][1] = miles;
        else stretches.push([miles, miles]);
    }
    return stretches;
}
