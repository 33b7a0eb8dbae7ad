// @ts-check
import { routeCollection } from "/js/route-file.js";
import { equal, test } from "../harness.js";

test("the file of a route has its corridor, its line, and the hexagons and hazard areas along it", () => {
    const feature = (/** @type {object} */ properties) =>
        ({ geometry: { type: "Polygon", coordinates: [] }, properties });
    const found = routeCollection({
        route: "KJFK EGLL", corridor: feature({}), departure: 0, speed: 450, width: 50,
        places: [{ longitude: -74, latitude: 41 }, { longitude: 0, latitude: 51 }],
        cells: { features: [feature({ severity: 3 })] },
        areas: { features: [feature({ validFrom: "1970-01-01T00:00:00Z" })], incomplete: true },
    });
    equal(found.features.map(({ type, properties }) => [type, properties.part]),
        ["corridor", "line", "hexagon", "hazard"].map((part) => ["Feature", part]));
    equal([found.incomplete, found.features[3].properties], [true,
        { part: "hazard", validFrom: "1970-01-01T00:00:00Z" }]);
});
