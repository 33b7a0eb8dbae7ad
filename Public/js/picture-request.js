// @ts-check
// Converts the server's TileJSON to the request of a picture.
import { isOutside } from "./time-extent.js";
import { isField } from "./layers.js";
import { compactTime, instantOf } from "./format.js";
import { styleOf } from "./styles.js";
import { filters } from "./view.js";

const MINUTE = 60_000;
/** The severity of smooth air. */
const SMOOTH = 0;
/** The interval to renew fields, which change only every quarter of an hour. Reports age all the time. */
const FIELD_MINUTES = 5;

/** Layers that are drawn together. `isField` is true if the group is a field of its own. `severities` replaces those of
 * the view's filter, or is null. Without any, the group is only a hatch.
 * @typedef {{ layers: string[], opacity: number, isField: boolean, severities: number[] | null }} Group */

/** Groups the layers of a view that are drawn together, the lowest first. Neighbouring layers of equal opacity form a
 * group. If a live picture is renewed, a field forms its own group, because it rarely changes.
 * A field also forms its own group if the filter selects smooth air. The server would then fill the field's smooth air,
 * which is transparent without a filter.
 * @param {Pick<Billow.View, "layers" | "opacities" | "severities" | "time">} view
 * @param {boolean} [isRenewed]
 * @returns {Group[]} */
export function groupsOf({ layers, opacities, severities, time }, isRenewed = true) {
    const selectsSmooth = severities?.includes(SMOOTH) ?? false;
    /** @type {Group[]} */
    const groups = [];
    for (const id of layers) {
        const isOwn = isField(id) && (selectsSmooth || (isRenewed && time === null));
        const rough = isOwn && selectsSmooth ? (severities ?? []).filter((severity) => severity !== SMOOTH) : null;
        const opacity = (opacities[id] ?? 100) / 100;
        const last = groups[groups.length - 1];
        if (last && last.opacity === opacity && last.isField === isOwn) last.layers.push(id);
        else groups.push({ layers: [id], opacity, isField: isOwn, severities: rough });
    }
    return groups;
}

/** The filter of a group, from that of all layers.
 * @param {URLSearchParams} query
 * @param {Pick<Group, "severities">} group */
export function groupFilter(query, { severities }) {
    const own = new URLSearchParams(query);
    if (severities?.length) own.set("severity", severities.join());
    // The hatch stays opaque.
    else if (severities) own.set("opacity", "0");
    return own;
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
    const parts = groupsOf(view, !isFirst).map((group) => {
        const { layers, opacity, isField } = group;
        // The address of a live picture never changes, because its tiles are revalidated by their ETags. The key
        // changes when one of its layers changes, and as reports age.
        const version = changedAt?.(layers) ?? newest;
        const age = isField ? Math.floor(minutes / FIELD_MINUTES) : minutes;
        return {
            layers, template: `${withLayers(template, layers)}?${groupFilter(parameters, group)}`, opacity,
            key: time === null ? `${version}-${age}` : `${version}`,
        };
    });
    return {
        tileJSON, subject, key: [subject, `${scale}x`, ...parts.map(({ key }) => key)].join(" "), parts, scale,
        time: view.time, asOf: view.time ?? instantOf(asOf), view: drawnView(view),
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

/** Copies the members of a view that its pixels depend on, besides the instant. Later changes of the view or of the
 * user's scheme do not change them.
 * @param {Billow.View} view
 * @returns {Billow.DrawnView} */
export function drawnView(view) {
    const { layers, opacities, hours, minAltitude, maxAltitude, minSeverity, severities, category, sources } = view;
    return {
        layers, opacities, hours, minAltitude, maxAltitude, minSeverity, severities, category, sources,
        style: styleOf(view).id,
    };
}

/** Identifies a view's layers, filters, style and instant. Snapshots of the same view share it.
 * @param {Billow.View} view */
export function subjectOf(view) {
    const drawn = groupsOf(view, false).map(({ layers, opacity }) => `${layers}:${opacity}`);
    return `${drawn} ${filters(view)} ${styleOf(view).id} ${view.time ?? "live"}`;
}
