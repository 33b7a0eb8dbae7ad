// @ts-check
// While points are picked on the map, `onPick` receives the clicks. Otherwise a click opens the card of a place.

/** @type {{ onPick: ((place: maplibregl.LngLat) => void) | null }} */
export const picking = { onPick: null };
