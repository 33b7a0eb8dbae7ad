// @ts-check
// Adds a strip of rows below a PNG or an animated PNG, without decoding its frames: the rows become a part of the first
// frame, and later frames replace only their own rectangles. Knows what the server writes: 8 bits, not interlaced.

const SIGNATURE_BYTES = 8;
const PALETTE = 3;
/** The samples of a pixel, by colour type. */
const SAMPLES = new Map([[2, 3], [PALETTE, 1], [6, 4]]);
/** Colours that the strip may add to a palette with room: from dark to light. */
const STRIP_GREYS = [23, 90, 157, 205, 252];

/** @typedef {{ type: string, data: Uint8Array }} Chunk */

/** @param {Uint8Array} png
 * @returns {Chunk[]} */
export function chunksOf(png) {
    const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
    const chunks = [];
    for (let at = SIGNATURE_BYTES; at < png.length;) {
        const length = view.getUint32(at);
        const type = String.fromCharCode(...png.subarray(at + 4, at + 8));
        chunks.push({ type, data: png.slice(at + 8, at + 8 + length) });
        at += length + 12;
    }
    return chunks;
}

/** The PNG with a strip below, in the palette's closest colours if it has one. Throws an error for a PNG of another
 * kind than the server's.
 * @param {Uint8Array} png
 * @param {Pick<ImageData, "width" | "height" | "data">} strip  as wide as the PNG, and opaque
 * @returns {Promise<Uint8Array>} */
export async function withStrip(png, strip) {
    const chunks = chunksOf(png);
    const header = new DataView(chunks[0].data.buffer);
    const [width, height] = [header.getUint32(0), header.getUint32(4)];
    const [depth, colourType, , , interlace] = chunks[0].data.subarray(8);
    const samples = SAMPLES.get(colourType);
    if (depth !== 8 || samples === undefined || interlace !== 0 || strip.width !== width) {
        throw new Error("the picture has an unknown form");
    }
    header.setUint32(4, height + strip.height);
    const first = chunks.findIndex(({ type }) => type === "IDAT");
    // The frame of IDAT covers the whole picture.
    const control = chunks.slice(0, first).find(({ type }) => type === "fcTL");
    if (control) new DataView(control.data.buffer).setUint32(8, height + strip.height);
    const palette = chunks.find(({ type }) => type === "PLTE");
    if (palette) addGreys(palette);
    const rows = stripRows(strip, samples, palette?.data ?? null, chunks.find(({ type }) => type === "tRNS")?.data);
    const pixels = await through(new DecompressionStream("deflate"),
        ...chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data));
    const data = await through(new CompressionStream("deflate"), pixels, rows);
    const kept = chunks.filter(({ type }, index) => type !== "IDAT" || index === first)
        .map((chunk, index) => (index === first ? { type: "IDAT", data } : chunk));
    return join([png.slice(0, SIGNATURE_BYTES), ...kept.map(chunkBytes)]);
}

/** Adds the strip's greys to a palette, as far as it has room.
 * @param {Chunk} palette */
function addGreys(palette) {
    const room = 256 - palette.data.length / 3;
    palette.data = join([palette.data, ...STRIP_GREYS.slice(0, room).map((grey) => new Uint8Array(3).fill(grey))]);
}

/** The strip's rows, each behind its filter's number: none.
 * @param {Pick<ImageData, "width" | "height" | "data">} strip
 * @param {number} samples
 * @param {Uint8Array | null} palette
 * @param {Uint8Array} [opacities]  of the first entries of the palette */
function stripRows({ width, height, data }, samples, palette, opacities) {
    const rows = new Uint8Array(height * (width * samples + 1));
    /** @type {Map<number, number>} */
    const entries = new Map();
    let at = 0;
    for (let pixel = 0; pixel < width * height; pixel += 1) {
        if (pixel % width === 0) at += 1;
        const [red, green, blue] = data.subarray(4 * pixel, 4 * pixel + 3);
        if (palette) {
            const colour = (red << 16) | (green << 8) | blue;
            const entry = entries.get(colour) ?? closest(palette, opacities, red, green, blue);
            entries.set(colour, entry);
            rows[at] = entry;
        } else rows.set([red, green, blue, 255].slice(0, samples), at);
        at += samples;
    }
    return rows;
}

/** @param {Uint8Array} palette
 * @param {Uint8Array | undefined} opacities
 * @param {...number} colour */
function closest(palette, opacities, ...colour) {
    let [best, least] = [0, Infinity];
    for (let entry = 0; entry < palette.length / 3; entry += 1) {
        if ((opacities?.[entry] ?? 255) < 255) continue;
        const distance = colour.reduce((sum, value, index) => sum + (value - palette[3 * entry + index]) ** 2, 0);
        if (distance < least) [best, least] = [entry, distance];
    }
    return best;
}

/** @param {CompressionStream | DecompressionStream} stream
 * @param {...Uint8Array} parts */
async function through(stream, ...parts) {
    return new Uint8Array(await new Response(new Blob(parts).stream().pipeThrough(stream)).arrayBuffer());
}

/** @param {Uint8Array[]} parts */
function join(parts) {
    const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}

/** @param {Chunk} chunk */
function chunkBytes({ type, data }) {
    const bytes = new Uint8Array(data.length + 12);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, data.length);
    for (let at = 0; at < 4; at += 1) bytes[4 + at] = type.charCodeAt(at);
    bytes.set(data, 8);
    view.setUint32(8 + data.length, checksum(bytes.subarray(4, 8 + data.length)));
    return bytes;
}

const CHECKSUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
    return value;
});

/** CRC-32 of a chunk. Source: PNG (Third Edition), annex D.
 * @param {Uint8Array} bytes */
function checksum(bytes) {
    let value = 0xffffffff;
    for (const byte of bytes) value = CHECKSUMS[(value ^ byte) & 255] ^ (value >>> 8);
    return ~value >>> 0;
}
