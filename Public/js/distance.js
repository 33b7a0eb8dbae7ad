// @ts-check
// Distances and directions between a place and features: in pixels on the map, and in nautical miles.

const TILE_PIXELS = 512;
const RADIUS_NAUTICAL_MILES = 3440.065;
const DIRECTIONS = ["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"];
const radians = Math.PI / 180;

/** @typedef {[longitude: number, latitude: number]} Place */

/** Projects a place to pixels from the north-west corner of the world (web mercator) at a zoom.
 * @param {number[]} place
 * @param {number} zoom
 * @returns {[x: number, y: number]} */
function project([longitude, latitude], zoom) {
    const world = TILE_PIXELS * 2 ** zoom;
    const y = Math.log(Math.tan(Math.PI / 4 + (latitude * radians) / 2)) / (2 * Math.PI);
    return [(longitude / 360 + 0.5) * world, (0.5 - y) * world];
}

/** The distance of a point or polygon from a place, in pixels; 0 inside a polygon.
 * @param {Billow.Feature["geometry"]} geometry
 * @param {Place} place
 * @param {number} zoom */
export function pixelDistance({ type, coordinates }, place, zoom) {
    const here = project(place, zoom);
    if (type === "Point") return pointDistance(project(coordinates, zoom), here);
    /** @type {number[][][][]} */
    const polygons = type === "MultiPolygon" ? coordinates : [coordinates];
    return Math.min(...polygons.map(([ring]) => {
        const points = ring.map((each) => project(each, zoom));
        return isInside(points, here) ? 0 : Math.min(...points.map((point, index) =>
            segmentDistance(here, points[index && index - 1], point)));
    }));
}

/** The distance of a point or polygon from a place, in nautical miles; 0 inside a polygon. On the map, a nautical mile
 * is equally long in all directions, so this is exact enough for a few hundred miles.
 * @param {Billow.Feature["geometry"]} geometry
 * @param {Place} place */
export function milesFrom(geometry, [longitude, latitude]) {
    const east = ((((longitude + 180) % 360) + 360) % 360) - 180;
    const miles = (2 * Math.PI * RADIUS_NAUTICAL_MILES * Math.cos(latitude * radians)) / TILE_PIXELS;
    // The geometry may lie beyond the antimeridian.
    return miles * Math.min(...[east, east > 0 ? east - 360 : east + 360].map((each) =>
        pixelDistance(geometry, [each, latitude], 0)));
}

/** @param {number[]} a
 * @param {number[]} b */
const pointDistance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

/** @param {number[][]} ring
 * @param {number[]} place */
function isInside(ring, [x, y]) {
    let inside = false;
    for (let index = 0, before = ring.length - 1; index < ring.length; before = index++) {
        const [x1, y1] = ring[index];
        const [x2, y2] = ring[before];
        if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
    }
    return inside;
}

/** @param {number[]} place
 * @param {number[]} start
 * @param {number[]} end */
function segmentDistance(place, start, end) {
    const [dx, dy] = [end[0] - start[0], end[1] - start[1]];
    const share = ((place[0] - start[0]) * dx + (place[1] - start[1]) * dy) / (dx * dx + dy * dy || 1);
    const along = Math.min(Math.max(share, 0), 1);
    return pointDistance(place, [start[0] + along * dx, start[1] + along * dy]);
}

/** The mean position of a polygon's outline.
 * @param {Billow.Feature["geometry"]} geometry
 * @returns {Place} */
export function centroid({ type, coordinates }) {
    /** @type {number[][]} */
    const ring = (type === "MultiPolygon" ? coordinates[0][0] : coordinates[0]).slice(1);
    /** @param {number} axis */
    const mean = (axis) => ring.reduce((sum, point) => sum + point[axis], 0) / ring.length;
    return [mean(0), mean(1)];
}

/** The distance between two places in nautical miles.
 * @param {Place} from
 * @param {Place} to */
export function milesBetween(from, to) {
    const [east, north, south] = [(to[0] - from[0]) * radians, to[1] * radians, from[1] * radians];
    const half = Math.sin((north - south) / 2) ** 2 + Math.cos(south) * Math.cos(north) * Math.sin(east / 2) ** 2;
    return 2 * RADIUS_NAUTICAL_MILES * Math.asin(Math.sqrt(half));
}

/** The distance and direction from one place to another: "8 NM north-east".
 * @param {Place} from
 * @param {Place} to */
export function bearingText(from, to) {
    const [east, north] = [(to[0] - from[0]) * radians, to[1] * radians];
    const south = from[1] * radians;
    const miles = milesBetween(from, to);
    const course = Math.atan2(
        Math.sin(east) * Math.cos(north),
        Math.cos(south) * Math.sin(north) - Math.sin(south) * Math.cos(north) * Math.cos(east));
    const direction = DIRECTIONS[((Math.round(course / (Math.PI / 4)) % 8) + 8) % 8];
    return `${miles < 10 ? miles.toFixed(1) : Math.round(miles)} NM ${direction}`;
}

/** A box around a place, as the server's `bbox`. On the map, a degree of latitude is longer than one of longitude.
 * @param {number} longitude
 * @param {number} latitude
 * @param {number} degrees */
export function boxAround(longitude, latitude, degrees) {
    const up = degrees * Math.cos((latitude * Math.PI) / 180);
    const sides = [
        Math.max(-180, longitude - degrees), Math.max(-90, latitude - up),
        Math.min(180, longitude + degrees), Math.min(90, latitude + up),
    ];
    return sides.map((side) => side.toFixed(5)).join(",");
}

/** The points of the shortest lines between waypoints. Longitudes go on beyond 180 degrees, as a map draws lines.
 * @param {{ longitude: number, latitude: number }[]} waypoints
 * @param {number} [stepDegrees]  the longest arc between two points
 * @returns {Place[]} */
export function greatCircle(waypoints, stepDegrees = 1) {
    /** @type {Place[]} */
    const line = [];
    for (const [index, { longitude, latitude }] of waypoints.entries()) {
        const before = waypoints[index - 1];
        if (before) {
            const [a, b] = [vectorOf(before), vectorOf({ longitude, latitude })];
            const angle = Math.acos(Math.min(Math.max(a.reduce((sum, each, axis) => sum + each * b[axis], 0), -1), 1));
            const steps = Math.max(1, Math.ceil(angle / (stepDegrees * radians)));
            for (let step = 1; step < steps; step += 1) {
                const [from, to] = [Math.sin((1 - step / steps) * angle), Math.sin((step / steps) * angle)];
                const [x, y, z] = a.map((each, axis) => each * from + b[axis] * to);
                line.push(unwrapped(line, [Math.atan2(y, x) / radians, Math.atan2(z, Math.hypot(x, y)) / radians]));
            }
        }
        line.push(unwrapped(line, [longitude, latitude]));
    }
    return line;
}

/** @param {{ longitude: number, latitude: number }} place */
function vectorOf({ longitude, latitude }) {
    const [east, north] = [longitude * radians, latitude * radians];
    return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)];
}

/** @param {Place[]} line
 * @param {Place} place
 * @returns {Place} */
function unwrapped(line, [longitude, latitude]) {
    const last = line[line.length - 1]?.[0] ?? longitude;
    return [longitude + 360 * Math.round((last - longitude) / 360), latitude];
}
