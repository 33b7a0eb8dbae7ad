// @ts-check
// Finds the part of the window that no card covers. This module reads no page.

/** A rectangle in pixels from the window's top left corner.
 * @typedef {{ left: number, top: number, right: number, bottom: number }} Area */

/** The free rectangle in which a shape of a given size would be the largest. Among equals it is the largest rectangle.
 * Each of its sides touches a card or the edge of the window.
 * @param {number} width  of the window, in pixels
 * @param {number} height
 * @param {Area[]} cards
 * @param {(area: Area) => number} sizeOf  the size of the shape in a rectangle
 * @returns {Area} */
export function freeArea(width, height, cards, sizeOf) {
    let best = { left: 0, top: 0, right: width, bottom: height };
    let [bestSize, bestPixels] = [-Infinity, 0];
    /** @type {(sides: number[], most: number) => number[]} */
    const within = (sides, most) => [...new Set([0, ...sides, most])].filter((side) => side >= 0 && side <= most);
    for (const left of within(cards.map((card) => card.right), width)) {
        for (const right of within(cards.map((card) => card.left), width)) {
            if (right <= left) continue;
            const beside = cards.filter((card) => card.left < right && card.right > left);
            for (const top of within(beside.map((card) => card.bottom), height)) {
                for (const bottom of within(beside.map((card) => card.top), height)) {
                    if (bottom <= top || beside.some((card) => card.top < bottom && card.bottom > top)) continue;
                    const area = { left, top, right, bottom };
                    const size = sizeOf(area);
                    const pixels = (right - left) * (bottom - top);
                    if (size < bestSize || (size === bestSize && pixels <= bestPixels)) continue;
                    [best, bestSize, bestPixels] = [area, size, pixels];
                }
            }
        }
    }
    return best;
}
