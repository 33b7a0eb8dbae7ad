// @ts-check
// From the server's TileJSON to what is drawn.
import { compact, instantOf } from "./format.js";
import { filters } from "./view.js";

/** What to draw: the template of the TileJSON with our filters, the instant and the publication.
 * @param {Billow.TileJSON} tileJSON
 * @param {Billow.View} view
 * @param {number} scale  pixels of the screen for one of the page: 1 or 2
 * @returns {Billow.PictureRequest} */
export function pictureRequest(tileJSON, view, scale) {
    const [path = "", query] = (tileJSON.tiles[0] ?? "").split("?");
    const ending = scale > 1 ? "@2x.png" : ".png";
    const time = view.time === null ? null : compact(view.time);
    const parameters = new URLSearchParams(query);
    for (const [name, value] of filters(view)) parameters.set(name, value);
    // A live picture's address is the same each time. This parameter means nothing to the server; it keeps the
    // browser's cache from handing out the publication before.
    const { version = tileJSON.version, asOf = tileJSON.time } = tileJSON.billow ?? {};
    const publication = time === null ? `${version}-${asOf}` : `${version}`;
    parameters.set("p", publication);
    const template = (
        time === null ? path : path.replace(/(\/tiles\/[^/]+)\/[^/]+\//, `$1/${time}/`)
    ).replace(/(@\dx)?\.png$/, ending);
    const subject = subjectOf(view);
    return {
        tileJSON, subject, key: `${subject} ${publication}`, template: `${template}?${parameters}`,
        asOf: view.time ?? instantOf(asOf),
    };
}

/** The same for pictures that differ in nothing but what was known.
 * @param {Billow.View} view */
export function subjectOf(view) {
    return `${view.layers} ${filters(view)} ${view.time ?? "live"}`;
}
