// @ts-check
// From the server's TileJSON to what is drawn.
import { compact, instantOf } from "./format.js";
import { styleOf } from "./styles.js";
import { filters } from "./view.js";

/** What to draw: the template of the TileJSON with our filters, the instant and the publication.
 * @param {Billow.TileJSON} tileJSON
 * @param {Billow.View} view
 * @param {number} scale  pixels of the screen for one of the page: 1 or 2
 * @param {number | null} [changedAt]  the version that last changed one of the layers, where events tell it
 * @returns {Billow.PictureRequest} */
export function pictureRequest(tileJSON, view, scale, changedAt = null) {
    const [path = "", query] = (tileJSON.tiles[0] ?? "").split("?");
    const ending = scale > 1 ? "@2x.png" : ".png";
    const time = view.time === null ? null : compact(view.time);
    const parameters = new URLSearchParams(query);
    for (const [name, value] of filters(view)) parameters.set(name, value);
    parameters.set("style", styleOf(view).id);
    // A live picture's address is the same each time: its tiles are asked for by their ETags. It is another picture
    // when a layer of it has changed, and each minute, as reports age.
    const { version: newest = 0, asOf = null } = tileJSON.billow ?? {};
    const version = changedAt ?? newest;
    const minute = Math.floor((instantOf(asOf) ?? 0) / 60_000);
    const publication = time === null ? `${version}-${minute}` : `${version}`;
    const template = (
        time === null ? path : path.replace(/(\/tiles\/[^/]+)\/[^/]+\//, `$1/${time}/`)
    ).replace(/(@\dx)?\.png$/, ending);
    const subject = subjectOf(view);
    return {
        tileJSON, subject, key: `${subject} ${publication}`, template: `${template}?${parameters}`,
        time: view.time, asOf: view.time ?? instantOf(asOf),
    };
}

/** The same for pictures that differ in nothing but what was known.
 * @param {Billow.View} view */
export function subjectOf(view) {
    return `${view.layers} ${filters(view)} ${styleOf(view).id} ${view.time ?? "live"}`;
}
