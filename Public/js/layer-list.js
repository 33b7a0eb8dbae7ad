// @ts-check
// The list of the visible layers, with their order and opacity.
import { byId, element } from "./dom.js";
import { inDrawingOrder, layerName } from "./layers.js";
import { patchChildren } from "./dom-patch.js";

const root = byId("layer-list");

/** Lists the layers of a view, the topmost first. Each has a slider for its opacity and buttons to move it.
 * @param {Billow.View} view
 * @param {(difference: Partial<Billow.View>) => void} changed */
export function showLayerList(view, changed) {
    const topDown = [...view.layers].reverse();
    patchChildren(root, topDown.map((id, index) => {
        const name = layerName(id);
        const percent = view.opacities[id] ?? 100;
        const slider = element("input", {
            type: "range", min: 10, max: 100, step: 10, value: percent, "data-layer": id,
            "aria-label": `Opacity of ${name}`, "aria-valuetext": `${percent} %`,
        });
        /** @type {(label: string, sign: string, step: number) => HTMLButtonElement} */
        const moveButton = (label, sign, step) => element("button", {
            type: "button", className: "step", "aria-label": `${name}: ${label}`, disabled: !topDown[index + step],
            onclick: () => changed(reordered(view, id, -step)),
        }, sign);
        return element("li", {}, element("span", {}, name), slider, element("output", {}, `${percent} %`),
            moveButton("further up", "↑", -1), moveButton("further down", "↓", 1));
    }));
    // A patch keeps the element together with the value that the user set. This sets the view's value.
    for (const slider of root.querySelectorAll("input")) {
        const id = slider.dataset.layer ?? "";
        slider.value = String(view.opacities[id] ?? 100);
        slider.onchange = () => changed({ opacities: { ...view.opacities, [id]: Number(slider.value) } });
    }
}

/** The order of a view's layers after one moves by a step; 1 is up.
 * @param {Billow.View} view
 * @param {string} id
 * @param {number} step */
export function reordered({ layers }, id, step) {
    const order = [...layers];
    const index = order.indexOf(id);
    order.splice(index, 1);
    order.splice(index + step, 0, id);
    return { layers: inDrawingOrder(order, order), order };
}
