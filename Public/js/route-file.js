// @ts-check
// The file of a route: its corridor, its line, and the hexagons and hazard areas along it. The page composes it of what
// the card shows, so the file needs no further request, and no key.
import { greatCircle } from "./distance.js";
import { element } from "./dom.js";

/** What a card of a route shows. `areas` are valid at some time of the flight.
 * @typedef {{
 *     route: string, corridor: Billow.Feature, places: { longitude: number, latitude: number }[],
 *     cells: Billow.FeatureCollection, areas: { features: Billow.Feature[], incomplete: boolean }, departure: number,
 *     speed: number, width: number,
 * }} ShownRoute */

/** The feature collection of a route. The member `part` tells what a feature is.
 * @param {ShownRoute} shown */
export function routeCollection({ route, corridor, places, cells, areas, departure, speed, width }) {
    /** @param {string} part
     * @param {Billow.Feature[]} features */
    const named = (part, features) => features.map((feature) =>
        ({ ...feature, type: "Feature", properties: { part, ...feature.properties } }));
    const flight = {
        route, departure: new Date(departure).toISOString().replace(/\.\d+Z/, "Z"), speedKnots: speed,
        widthNauticalMiles: width,
    };
    const line = { geometry: { type: "LineString", coordinates: greatCircle(places) }, properties: flight };
    return {
        type: "FeatureCollection", incomplete: cells.incomplete === true || areas.incomplete,
        features: [
            ...named("corridor", [{ geometry: corridor.geometry, properties: flight }]),
            // A line needs two places, and leaves none out.
            ...(places.length === route.split(" ").length && places.length > 1 ? named("line", [line]) : []),
            ...named("hexagon", cells.features), ...named("hazard", areas.features),
        ],
    };
}

/** @param {ShownRoute} shown
 * @param {string} file */
export function saveRoute(shown, file) {
    const blob = new Blob([JSON.stringify(routeCollection(shown))], { type: "application/geo+json" });
    const address = URL.createObjectURL(blob);
    element("a", { href: address, download: file }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
