// @ts-check
// Airports by their codes and names, from the list that set-up makes. It is loaded when the first route is wanted.
import { answer } from "./server.js";

const LIST = "vendor/airports/airports.json";
/** Cities of so many airports are as important as any. */
const LARGE_CITY = 5;
const RADIUS_NAUTICAL_MILES = 3440.065;

/** `icao` is the location indicator, or the code of the country's own register where there is none.
 * @typedef {{
 *     icao: string, iata: string, name: string, city: string, country: string, longitude: number, latitude: number,
 *     words: string[],
 * }} Airport
 * @typedef {[icao: string, iata: string, name: string, city: string, country: string, longitude: number,
 *     latitude: number]} Row */

/** Lower case and without accents.
 * @param {string} text */
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
/** @param {string} text */
const wordsOf = (text) => plain(text).split(/[^\p{L}\p{N}]+/u).filter(Boolean);

export class Airports {
    /** @type {Airport[]} */
    #all;
    /** @type {Map<string, Airport>} */
    #codes = new Map();
    /** How many airports with both codes a city has.
     * @type {Map<string, number>} */
    #inCity = new Map();

    /** @param {Row[]} rows */
    constructor(rows) {
        this.#all = rows.map(([icao, iata, name, city, country, longitude, latitude]) => ({
            icao, iata, name, city, country, longitude, latitude, words: wordsOf(`${city} ${name}`),
        }));
        for (const airport of this.#all) {
            if (isLarge(airport)) this.#inCity.set(cityOf(airport), (this.#inCity.get(cityOf(airport)) ?? 0) + 1);
        }
        for (const airport of this.#all) if (airport.iata) this.#codes.set(airport.iata, airport);
        // Where a register's own code is another airport's IATA code, the location indicator counts.
        for (const airport of this.#all) this.#codes.set(airport.icao, airport);
    }

    get count() { return this.#all.length; }
    get all() { return this.#all; }

    /** The airport of an ICAO or an IATA code.
     * @param {string} code
     * @returns {Airport | null} */
    of(code) { return this.#codes.get(code.toUpperCase()) ?? null; }

    /** The airports that a text may mean, the likeliest first: by a code or its beginning, or by words of the name.
     * @param {string} text
     * @param {number} most
     * @returns {Airport[]} */
    search(text, most) {
        const wanted = wordsOf(text);
        const code = text.trim().toUpperCase();
        if (!wanted.length) return [];
        /** @type {{ airport: Airport, score: number }[]} */
        const found = [];
        for (const airport of this.#all) {
            const score = scoreOf(airport, code, wanted);
            // The London with six airports comes before the London with one.
            const size = Math.min(this.#inCity.get(cityOf(airport)) ?? 0, LARGE_CITY) / 2;
            if (score > 0) found.push({ airport, score: score + size });
        }
        found.sort((a, b) => b.score - a.score || (a.airport.icao < b.airport.icao ? -1 : 1));
        return found.slice(0, most).map(({ airport }) => airport);
    }

    /** The nearest airport within so many nautical miles of a place, of those that a map of a zoom has.
     * @param {number} longitude
     * @param {number} latitude
     * @param {number} miles
     * @param {number} zoom
     * @returns {Airport | null} */
    near(longitude, latitude, miles, zoom) {
        const up = (miles / RADIUS_NAUTICAL_MILES) * (180 / Math.PI);
        const along = up / Math.max(Math.cos((latitude * Math.PI) / 180), 0.01);
        /** @type {{ airport: Airport | null, off: number }} */
        let nearest = { airport: null, off: 1 };
        for (const airport of this.#all) {
            if (firstZoom(airport) > zoom) continue;
            const east = ((airport.longitude - longitude + 540) % 360) - 180;
            const off = Math.hypot(east / along, (airport.latitude - latitude) / up);
            if (off < nearest.off) nearest = { airport, off };
        }
        return nearest.airport;
    }
}

/** From which zoom on a map has room for an airport: basemap.js has the same zooms.
 * @param {Airport} airport */
export const firstZoom = (airport) => (!isLarge(airport) ? 9 : isInternational(airport) ? 5 : 7);

/** @param {Airport} airport */
const isInternational = ({ name }) => /international/i.test(name);
/** @param {Airport} airport */
const cityOf = ({ city, country }) => `${city}, ${country}`;
/** Those with both codes: airlines fly there.
 * @param {Airport} airport */
const isLarge = ({ icao, iata }) => iata !== "" && /^[A-Z]{4}$/.test(icao);

/** How well an airport fits what was typed; 0 is not at all.
 * @param {Airport} airport
 * @param {string} code
 * @param {string[]} wanted */
function scoreOf(airport, code, wanted) {
    const { icao, iata, words } = airport;
    const importance = (isLarge(airport) ? 2 : 0) + (isInternational(airport) ? 1 : 0);
    if (icao === code) return 100;
    if (iata === code) return 90;
    if (code.length > 1 && icao.startsWith(code)) return 50 + importance;
    if (code.length > 1 && iata.startsWith(code)) return 40 + importance;
    const last = wanted.length - 1;
    // Each word is one of the name; the last may still be typed.
    const fits = wanted.every((word, place) => words.some((each) => each === word
        || (place === last && word.length + last > 1 && each.startsWith(word))));
    if (!fits) return 0;
    return 10 + importance + (words.includes(wanted[last]) ? 4 : 0) + (words[0] === wanted[0] ? 8 : 0);
}

/** @type {Promise<Airports> | null} */
let loading = null;

/** The list; one without any airport where set-up made none.
 * @returns {Promise<Airports>} */
export function loadAirports() {
    loading ??= answer(LIST).then((response) => response.json()).then((rows) => new Airports(rows), () => {
        loading = null;
        return new Airports([]);
    });
    return loading;
}
