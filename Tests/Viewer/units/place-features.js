// @ts-check
import { isUrgent } from "/js/place-features.js";
import { ok, test } from "../harness.js";

test("a report is urgent by the upstream's type", () => {
    for (const type of ["Urgent PIREP", "UUA", "urgent"]) ok(isUrgent({ type }), type);
    for (const type of ["PIREP", "AIREP", "", null, undefined]) ok(!isUrgent({ type }), `${type}`);
});
