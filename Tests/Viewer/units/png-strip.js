// @ts-check
import { chunksOf, withStrip } from "/js/png-strip.js";
import { equal, ok, test } from "../harness.js";

/** A strip of one colour.
 * @param {number[]} colour */
function stripOf(colour) {
    const strip = new ImageData(960, 4);
    for (let at = 0; at < strip.data.length; at += 4) strip.data.set([...colour, 255], at);
    return strip;
}

/** @param {Uint8Array} png */
async function pixels(png) {
    const image = await createImageBitmap(new Blob([new Uint8Array(png)], { type: "image/png" }));
    const context = document.createElement("canvas").getContext("2d");
    if (!context) throw new Error("no canvas");
    Object.assign(context.canvas, { width: image.width, height: image.height });
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
}

test("a loop keeps the pixels and the frames of the map, and its strip has exact colours", async () => {
    const query = "bbox=-100,20,-60,50&width=960&background=map&legend=false&start=-20m&end=now&intervals=3";
    const loop = new Uint8Array(await (await fetch(`/animations/hexagons,hazards.png?${query}`)).arrayBuffer());
    const before = await pixels(loop);
    for (const colour of [[255, 0, 255], [252, 252, 252]]) {
        const found = await withStrip(loop.slice(), stripOf(colour));
        const after = await pixels(found);
        equal([after.width, after.height], [before.width, before.height + 4]);
        const difference = colour.map((value, index) => value - after.data[after.data.length - 4 + index]);
        ok(difference.every((value) => Math.abs(value) < (colour[1] ? 8 : 1)), `${difference} from ${colour}`);
        const map = after.data.subarray(0, before.data.length);
        ok(map.every((/** @type {number} */ value, /** @type {number} */ at) => value === before.data[at]), "the map");
        const frames = chunksOf(found).filter(({ type }) => type === "fcTL" || type === "fdAT");
        const numbers = frames.map(({ data }) => new DataView(data.buffer).getUint32(0));
        equal(numbers, numbers.map((_, index) => index), "frames have consecutive numbers");
    }
});
