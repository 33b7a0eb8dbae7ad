// @ts-check
import { boundsOf, tilesInView } from "/js/visible-tiles.js";
import { equal, ok, test } from "../harness.js";

test("a view has the tiles of its zoom around its centre, the centre first, each once", () => {
    equal(tilesInView({ zoom: 0, longitude: 0, latitude: 0 }, 1200, 400).length, 4);
    const tiles = tilesInView({ zoom: 4, longitude: -96, latitude: 39 }, 1440, 900);
    equal(tiles[0], [5, 7, 12]);
    equal([tiles.length, new Set(tiles.map(String)).size], [28, 28]);
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
