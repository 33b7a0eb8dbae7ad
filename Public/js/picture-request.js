// @ts-check
// Converts the server's TileJSON to the request of a picture.
import { isOutside } from "./time-extent.js";
import { isField } from "./layers.js";
import { compactTime, instantOf } from "./format.js";
import { styleOf } from "./styles.js";
import { filters } from "./view.js";

const MINUTE = 60_000;
/** The interval to renew fields, which change only every quarter of an hour. Reports age all the time. */
const FIELD_MINUTES = 5;

/** Groups the layers of a view that are drawn together, the lowest first. Neighbouring layers of equal opacity form a
 * group. If a live picture is renewed, a field forms its own group, because it rarely changes.
 * @param {Pick<Billow.View, "layers" | "opacities" | "time">} view
 * @param {boolean} [isRenewed]
 * @returns {{ layers: string[], opacity: number, isField: boolean }[]} */
export function groupsOf({ layers, opacities, time }, isRenewed = true) {
    /** @type {{ layers: string[], opacity: number, isField: boolean }[]} */
    const groups = [];
    for (const id of layers) {
        const opacity = (opacities[id] ?? 100) / 100;
        const isLiveField = isRenewed && time === null && isField(id);
        const last = groups[groups.length - 1];
        if (last && last.opacity === opacity && last.isField === isLiveField) last.layers.push(id);
        else groups.push({ layers: [id], opacity, isField: isLiveField });
    }
    return groups;
}

/** Replaces the layers in a template of tiles.
 * @param {string} template
 * @param {string[]} layers */
export const withLayers = (template, layers) => template.replace(/\/tiles\/[^/]+\//, `/tiles/${layers.join()}/`);

/** The request of a picture: the TileJSON's template with the view's filters, the instant and the snapshot.
 * @param {Billow.TileJSON} tileJSON
 * @param {Billow.View} view
 * @param {number} scale  device pixels per page pixel: 1 or 2
 * @param {((layers: string[]) => number) | null} [changedAt]  returns the version that last changed some layers; null
 * without events
 * @param {boolean} [isFirst]  whether the map does not show this subject yet. Its first picture has fewer tiles
 * @returns {Billow.PictureRequest} */
export function pictureRequest(tileJSON, view, scale, changedAt = null, isFirst = false) {
    const [path = "", query] = (tileJSON.tiles[0] ?? "").split("?");
    const ending = scale > 1 ? "@2x.png" : ".png";
    const time = view.time === null ? null : compactTime(view.time);
    const parameters = new URLSearchParams(query);
    for (const [name, value] of filters(view)) parameters.set(name, value);
    parameters.set("style", styleOf(view).id);
    const template = (
        time === null ? path : path.replace(/(\/tiles\/[^/]+)\/[^/]+\//, `$1/${time}/`)
    ).replace(/(@\dx)?\.png$/, ending);
    const { version: newest = 0, asOf = null } = tileJSON.billow ?? {};
    const minutes = Math.floor((instantOf(asOf) ?? 0) / MINUTE);
    const subject = subjectOf(view);
    const parts = groupsOf(view, !isFirst).map(({ layers, opacity, isField }) => {
        // The address of a live picture never changes, because its tiles are revalidated by their ETags. The key
        // changes when one of its layers changes, and as reports age.
        const version = changedAt?.(layers) ?? newest;
        const age = isField ? Math.floor(minutes / FIELD_MINUTES) : minutes;
        return {
            layers, template: `${withLayers(template, layers)}?${parameters}`, opacity,
            key: time === null ? `${version}-${age}` : `${version}`,
        };
    });
    return {
        tileJSON, subject, key: [subject, `${scale}x`, ...parts.map(({ key }) => key)].join(" "), parts, scale,
        time: view.time, asOf: view.time ?? instantOf(asOf),
    };
}

/** Removes the parts that have no data at the request's instant.
 * @param {Billow.PictureRequest} request
 * @returns {Promise<Billow.PictureRequest>} */
export async function withinExtent(request) {
    if (request.time === null || request.parts.length < 2) return request;
    const isEmpty = await Promise.all(request.parts.map(({ layers }) => isOutside(layers.join(), request.time)));
    return { ...request, parts: request.parts.filter((_, index) => !isEmpty[index]) };
}

/** Identifies a view's layers, filters, style and instant. Snapshots of the same view share it.
 * @param {Billow.View} view */
export function subjectOf(view) {
    const drawn = groupsOf(view, false).map(({ layers, opacity }) => `${layers}:${opacity}`);
    return `${drawn} ${filters(view)} ${styleOf(view).id} ${view.time ?? "live"}`;
}
