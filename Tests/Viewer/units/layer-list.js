// @ts-check
import { reordered } from "/js/layer-list.js";
import { parseHash } from "/js/view.js";
import { equal, test } from "../harness.js";

test("a layer moves by one step, and the order is stored", () => {
    const { view } = parseHash("#layers=hazards,hexagons,pireps");
    equal(view.layers, ["hazards", "hexagons", "pireps"]);
    const up = reordered(view, "hazards", 1);
    equal(up, { layers: ["hexagons", "hazards", "pireps"], order: ["hexagons", "hazards", "pireps"] });
    equal(reordered({ ...view, ...up }, "hazards", -1).layers, view.layers);
});
