// @ts-check
import { countLevels } from "/js/level-histogram.js";
import { equal, test } from "../harness.js";

test("reports are counted at each level that they cover, moderate or worse separately", () => {
    const counts = countLevels([
        "longitude,latitude,h3,altitudeMin,altitudeMax,severity,aircraft", "1,2,a,31000,33000,3,B738",
        "1,2,b,33000,33000,1,\"A, B\"", "1,2,c,60000,60000,4,", "",
    ].join("\r\n"));
    equal(counts.length, 60);
    equal([30, 31, 33, 59].map((block) => [counts[block].all, counts[block].worse]), [[0, 0], [1, 1], [2, 1], [0, 0]]);
});

test("a table without levels has no counts", () => {
    equal(countLevels("id\n1").filter(({ all }) => all > 0), []);
});
