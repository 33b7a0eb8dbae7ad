// @ts-check
// What the pixels on the map are of: instant, layers, filters and style. The header, the timeline, the banners, the
// legend, the cards and the map's requests all read it here, and never in the form. The form has the user's wish, which
// the map may not show yet, or without contact not for hours.
import { isField } from "./layers.js";
import { subjectOf } from "./picture-request.js";
import { now } from "./server.js";

/** The server publishes a snapshot each minute, and the page polls four times a minute. Three minutes mean a fault. */
export const OLD_PICTURE_MILLISECONDS = 180_000;
/** A live picture that is older has its age in the header, because an unattended page renews it rarely. */
export const STATED_AGE_MILLISECONDS = 60_000;

/** The state of a picture on the map.
 * @typedef {{
 *     request: { subject: string, key: string, time: number | null, asOf: number | null, view: Billow.DrawnView },
 *     frameTime: number | null,
 *     newestTime?: number | null, simulated: boolean, incomplete: boolean, failures: Map<string, string>,
 *     missedFailures?: Map<string, string>, isTorn?: boolean, hasField?: boolean,
 * }} ShownPicture
 *
 * `isTorn` is true if its tiles are of different states of the data, and `hasField` if one has a turbulence field.
 * `frameTime` and `newestTime` are the oldest and the newest time of its tiles. `failures` has those of its own tiles,
 * and `missedFailures` those of a newer picture that was discarded.
 * `frame` is the timeline's frame on the map. It is null if the timeline shows none; then the picture is on the map.
 * `billow` is the TileJSON's member. `lacking` contains the layers that lack data in view, or null if unknown.
 * Its `edges` are those that lack data only towards the edges of the view.
 * `absent` contains those of which nothing is stored at the instant.
 * @typedef {{
 *     view: Billow.View, frame: Billow.Frame | null, billow: Billow.Snapshot | null,
 *     lacking: import("./coverage.js").Lacking, absent?: string[],
 *     pictures: { current: ShownPicture | null, next: ShownPicture | null, isOutdated: boolean },
 * }} OnMap
 *
 * `time` is null if the map is empty. `isBehind` is true while the map does not yet show the latest request, and
 * `isOther` while it has other layers, filters or another style.
 * @typedef {{
 *     time: number | null, isLive: boolean, isForecast: boolean, isPlaying: boolean, isBehind: boolean,
 *     isOther: boolean, incomplete: boolean, isOld?: boolean, isDue?: boolean,
 * }} PictureState
 *
 * `isDue` is true if a live picture of other settings has an age to state. The words must not call it live.
 * `isOld` is true if a live picture has not been updated for so long that its age has a banner. A live frame of hazards
 * has the time of their last change, which may be long ago. So frames are not checked. */

/** Identifies the fields that the server has and a live picture lacks; empty if there are none.
 * @param {{ view: Billow.View, server: Billow.Status | null }} knowledge
 * @param {{ hasField: boolean }} picture */
export function lackedFields({ view, server }, { hasField }) {
    return hasField ? ""
        : view.layers.filter(isField).flatMap((id) => server?.layers?.[id]?.dataTime ?? []).join();
}

/** Whether the server marks the picture, or one of its tiles, as incomplete. The missing data may lie out of view.
 * @param {OnMap} onMap */
export const isMarkedIncomplete = ({ frame, pictures: { current }, billow }) =>
    frame ? frame.incomplete : current !== null && (current.incomplete || billow?.incomplete === true);

/** Whether the tiles on the map have hatches: the server marks such tiles. Its description of the picture may be newer.
 * @param {OnMap} onMap */
export const isHatched = ({ frame, pictures: { current } }) => (frame ? frame.incomplete
    : current !== null && current.incomplete && !current.isTorn && current.hasField !== false);

/** The fields that cover the middle of the view and have no data at its edges, where the map is hatched. The legend
 * names them. No warning does, because nobody reads a warning that is always there.
 * @param {OnMap} onMap */
export const edgesOf = (onMap) => (isHatched(onMap) && onMap.lacking?.edges || [])
    .filter((id) => !onMap.absent?.includes(id));

/** The layers whose lack of data in view needs a warning; null if unknown.
 * @param {OnMap} onMap */
export const lackingOf = (onMap) => onMap.lacking?.filter((id) => !edgesOf(onMap).includes(id)) ?? null;

/** @param {OnMap} onMap
 * @returns {PictureState} */
export function pictureState(onMap) {
    const { view, frame, pictures } = onMap;
    // The mark counts unless the server has stated that no data is missing in view.
    const incomplete = (isMarkedIncomplete(onMap) && lackingOf(onMap)?.length !== 0) || Boolean(onMap.absent?.length);
    if (frame) {
        const { time, live, forecast, playing, ready } = frame;
        const isOther = isOtherThan(view, frame.view);
        // While the timeline plays, the next frame is always loading, which does not count.
        return {
            time, isLive: live, isForecast: forecast || time > now(), isPlaying: playing, isOther,
            isBehind: isOther || (!playing && (!ready || (view.time === null) !== live)), incomplete,
        };
    }
    const { current, isOutdated } = pictures;
    if (!current) return {
        time: null, isLive: false, isForecast: false, isPlaying: false, isBehind: true, isOther: false,
        incomplete: false,
    };
    const { time, asOf } = current.request;
    const shown = time ?? current.frameTime ?? asOf;
    const isOther = isOtherThan(view, current.request.view);
    const liveAge = time === null && shown !== null ? now() - shown : 0;
    return {
        isOther, isOld: liveAge > OLD_PICTURE_MILLISECONDS, isDue: isOther && liveAge > STATED_AGE_MILLISECONDS,
        time: shown, isLive: time === null, isForecast: time !== null && time > now(),
        isPlaying: false, isBehind: isOther || isOutdated || time !== view.time, incomplete,
    };
}

/** @param {Billow.View} view
 * @param {Billow.DrawnView} drawn */
const isOtherThan = (view, drawn) =>
    subjectOf({ ...view, ...drawn, time: null }) !== subjectOf({ ...view, time: null });

/** The view with the layers, filters, style and instant of the pixels on the map. Its other members are the user's. An
 * empty map has the user's view.
 * @param {OnMap} onMap
 * @returns {Billow.View} */
export function shownView(onMap) {
    const { view, frame, pictures } = onMap;
    const { time, isLive } = pictureState(onMap);
    return { ...view, ...(frame ?? pictures.current?.request)?.view, time: isLive ? null : time ?? view.time };
}

/** Identifies the pixels on the map: what they are of, and of which state of the data a picture is.
 * @param {OnMap} onMap */
export const shownKey = (onMap) =>
    `${subjectOf(shownView(onMap))} ${onMap.frame ? onMap.frame.time : onMap.pictures.current?.request.key}`;

