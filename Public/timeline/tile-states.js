// @ts-check
// The states of the visible frame's tiles, and the retries of those that failed.

/** @typedef {"loading" | "loaded" | "failed"} TileState */

/** The time until a visible frame requests its failed tiles again. */
export const RETRY_MILLISECONDS = 15_000;
const ORDER = ["loaded", "loading", "failed"];

/** The state of each tile's address, such as "5/8/11". A map that repeats the world has several tiles of an address,
 * and the worst one counts.
 * @param {Iterable<[key: string, state: TileState]>} tiles
 * @returns {ReadonlyMap<string, TileState>} */
export function worstStates(tiles) {
    /** @type {Map<string, TileState>} */
    const states = new Map();
    for (const [key, state] of tiles) {
        const known = states.get(key);
        if (!known || ORDER.indexOf(state) > ORDER.indexOf(known)) states.set(key, state);
    }
    return states;
}

/** The address of a tile, whose column may lie beyond the world.
 * @param {number} z
 * @param {number} x
 * @param {number} y */
export const keyOf = (z, x, y) => `${z}/${((x % 2 ** z) + 2 ** z) % 2 ** z}/${y}`;

/** Retries for as long as the visible frame has failed tiles. */
export class Retry {
    #isNeeded;
    #retry;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;

    /** @param {() => boolean} isNeeded
     * @param {() => void} retry */
    constructor(isNeeded, retry) {
        this.#isNeeded = isNeeded;
        this.#retry = retry;
    }

    /** To be called whenever a retry may have become necessary. */
    check() {
        if (this.#timer !== undefined || !this.#isNeeded()) return;
        this.#timer = setTimeout(() => {
            this.#timer = undefined;
            if (this.#isNeeded()) this.#retry();
            this.check();
        }, RETRY_MILLISECONDS);
    }
}
