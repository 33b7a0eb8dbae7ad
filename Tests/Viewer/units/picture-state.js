// @ts-check
import { isMarkedIncomplete, lackedFields, OLD_PICTURE_MILLISECONDS, pictureState } from "/js/picture-state.js";
import { now } from "/js/server.js";
import { parseHash } from "/js/view.js";
import { equal, test } from "../harness.js";

const { view } = parseHash("");
const NOON = Date.UTC(2026, 6, 21, 12);

/** @param {number | null} time
 * @param {number | null} [frameTime] */
const picture = (time, frameTime = null) => ({
    request: { subject: "s", key: "k", time, asOf: NOON }, frameTime, simulated: false, incomplete: false,
    failures: new Map(),
});
/** @param {Partial<import("/js/picture-state.js").OnMap>} difference
 * @returns {import("/js/picture-state.js").OnMap} */
const onMap = (difference) => ({
    view, frame: null, billow: null, lacking: null,
    pictures: { current: picture(null), next: null, isOutdated: false }, ...difference,
});
const FRAME = { time: NOON, live: false, forecast: false, incomplete: true, playing: false, ready: true };

test("an empty map has no time", () => {
    const { time, isBehind } = pictureState(onMap({ pictures: { current: null, next: null, isOutdated: false } }));
    equal([time, isBehind], [null, true]);
});

test("a live picture has the time of its oldest tile, or the time of the snapshot", () => {
    equal(pictureState(onMap({})).time, NOON);
    const tiles = { current: picture(null, NOON - 60_000), next: null, isOutdated: false };
    const { time, isLive, isBehind } = pictureState(onMap({ pictures: tiles }));
    equal([time, isLive, isBehind], [NOON - 60_000, true, false]);
});

test("a picture is behind while the view has another instant, or another subject loads", () => {
    equal(pictureState(onMap({ view: { ...view, time: NOON } })).isBehind, true);
    const pictures = { current: picture(NOON), next: null, isOutdated: false };
    equal(pictureState(onMap({ view: { ...view, time: NOON }, pictures })).isBehind, false);
    equal(pictureState(onMap({ pictures: { ...pictures, current: picture(null), isOutdated: true } })).isBehind, true);
});

test("a picture of a future instant is a forecast", () => {
    const time = now() + 3_600_000;
    const pictures = { current: picture(time), next: null, isOutdated: false };
    equal(pictureState(onMap({ view: { ...view, time }, pictures })).isForecast, true);
});

test("the timeline's frame replaces the picture, and a playing timeline is never behind", () => {
    const past = { ...view, time: NOON };
    equal(pictureState(onMap({ view: past, frame: FRAME })), {
        time: NOON, isLive: false, isForecast: false, isPlaying: false, isBehind: false, incomplete: true,
    });
    equal(pictureState(onMap({ view: past, frame: { ...FRAME, ready: false } })).isBehind, true);
    equal(pictureState(onMap({ view, frame: FRAME })).isBehind, true, "the view is live");
    equal(pictureState(onMap({ view, frame: { ...FRAME, ready: false, playing: true } })).isBehind, false);
});

test("a mark of missing data applies unless no data is missing in view", () => {
    const marked = onMap({ billow: { incomplete: true } });
    equal(isMarkedIncomplete(marked), true);
    equal([null, [], ["hexagons"]].map((lacking) => pictureState({ ...marked, lacking }).incomplete),
        [true, false, true]);
    equal(isMarkedIncomplete(onMap({ billow: { incomplete: true }, frame: { ...FRAME, incomplete: false } })), false);
});

test("a live picture is old after three minutes; a frame and a past picture are not", () => {
    /** @param {Partial<import("/js/picture-state.js").OnMap>} difference */
    const isOld = (difference) => Boolean(pictureState(onMap(difference)).isOld);
    /** @param {number | null} time
     * @param {number} age */
    const aged = (time, age) => ({ current: picture(time, now() - age), next: null, isOutdated: false });
    const old = OLD_PICTURE_MILLISECONDS + 5_000;
    equal([isOld({ pictures: aged(null, 60_000) }), isOld({ pictures: aged(null, old) })], [false, true]);
    equal([isOld({ pictures: aged(NOON, old) }), isOld({ pictures: aged(null, old), frame: FRAME })], [false, false]);
});

test("a picture without a field lacks the one that the server has", () => {
    /** @param {string | null} dataTime
     * @param {boolean} [hasField] */
    const lacked = (dataTime, hasField = false) => lackedFields(
        { view: { ...view, layers: ["gtg", "hexagons"] }, server: { layers: { gtg: { dataTime } } } }, { hasField });
    const time = "2026-07-21T12:01:00Z";
    equal([lacked(null), lacked(time), lacked(time, true)], ["", time, ""]);
});
