/** @typedef {{ type: string, coordinates: any }} Geometry */
/** The middle of a feature: the position of a point, or the mean of an outline.
 * @param {Geometry} geometry
 * @returns {[longitude: number, latitude: number]} */
export function middle({ type, coordinates }: Geometry): [longitude: number, latitude: number];
/** The colours of severities 0 to 4, and the colour of features without a severity. */
export const POINT_COLOURS: string[];
export const DEFAULT_COLOUR: "#898989";
export type Geometry = {
    type: string;
    coordinates: any;
};
