// @ts-check
import { byId, element, swatch } from "/js/dom.js";
import { equal, ok, test, throws } from "../harness.js";

test("the server's text is never markup", () => {
    const node = element(
        "p", { className: "note", "data-x": 5, hidden: true }, "<img src=x onerror=alert(1)>", null,
        element("b", {}, "b"),
    );
    equal(node.children.length, 1);
    equal([node.className, node.getAttribute("data-x"), node.hidden], ["note", "5", true]);
    ok(node.textContent?.startsWith("<img"), "as text");
    const svg = swatch({ severity: 3, label: "x", fill: "#FF7100", opacity: 0.8, border: { colour: "#898989" } });
    equal(svg.querySelector("path")?.getAttribute("stroke"), "#898989");
});

test("a missing element, or one of another class, is an error", async () => {
    equal(byId("scrubber", HTMLInputElement).type, "range");
    await throws(() => byId("nothing"), /no element #nothing/);
    await throws(() => byId("scrubber", HTMLSelectElement), /no HTMLSelectElement #scrubber/);
});
