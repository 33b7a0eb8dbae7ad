// @ts-check
import { ageText } from "/examples/age.js";
import { equal, test } from "../harness.js";

test("the age of data of another day has its date, and each state is named", () => {
    const now = "2026-11-29T00:10:00Z";
    equal(ageText({ dataTime: "2026-11-29T00:09:00Z" }, now), "Data of 00:09Z");
    equal(ageText({ dataTime: "2026-11-28T23:59:00Z", stale: true }, now), "Data of 2026-11-28 23:59Z · STALE");
    equal(ageText({ dataTime: null, simulated: true, incomplete: true }, now),
        "The age of the data is unknown · SIMULATED · INCOMPLETE");
});
