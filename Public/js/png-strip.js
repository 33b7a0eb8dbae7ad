// @ts-check
// Adds a strip of rows below a PNG or an animated PNG: the rows become a part of the first frame, and later frames
// replace only their own rectangles. Only an image over all frames needs their pixels. Knows what the server writes: 8
// bits, not interlaced.

const SIGNATURE_BYTES = 8;
const PALETTE = 3;
/** The samples of a pixel, by colour type. */
const SAMPLES = new Map([[2, 3], [PALETTE, 1], [6, 4]]);
/** Colours that the strip may add to a palette with room: from dark to light. */
const STRIP_GREYS = [23, 90, 157, 205, 252];
/** Colours whose channels differ by less look grey. */
const GREY_RANGE = 24;
/** The square of a distance between colours that nobody sees. */
const INVISIBLE = 48;
/** The time stamp's place in the north-west corner of a picture, and its least opacity. */
const [STAMP_MARGIN, STAMP_OPACITY] = [10, 200];

/** @typedef {{ type: string, data: Uint8Array }} Chunk
 * An image over all frames but their time stamps, whose sizes are in the order of the frames.
 * @typedef {{ image: Pick<ImageData, "width" | "data">, stamps: { width: number, height: number }[] }} Drawn
 * A frame's rectangle.
 * @typedef {{ width: number, height: number, left: number, top: number }} Rectangle */

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

/** The PNG with a strip below. If its palette lacks colours of the strip, all its pixels become true colours: a legend
 * in other colours would mislead. Greys become the closest ones. Throws an error for a PNG of another kind than the
 * server's.
 * @param {Uint8Array} png
 * @param {Pick<ImageData, "width" | "height" | "data">} strip  as wide as the PNG, and opaque
 * @param {Drawn | null} [drawn]
 * @returns {Promise<Uint8Array>} */
export async function withStrip(png, strip, drawn = null) {
    let chunks = chunksOf(png);
    const header = new DataView(chunks[0].data.buffer);
    const [width, height] = [header.getUint32(0), header.getUint32(4)];
    const [depth, colourType, , , interlace] = chunks[0].data.subarray(8);
    if (depth !== 8 || !SAMPLES.has(colourType) || interlace !== 0 || strip.width !== width) {
        throw new Error("the picture has an unknown form");
    }
    if (drawn && colourType !== PALETTE) throw new Error("the picture has an unknown form");
    if (colourType === PALETTE && (drawn || !hasColours(chunks, strip))) chunks = await inTrueColours(chunks, drawn);
    const samples = SAMPLES.get(chunks[0].data[9]) ?? 0;
    new DataView(chunks[0].data.buffer).setUint32(4, height + strip.height);
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

/** The palette, and the opacities of its first entries.
 * @param {Chunk[]} chunks */
const paletteOf = (chunks) => ({
    palette: chunks.find(({ type }) => type === "PLTE")?.data ?? new Uint8Array(),
    opacities: chunks.find(({ type }) => type === "tRNS")?.data,
});

/** Whether a palette has the strip's colours. Greys do not count.
 * @param {Chunk[]} chunks
 * @param {Pick<ImageData, "data">} strip */
function hasColours(chunks, { data }) {
    const { palette, opacities } = paletteOf(chunks);
    const colours = new Set();
    for (let at = 0; at < data.length; at += 4) colours.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    return [...colours].every((colour) => {
        const channels = [colour >> 16, (colour >> 8) & 255, colour & 255];
        if (Math.max(...channels) - Math.min(...channels) < GREY_RANGE) return true;
        const entry = closest(palette, opacities, ...channels);
        return channels.reduce((sum, value, index) => sum + (value - palette[3 * entry + index]) ** 2, 0) <= INVISIBLE;
    });
}

/** Replaces a palette by true colours in all frames, and draws an image over them.
 * @param {Chunk[]} chunks
 * @param {Drawn | null} drawn
 * @returns {Promise<Chunk[]>} */
async function inTrueColours(chunks, drawn) {
    const { palette, opacities } = paletteOf(chunks);
    const samples = opacities ? 4 : 3;
    const colours = Array.from({ length: 256 }, (_, entry) =>
        [...palette.subarray(3 * entry, 3 * entry + 3), opacities?.[entry] ?? 255].slice(0, samples));
    const header = chunks[0].data.slice();
    header[9] = samples === 4 ? 6 : 2;
    let area = rectangleOf(header, null);
    let frame = 0;
    // Control chunks and later frames have consecutive numbers.
    let sequence = 0;
    const numbered = (/** @type {Uint8Array} */ data) => {
        new DataView(data.buffer).setUint32(0, sequence++);
        return data;
    };
    /** @type {Chunk[]} */
    const changed = [{ type: "IHDR", data: header }];
    /** @type {Uint8Array[]} */
    let parts = [];
    for (const [index, { type, data }] of chunks.entries()) {
        if (type === "IDAT" || type === "fdAT") {
            parts.push(type === "IDAT" ? data : data.subarray(4));
            if (chunks[index + 1].type === type) continue;
            const rows = await through(new DecompressionStream("deflate"), ...parts);
            const found = coloured(unfiltered(rows, area.width), area.width, colours);
            if (drawn) drawOver(found, samples, area, drawn.image, drawn.stamps[frame] ?? { width: 0, height: 0 });
            frame += 1;
            const pixels = await through(new CompressionStream("deflate"), found);
            changed.push({ type, data: type === "IDAT" ? pixels : numbered(join([new Uint8Array(4), pixels])) });
            parts = [];
        } else if (type === "fcTL") {
            area = rectangleOf(header, data);
            changed.push({ type, data: numbered(data) });
        } else if (!["IHDR", "PLTE", "tRNS"].includes(type)) changed.push({ type, data });
    }
    return changed;
}

/** The rectangle of a frame with a control chunk, or that of the whole picture.
 * @param {Uint8Array} header
 * @param {Uint8Array | null} control
 * @returns {Rectangle} */
function rectangleOf(header, control) {
    const view = new DataView((control ?? header).buffer);
    const [width, height, left = 0, top = 0] = (control ? [4, 8, 12, 16] : [0, 4]).map((at) => view.getUint32(at));
    return { width, height, left, top };
}

/** Draws an image over the rows of a frame, but not over the time stamp.
 * @param {Uint8Array} rows  each behind its filter's number: none
 * @param {number} samples
 * @param {Rectangle} area
 * @param {Drawn["image"]} image
 * @param {{ width: number, height: number }} stamp */
function drawOver(rows, samples, { width, height, left, top }, image, stamp) {
    for (let row = 0; row < height; row += 1) {
        const y = top + row - STAMP_MARGIN;
        for (let column = 0; column < width; column += 1) {
            const x = left + column - STAMP_MARGIN;
            if (x >= 0 && y >= 0 && x < stamp.width && y < stamp.height) continue;
            const from = 4 * ((top + row) * image.width + left + column);
            const share = image.data[from + 3] / 255;
            if (share === 0) continue;
            const to = row * (width * samples + 1) + 1 + column * samples;
            for (let sample = 0; sample < 3; sample += 1) {
                rows[to + sample] = Math.round(image.data[from + sample] * share + rows[to + sample] * (1 - share));
            }
        }
    }
}

/** The sizes of the time stamps in the frames of a loop that has nothing else that is opaque.
 * @param {Uint8Array} png
 * @returns {Promise<{ width: number, height: number }[]>} */
export async function stampSizes(png) {
    const chunks = chunksOf(png);
    const [{ data: header }] = chunks;
    const { opacities } = paletteOf(chunks);
    const { width, height } = rectangleOf(header, null);
    const shown = new Uint8Array(width * height);
    /** @param {number} x
     * @param {number} y */
    const isStamp = (x, y) => x < width && y < height && (opacities?.[shown[y * width + x]] ?? 255) >= STAMP_OPACITY;
    const sizes = [];
    let area = rectangleOf(header, null);
    /** @type {Uint8Array[]} */
    let parts = [];
    for (const [index, { type, data }] of chunks.entries()) {
        if (type === "fcTL") area = rectangleOf(header, data);
        if (type !== "IDAT" && type !== "fdAT") continue;
        parts.push(type === "IDAT" ? data : data.subarray(4));
        if (chunks[index + 1].type === type) continue;
        const rows = unfiltered(await through(new DecompressionStream("deflate"), ...parts), area.width);
        parts = [];
        for (let row = 0; row < area.height; row += 1) {
            const from = row * (area.width + 1) + 1;
            shown.set(rows.subarray(from, from + area.width), (area.top + row) * width + area.left);
        }
        let [right, bottom] = [STAMP_MARGIN, STAMP_MARGIN];
        while (isStamp(right, STAMP_MARGIN + 1)) right += 1;
        while (isStamp(STAMP_MARGIN + 1, bottom)) bottom += 1;
        sizes.push({ width: right - STAMP_MARGIN, height: bottom - STAMP_MARGIN });
    }
    return sizes;
}

/** Reverses the filters of rows with one byte per pixel. Source: PNG (Third Edition), section 9.
 * @param {Uint8Array} rows  each behind its filter's number
 * @param {number} width */
function unfiltered(rows, width) {
    const stride = width + 1;
    for (let at = 0; at < rows.length; at += 1) {
        const column = at % stride;
        if (column === 0) continue;
        const left = column > 1 ? rows[at - 1] : 0;
        const above = at > stride ? rows[at - stride] : 0;
        const filter = rows[at - column];
        if (filter === 1) rows[at] += left;
        else if (filter === 2) rows[at] += above;
        else if (filter === 3) rows[at] += (left + above) >> 1;
        else if (filter === 4) rows[at] += paeth(left, above, column > 1 && at > stride ? rows[at - stride - 1] : 0);
    }
    return rows;
}

/** @param {number} left
 * @param {number} above
 * @param {number} corner */
function paeth(left, above, corner) {
    const [toLeft, toAbove, toCorner] = [left, above, corner].map((each) => Math.abs(left + above - corner - each));
    if (toLeft <= toAbove && toLeft <= toCorner) return left;
    return toAbove <= toCorner ? above : corner;
}

/** Rows of true colours from rows of entries of a palette.
 * @param {Uint8Array} rows
 * @param {number} width
 * @param {number[][]} colours */
function coloured(rows, width, colours) {
    const [{ length: samples }] = colours;
    const found = new Uint8Array((rows.length / (width + 1)) * (width * samples + 1));
    let to = 0;
    for (let at = 0; at < rows.length; at += 1) {
        if (at % (width + 1) === 0) {
            to += 1;
            continue;
        }
        const colour = colours[rows[at]];
        for (let sample = 0; sample < samples; sample += 1) found[to + sample] = colour[sample];
        to += samples;
    }
    return found;
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
