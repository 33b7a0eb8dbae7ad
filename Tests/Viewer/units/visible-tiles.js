// @ts-check
import { boundsOf, mercator, tilesInView } from "/js/visible-tiles.js";
import { equal, ok, test } from "../harness.js";

test("a view has the tiles of its zoom around its centre, the centre first, each once", () => {
    equal(tilesInView({ zoom: 0, longitude: 0, latitude: 0 }, 1200, 400).length, 4);
    const tiles = tilesInView({ zoom: 4, longitude: -96, latitude: 39 }, 1440, 900);
    equal(tiles[0], [5, 7, 12]);
    equal([tiles.length, new Set(tiles.map(String)).size], [28, 28]);
});

test("tiles cover any window at any zoom, because a hole would look like smooth air", () => {
    for (const [width, height] of [[1920, 1080], [3840, 2160]]) {
        for (const zoom of [3, 4.5, 4.9, 6.6]) {
            const bounds = boundsOf({ zoom, longitude: -96, latitude: 39 }, width, height);
            const tiles = new Set(tilesInView({ zoom, longitude: -96, latitude: 39 }, width, height).map(String));
            const z = Math.round(zoom + 1), count = 2 ** z;
            for (const longitude of [bounds.getWest() + 0.01, -96, bounds.getEast() - 0.01]) {
                for (const latitude of [bounds.getSouth() + 0.01, 39, bounds.getNorth() - 0.01]) {
                    const [x, y] = mercator(longitude, latitude).map((share) => Math.floor(share * count));
                    ok(tiles.has(`${z},${(x + count) % count},${y}`), `${width}, ${zoom}: ${longitude}, ${latitude}`);
                }
            }
        }
    }
});

test("tiles wrap at the antimeridian, and end at the poles", () => {
    const xs = new Set(tilesInView({ zoom: 2, longitude: 180, latitude: 0 }, 500, 100).map(([, x]) => x));
    ok(xs.has(7) && xs.has(0), [...xs].join());
    ok(tilesInView({ zoom: 2, longitude: 0, latitude: 85 }, 500, 900).every(([, , y]) => y >= 0), "none north of it");
});

test("a window has the bounds that a map of its size has", () => {
    const bounds = boundsOf({ zoom: 0, longitude: 10, latitude: 0 }, 512, 512);
    equal([bounds.getWest(), bounds.getEast()], [-170, 190]);
    equal([bounds.getSouth(), bounds.getNorth()].map((side) => side.toFixed(4)), ["-85.0511", "85.0511"]);
    const near = boundsOf({ zoom: 10, longitude: 0, latitude: 60 }, 100, 100);
    ok(near.getSouth() < 60 && near.getNorth() > 60 && near.getNorth() - near.getSouth() < 0.2, "around its centre");
});
