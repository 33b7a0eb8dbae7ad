// @ts-check
// Who takes the clicks on the map: the card of a place, unless points are picked for something else.

/** @type {{ take: ((place: maplibregl.LngLat) => void) | null }} */
export const picking = { take: null };
