// @ts-check
// The instant of the pixels on the map. The header, the form, the timeline, the banners and the map's questions all
// read it here, so that no two of them can say different times.
import { now } from "./server.js";

/** What is known of the picture on the map.
 * @typedef {{
 *     request: { subject: string, key: string, time: number | null, asOf: number | null }, frameTime: number | null,
 *     simulated: boolean, incomplete: boolean, failures: Map<string, string>,
 * }} ShownPicture
 *
 * `frame` is what the timeline shows, or null where it shows nothing. Then the picture is on the map.
 * `billow` is the TileJSON's, and `lacking` the layers that lack data in view, or null where that isn't known.
 * @typedef {{
 *     view: Billow.View, frame: Billow.Frame | null, billow: Billow.Publication | null, lacking: string[] | null,
 *     pictures: { current: ShownPicture | null, next: ShownPicture | null, isOther: boolean },
 * }} OnMap
 *
 * `time` is null where nothing is on the map. `isBehind` says that something else was asked for, which is not on the
 * map yet.
 * @typedef {{
 *     time: number | null, isLive: boolean, isForecast: boolean, isPlaying: boolean, isBehind: boolean,
 *     incomplete: boolean,
 * }} Moment */

/** Whether the server marks what is on the map, or a tile of it, as incomplete: it may be so outside of the map.
 * @param {OnMap} onMap */
export const isMarked = ({ frame, pictures: { current }, billow }) =>
    frame ? frame.incomplete : current !== null && (current.incomplete || billow?.incomplete === true);

/** @param {OnMap} onMap
 * @returns {Moment} */
export function momentOf(onMap) {
    const { view, frame, pictures } = onMap;
    // Only where the server has said that nothing is missing in view the mark isn't about it.
    const incomplete = isMarked(onMap) && onMap.lacking?.length !== 0;
    if (frame) {
        const { time, live, forecast, playing, ready } = frame;
        // While it plays the next frame is always on its way.
        return {
            time, isLive: live, isForecast: forecast || time > now(), isPlaying: playing,
            isBehind: !playing && (!ready || (view.time === null) !== live), incomplete,
        };
    }
    const { current, isOther } = pictures;
    if (!current) return {
        time: null, isLive: false, isForecast: false, isPlaying: false, isBehind: true, incomplete: false,
    };
    const { time, asOf } = current.request;
    return {
        time: time ?? current.frameTime ?? asOf, isLive: time === null, isForecast: time !== null && time > now(),
        isPlaying: false, isBehind: isOther || time !== view.time, incomplete,
    };
}
