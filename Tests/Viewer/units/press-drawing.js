// @ts-check
import { delayPressDrawing } from "/js/press-drawing.js";
import { equal, test } from "../harness.js";

/** Runs a test with a map that counts its drawings. A `mouseup` asks for one, as MapLibre does.
 * @param {(world: {
 *     map: { isMoving: () => boolean, triggerRepaint: () => void }, send: (type: string, x?: number) => void,
 *     draws: () => number,
 * }) => void | Promise<void>} body */
async function withMap(body) {
    let draws = 0;
    const map = { isMoving: () => false, triggerRepaint: () => { draws += 1; } };
    delayPressDrawing(map);
    const onRelease = () => map.triggerRepaint();
    document.addEventListener("mouseup", onRelease);
    /** @param {string} type */
    const send = (type, x = 100) => {
        document.body.dispatchEvent(new MouseEvent(type, { clientX: x, clientY: 100, bubbles: true }));
    };
    try {
        await body({ map, send, draws: () => draws });
    } finally {
        document.removeEventListener("mouseup", onRelease);
    }
}

test("the drawing after a press of the mouse comes later", () => withMap(async ({ send, draws }) => {
    send("mousedown");
    send("mouseup");
    send("click");
    equal(draws(), 0);
    while (!draws()) await new Promise((resolve) => setTimeout(resolve, 10));
    equal(draws(), 1);
}));

test("what a click changes is drawn at once, and a drawing that waits is part of it", () => withMap(
    async ({ map, send, draws }) => {
        send("mousedown");
        send("mouseup");
        send("click");
        map.triggerRepaint();
        equal(draws(), 1);
        await new Promise((resolve) => setTimeout(resolve, 700));
        equal(draws(), 1);
    }));

test("the next input draws at once what waits after a press", () => withMap(({ send, draws }) => {
    for (const [index, type] of ["mousedown", "dblclick", "wheel", "keydown", "touchstart"].entries()) {
        send("mousedown");
        const before = draws();
        send("mouseup");
        send("click");
        equal(draws(), before, type);
        send(type);
        equal(draws(), before + 1, `${index} ${type}`);
    }
}));

test("the map is drawn at once after a drag, and while it moves", () => withMap(({ map, send, draws }) => {
    send("mousedown", 100);
    send("mouseup", 140);
    equal(draws(), 1);
    map.isMoving = () => true;
    send("mousedown");
    send("mouseup");
    equal(draws(), 2);
}));
