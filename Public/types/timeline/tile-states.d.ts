/** The state of each tile's address, such as "5/8/11". A map that repeats the world has several tiles of an address,
 * and the worst one counts.
 * @param {Iterable<[key: string, state: TileState]>} tiles
 * @returns {ReadonlyMap<string, TileState>} */
export function worstStates(tiles: Iterable<[key: string, state: TileState]>): ReadonlyMap<string, TileState>;
/** @typedef {"loading" | "loaded" | "failed"} TileState */
/** The time until a visible frame requests its failed tiles again. */
export const RETRY_MILLISECONDS: 15000;
export function keyOf(z: number, x: number, y: number): string;
/** Retries for as long as the visible frame has failed tiles. */
export class Retry {
    /** @param {() => boolean} isNeeded
     * @param {() => void} retry */
    constructor(isNeeded: () => boolean, retry: () => void);
    /** To be called whenever a retry may have become necessary. */
    check(): void;
    #private;
}
export type TileState = "loading" | "loaded" | "failed";
