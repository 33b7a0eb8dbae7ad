// @ts-check
import { chunksOf, stampSizes, withStrip } from "/js/png-strip.js";
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

test("an image lies over all frames of a loop, but not over their time stamps", async () => {
    const query = "bbox=-100,20,-60,50&width=960&legend=false&start=-20m&end=now&intervals=3";
    const [bare, loop] = await Promise.all(["opacity=0", "background=map"].map(async (more) =>
        new Uint8Array(await (await fetch(`/animations/hexagons.png?${query}&${more}`)).arrayBuffer())));
    const stamps = await stampSizes(bare);
    ok(stamps.length === chunksOf(loop).filter(({ type }) => type === "fcTL").length, `${stamps.length} frames`);
    ok(stamps.every(({ width, height }) => width > 100 && width < 900 && height > 15 && height < 60),
        JSON.stringify(stamps));
    const before = await pixels(loop);
    const image = new ImageData(before.width, before.height);
    for (let at = 0; at < image.data.length; at += 4) image.data.set([255, 0, 255, 255], at);
    const found = await withStrip(loop, stripOf([252, 252, 252]), { image, stamps });
    const after = await pixels(found);
    const [{ width, height }] = stamps;
    /** @param {ImageData} picture
     * @param {number} x
     * @param {number} y */
    const at = ({ data, width }, x, y) => [...data.slice(4 * (y * width + x), 4 * (y * width + x) + 3)];
    for (const [x, y] of [[10, 10], [9 + width, 9 + height], [12, 12]]) equal(at(after, x, y), at(before, x, y));
    for (const [x, y] of [[9, 10], [10, 9], [10 + width, 10], [10, 10 + height], [959, before.height - 1]]) {
        equal(at(after, x, y), [255, 0, 255]);
    }
});
