// @ts-check
// The layers that the server has, and in which order they lie.
import { LAYERS as ALL } from "./datasets.js";

/** Those of the menu: a layer that combines others is shown as these. */
export const LAYERS = ALL.filter(({ parts }) => !parts.length);
export const FIELD_SHAPE = "field";
/** Shapes of layers that show observed turbulence: as cells, or as polygons made of them. */
const CELL_SHAPES = ["cells", "polygons"];
/** Shapes of layers that reach into times to come. */
export const AHEAD = ["areas", FIELD_SHAPE];
/** The kind of source that fetches turbulence fields. */
const FIELD_SOURCE = "noaa-gtg";

/** Some layers in the order of drawing, each once: in the reader's order, and in the server's for layers that the
 * reader's does not name.
 * @param {string[]} wanted
 * @param {string[] | null} [order]  the lowest first */
export function inOrder(wanted, order = null) {
    /** @param {string} id */
    const place = (id) => (order?.includes(id) ? order.indexOf(id) : Infinity);
    return LAYERS.filter(({ id }) => wanted.includes(id)).sort((a, b) => {
        const [placeA, placeB] = [place(a.id), place(b.id)];
        return placeA === placeB ? a.order - b.order : placeA - placeB;
    }).map(({ id }) => id);
}

/** The collections whose changes change a layer: its own, and that of a layer that combines it with others.
 * @param {string} wanted */
export const collectionsOf = (wanted) =>
    [wanted, ...ALL.filter(({ parts }) => parts.includes(wanted)).map(({ id }) => id)];

/** Whether a layer shows observed turbulence, as cells or as polygons.
 * @param {string} wanted */
export const showsCells = (wanted) => LAYERS.some(({ id, shape }) => id === wanted && CELL_SHAPES.includes(shape));

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
