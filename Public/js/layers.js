// @ts-check
// The layers that the server has, and in which order they lie.
import { LAYERS } from "./datasets.js";

export { LAYERS };
export const FIELD_SHAPE = "field";
/** Shapes of layers that reach into times to come. */
export const AHEAD = ["areas", FIELD_SHAPE];
/** By their shapes, the lowest first: an area's tint and hatch never lie over a cell. */
const SHAPES = [FIELD_SHAPE, "areas", "polygons", "cells", "tracks", "aircraft", "reports"];
/** The kind of source that fetches turbulence fields. */
const FIELD_SOURCE = "noaa-gtg";

/** Some layers in the order of drawing, each once: in the reader's order, and by their shapes where that says nothing.
 * @param {string[]} wanted
 * @param {string[] | null} [order]  the lowest first */
export function inOrder(wanted, order = null) {
    /** @param {{ id: string, shape: string }} layer
     * @returns {[place: number, rank: number]} */
    const rank = ({ id, shape }) => [order?.includes(id) ? order.indexOf(id) : Infinity, SHAPES.indexOf(shape)];
    return LAYERS.filter(({ id }) => wanted.includes(id)).sort((a, b) => {
        const [[placeA, shapeA], [placeB, shapeB]] = [rank(a), rank(b)];
        return placeA === placeB ? shapeA - shapeB : placeA - placeB;
    }).map(({ id }) => id);
}

/** The short name of a layer.
 * @param {string} wanted */
export function layerName(wanted) {
    return LAYERS.find(({ id }) => id === wanted)?.name ?? wanted;
}

/** What a page shows at first: what the catalogue says. Where fields come they are shown too if the world is simulated,
 * and with nothing but what there is if nothing is observed.
 * @param {Billow.Status | null} status */
export function firstLayers(status) {
    // A source fetches fields, or some were imported.
    const hasFields = (status?.sources?.some(({ kind }) => kind === FIELD_SOURCE) ?? false)
        || LAYERS.some(({ id, shape }) => shape === FIELD_SHAPE && status?.layers?.[id]?.dataTime);
    const isObserved = Boolean(status?.layers?.hexagons?.dataTime);
    const withFields = hasFields && (status?.simulated === true || !isObserved);
    // Where fields are all there is, layers that nothing feeds would only be warned of.
    const isFieldAlone = withFields && status?.simulated !== true;
    return inOrder(LAYERS.filter(({ id, isShownAtFirst, shape }) => (withFields && shape === FIELD_SHAPE)
        || (isShownAtFirst && (!isFieldAlone || status?.layers?.[id]?.dataTime))).map(({ id }) => id));
}

/** Whether a view shows a turbulence field.
 * @param {Billow.View} view */
export const showsField = ({ layers }) =>
    LAYERS.some(({ id, shape }) => shape === FIELD_SHAPE && layers.includes(id));
