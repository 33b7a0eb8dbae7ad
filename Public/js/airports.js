// @ts-check
// Finds airports by code and name, in the list that Scripts/setup-viewer makes. The page loads it for the first route.
import { getAsset } from "./server.js";

const LIST = "vendor/airports/airports.json";
/** More airports than this do not make a city rank higher. */
const LARGE_CITY = 5;
const RADIUS_NAUTICAL_MILES = 3440.065;
/** The airport that the name of a city means, if the city has several: where most long flights go. Cities with two such
 * airports, such as Tokyo, are not in the list. */
const MAIN_AIRPORTS = new Set([
    "CYUL", "CYYZ", "EDDF", "EGLL", "ESSA", "KDFW", "KDTW", "KIAH", "KJFK", "KLAX", "KMIA", "KORD", "KSFO", "LFPG",
    "LIRF", "LTFM", "OMDB", "RJBB", "RKSI", "SBGL", "SBGR", "UUEE", "VTBS", "ZBAA", "ZSPD",
]);

/** `icao` is the location indicator, or the code of the national register if the airport has no indicator.
 * @typedef {{
 *     icao: string, iata: string, name: string, city: string, country: string, longitude: number, latitude: number,
 *     nameWords: string[],
 * }} Airport
 * @typedef {[icao: string, iata: string, name: string, city: string, country: string, longitude: number,
 *     latitude: number]} Row */

/** The text in lower case and without accents.
 * @param {string} text */
const normalise = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
/** @param {string} text */
const wordsOf = (text) => normalise(text).split(/[^\p{L}\p{N}]+/u).filter(Boolean);

export class Airports {
    /** @type {Airport[]} */
    #all;
    /** @type {Map<string, Airport>} */
    #codes = new Map();
    /** City → its number of airports with both codes.
     * @type {Map<string, number>} */
    #inCity = new Map();

    /** @param {Row[]} rows */
    constructor(rows) {
        this.#all = rows.map(([icao, iata, name, city, country, longitude, latitude]) => ({
            icao, iata, name, city, country, longitude, latitude, nameWords: wordsOf(`${city} ${name}`),
        }));
        for (const airport of this.#all) {
            if (isLarge(airport)) this.#inCity.set(cityOf(airport), (this.#inCity.get(cityOf(airport)) ?? 0) + 1);
        }
        for (const airport of this.#all) if (airport.iata) this.#codes.set(airport.iata, airport);
        // A national code may equal another airport's IATA code. The code in `icao` then wins.
        for (const airport of this.#all) this.#codes.set(airport.icao, airport);
    }

    get count() { return this.#all.length; }
    get all() { return this.#all; }

    /** The airport with an ICAO or IATA code, or null.
     * @param {string} code
     * @returns {Airport | null} */
    find(code) { return this.#codes.get(code.toUpperCase()) ?? null; }

    /** The airports that match a text, best match first. A code, its beginning or words of the name match.
     * @param {string} text
     * @param {number} limit
     * @returns {Airport[]} */
    search(text, limit) {
        const wanted = wordsOf(text);
        const code = text.trim().toUpperCase();
        if (!wanted.length) return [];
        /** @type {{ airport: Airport, score: number }[]} */
        const found = [];
        for (const airport of this.#all) {
            const score = scoreOf(airport, code, wanted);
            // London with six airports ranks before London with one.
            const size = Math.min(this.#inCity.get(cityOf(airport)) ?? 0, LARGE_CITY) / 2;
            if (score > 0) found.push({ airport, score: score + size });
        }
        found.sort((a, b) => b.score - a.score || (a.airport.icao < b.airport.icao ? -1 : 1));
        return found.slice(0, limit).map(({ airport }) => airport);
    }

    /** The airport that a name means: the only one with all its words, or clearly the main one. Null for other names.
     * @param {string} text
     * @returns {Airport | null} */
    named(text) {
        const wanted = wordsOf(text);
        if (!wanted.length) return null;
        const found = this.#all.filter(({ nameWords }) => wanted.every((word) => nameWords.includes(word)));
        const large = found.filter(isLarge);
        const international = large.filter(isInternational);
        const choices = [
            found.filter(({ icao }) => MAIN_AIRPORTS.has(icao)), found, large, international,
            international.filter(({ nameWords }) => nameWords[0] === wanted[0]),
        ];
        return choices.find(({ length }) => length === 1)?.[0] ?? null;
    }

    /** The nearest airport within `miles` nautical miles of a place, among those that the map shows at a zoom.
     * @param {number} longitude
     * @param {number} latitude
     * @param {number} miles
     * @param {number} zoom
     * @returns {Airport | null} */
    nearest(longitude, latitude, miles, zoom) {
        const up = (miles / RADIUS_NAUTICAL_MILES) * (180 / Math.PI);
        const along = up / Math.max(Math.cos((latitude * Math.PI) / 180), 0.01);
        /** @type {{ airport: Airport | null, distance: number }} */
        let nearest = { airport: null, distance: 1 };
        for (const airport of this.#all) {
            if (firstZoom(airport) > zoom) continue;
            const east = ((airport.longitude - longitude + 540) % 360) - 180;
            const distance = Math.hypot(east / along, (airport.latitude - latitude) / up);
            if (distance < nearest.distance) nearest = { airport, distance };
        }
        return nearest.airport;
    }
}

/** The lowest zoom at which the map shows an airport. map-style.js has the same zooms.
 * @param {Airport} airport */
export const firstZoom = (airport) => (!isLarge(airport) ? 9 : isInternational(airport) ? 5 : 7);

/** @param {Airport} airport */
const isInternational = ({ name }) => /international/i.test(name);
/** @param {Airport} airport */
const cityOf = ({ city, country }) => `${city}, ${country}`;
/** Whether an airport has both codes. Airlines fly to such airports.
 * @param {Airport} airport */
const isLarge = ({ icao, iata }) => iata !== "" && /^[A-Z]{4}$/.test(icao);

/** Scores how well an airport matches the typed text; 0 is no match.
 * @param {Airport} airport
 * @param {string} code
 * @param {string[]} wanted */
function scoreOf(airport, code, wanted) {
    const { icao, iata, nameWords } = airport;
    const importance = (isLarge(airport) ? 2 : 0) + (isInternational(airport) ? 1 : 0)
        + (MAIN_AIRPORTS.has(icao) ? 1 : 0);
    if (icao === code) return 100;
    if (iata === code) return 90;
    if (code.length > 1 && icao.startsWith(code)) return 50 + importance;
    if (code.length > 1 && iata.startsWith(code)) return 40 + importance;
    const last = wanted.length - 1;
    // Each word must equal a word of the name. The last word may be incomplete.
    const fits = wanted.every((word, index) => nameWords.some((each) => each === word
        || (index === last && word.length + last > 1 && each.startsWith(word))));
    if (!fits) return 0;
    return 10 + importance + (nameWords.includes(wanted[last]) ? 4 : 0) + (nameWords[0] === wanted[0] ? 8 : 0);
}

/** @type {Promise<Airports> | null} */
let loading = null;

/** Loads the list. It has no airports if set-up did not make it.
 * @returns {Promise<Airports>} */
export function loadAirports() {
    loading ??= getAsset(LIST).then((rows) => new Airports(rows), () => {
        loading = null;
        return new Airports([]);
    });
    return loading;
}
