// @ts-check
import {
    isMarkedIncomplete, lackedFields, OLD_PICTURE_MILLISECONDS, pictureState, shownKey, shownView,
} from "/js/picture-state.js";
import { cardTimeText } from "/js/card-times.js";
import { drawnView } from "/js/picture-request.js";
import { now } from "/js/server.js";
import { parseHash } from "/js/view.js";
import { equal, ok, test } from "../harness.js";

const { view } = parseHash("");
const NOON = Date.UTC(2026, 6, 21, 12);

/** @param {number | null} time
 * @param {number | null} [frameTime] */
const picture = (time, frameTime = null) => ({
    request: { subject: "s", key: "k", time, asOf: NOON, view: drawnView(view) }, frameTime, simulated: false,
    incomplete: false,
    failures: new Map(),
});
/** @param {Partial<import("/js/picture-state.js").OnMap>} difference
 * @returns {import("/js/picture-state.js").OnMap} */
const onMap = (difference) => ({
    view, frame: null, billow: null, lacking: null,
    pictures: { current: picture(null), next: null, isOutdated: false }, ...difference,
});
const FRAME = {
    time: NOON, live: false, forecast: false, incomplete: true, playing: false, ready: true, view: drawnView(view),
};

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
        time: NOON, isLive: false, isForecast: false, isPlaying: false, isOther: false, isBehind: false,
        incomplete: true,
    });
    equal(pictureState(onMap({ view: past, frame: { ...FRAME, ready: false } })).isBehind, true);
    equal(pictureState(onMap({ view, frame: FRAME })).isBehind, true, "the view is live");
    equal(pictureState(onMap({ view, frame: { ...FRAME, ready: false, playing: true } })).isBehind, false);
});

test("the words about the map are those of its pixels, and not those of the form, also on a frame", () => {
    const wanted = { ...view, minSeverity: 4, layers: ["hexagons"], time: NOON, level: 37_000 };
    const pictures = { current: picture(NOON), next: null, isOutdated: false };
    const maps = [
        onMap({ view: wanted, pictures }), onMap({ view: wanted, frame: FRAME }),
        onMap({ view: wanted, frame: { ...FRAME, playing: true } }),
    ];
    for (const map of maps) {
        const { minSeverity, layers, time, level } = shownView(map);
        equal([minSeverity, layers, time, level], [0, view.layers, NOON, 37_000]);
        const { isBehind, isOther } = pictureState(map);
        equal([isBehind, isOther], [true, true]);
    }
    const renewed = { ...FRAME, view: drawnView(wanted) };
    equal(pictureState(onMap({ view: wanted, frame: renewed })).isBehind, false);
    ok(shownKey(onMap({ view: wanted, frame: renewed })) !== shownKey(onMap({ view: wanted, frame: FRAME })),
        "cards follow the filter of a frame");
});

test("a card names its time while the timeline plays, and unless the live picture on the map is the card's", () => {
    const at = NOON - 7_200_000;
    const live = { view, at }, past = { view: { ...view, time: at }, at: NOON };
    equal(cardTimeText(onMap({}), null), "");
    equal(cardTimeText(onMap({}), live), "");
    equal(cardTimeText(onMap({ frame: { ...FRAME, time: at } }), past), "This card is for 21 Jul 2026 10:00Z.");
    for (const card of [live, past]) {
        equal(cardTimeText(onMap({ frame: FRAME }), card),
            "This card is for 21 Jul 2026 10:00Z. The map shows another picture.");
        equal(cardTimeText(onMap({ frame: { ...FRAME, playing: true } }), card),
            "This card is for 21 Jul 2026 10:00Z. The map plays on.");
    }
    const filtered = { view: { ...view, minSeverity: 3 }, at };
    ok(cardTimeText(onMap({}), filtered).endsWith("The map shows another picture."), "another filter");
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
    /** @param {Partial<import("/js/picture-state.js").OnMap>} difference */
    const isDue = (difference) => pictureState(onMap(difference)).isDue;
    const { view } = onMap({});
    const wanted = { ...view, minSeverity: 4 };
    equal([isDue({ pictures: aged(null, 70_000) }), isDue({ pictures: aged(null, 70_000), view: wanted }),
        isDue({ pictures: aged(null, 50_000), view: wanted })], [false, true, false], "new settings");
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
