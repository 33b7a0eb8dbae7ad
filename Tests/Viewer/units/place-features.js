// @ts-check
import { boxAround, isUrgent } from "/js/place-features.js";
import { equal, ok, test } from "../harness.js";

test("a box around a place is square on the map, and within the world", () => {
    equal(boxAround(10, 0, 0.5), "9.50000,-0.50000,10.50000,0.50000");
    equal(boxAround(10, 60, 0.5), "9.50000,59.75000,10.50000,60.25000");
    equal(boxAround(179.9, 89.999, 0.5).split(",").map(Number).every((side) => Math.abs(side) <= 180), true);
});

test("a report is urgent by the upstream's type", () => {
    for (const type of ["Urgent PIREP", "UUA", "urgent"]) ok(isUrgent({ type }), type);
    for (const type of ["PIREP", "AIREP", "", null, undefined]) ok(!isUrgent({ type }), `${type}`);
});
