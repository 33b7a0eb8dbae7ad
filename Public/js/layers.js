// @ts-check
// The layers of the server and their drawing order.
import { LAYERS as ALL } from "./datasets.js";

/** The layers of the menu. A layer that combines others is left out, because the menu has its parts. */
export const LAYERS = ALL.filter(({ parts }) => !parts.length);
const FIELD_SHAPE = "field";
export const AREA_SHAPE = "areas";
/** Shapes of layers that show observed turbulence: as cells, or as polygons made of them. */
const CELL_SHAPES = ["cells", "polygons"];
export const FORECAST_SHAPES = [AREA_SHAPE, FIELD_SHAPE];

/** The id of the layer with a shape. Only one layer has each of the shapes below.
 * @param {string} shape */
const layerWith = (shape) => LAYERS.find((layer) => layer.shape === shape)?.id ?? shape;
/** The layers of observed cells, of aircraft and of their tracks. */
export const CELLS = layerWith("cells");
export const AIRCRAFT = layerWith("aircraft");
export const TRACKS = layerWith("tracks");

/** Whether a layer is a turbulence field.
 * @param {string} requested */
export const isField = (requested) => LAYERS.some(({ id, shape }) => id === requested && shape === FIELD_SHAPE);

/** Whether a layer shows issued areas.
 * @param {string} requested */
export const isArea = (requested) => LAYERS.some(({ id, shape }) => id === requested && shape === AREA_SHAPE);

/** Sorts layers by drawing order, each once. The user's order applies first. Layers that it does not name follow in
 * the server's order.
 * @param {string[]} requested
 * @param {string[] | null} [order]  the lowest first */
export function inDrawingOrder(requested, order = null) {
    /** @param {string} id */
    const rank = (id) => (order?.includes(id) ? order.indexOf(id) : Infinity);
    return LAYERS.filter(({ id }) => requested.includes(id)).sort((a, b) => {
        const [rankA, rankB] = [rank(a.id), rank(b.id)];
        return rankA === rankB ? a.order - b.order : rankA - rankB;
    }).map(({ id }) => id);
}

/** The collections that change a layer: its own, and the collections of layers that combine it with others.
 * @param {string} requested */
export const collectionsOf = (requested) =>
    [requested, ...ALL.filter(({ parts }) => parts.includes(requested)).map(({ id }) => id)];

/** Whether a layer's data is issued for a time, as hazards and fields are. It changes rarely, and each change counts.
 * @param {string} requested */
export const isIssued = (requested) =>
    LAYERS.some(({ id, shape }) => id === requested && FORECAST_SHAPES.includes(shape));

/** Whether a layer shows observed turbulence, as cells or as polygons.
 * @param {string} requested */
export const showsCells = (requested) =>
    LAYERS.some(({ id, shape }) => id === requested && CELL_SHAPES.includes(shape));

/** The short name of a layer.
 * @param {string} requested */
export function layerName(requested) {
    return LAYERS.find(({ id }) => id === requested)?.name ?? requested;
}

/** The layers that a page shows by default, from the catalogue. If the server has fields, they are included in a
 * simulated world. Without observations, only fields and layers with data are shown.
 * @param {Billow.Status | null} status */
export function defaultLayers(status) {
    // A source fetches fields, or some were imported.
    const hasFields = (status?.sources?.some(({ layers }) => layers?.some(isField)) ?? false)
        || LAYERS.some(({ id }) => isField(id) && status?.layers?.[id]?.dataTime);
    const isObserved = Boolean(status?.layers?.[CELLS]?.dataTime);
    const withFields = hasFields && (status?.simulated === true || !isObserved);
    // With fields only, layers without data would only cause warnings.
    const isFieldAlone = withFields && status?.simulated !== true;
    return inDrawingOrder(LAYERS.filter(({ id, isShownAtFirst }) => (withFields && isField(id))
        || (isShownAtFirst && (!isFieldAlone || status?.layers?.[id]?.dataTime))).map(({ id }) => id));
}

/** Whether a view shows a turbulence field.
 * @param {Billow.View} view */
export const showsField = ({ layers }) => layers.some(isField);
