// @ts-check
// The middle of the visible part of the map.

/** The middle third of a box, in both directions.
 * @param {string} box */
export function middleOf(box) {
    const [west, south, east, north] = box.split(",").map(Number);
    const width = (east - west + (east > west ? 0 : 360)) / 3;
    const right = west + 2 * width;
    return [
        west + width - (west + width > 180 ? 360 : 0), (2 * south + north) / 3, right - (right > 180 ? 360 : 0),
        (south + 2 * north) / 3,
    ].map((side) => side.toFixed(2)).join(",");
}
