// @ts-check
import { isField, LAYERS } from "/js/layers.js";
import { countBars, extentOf, isWithin, labelledHours, ownFrames, positionOf } from "/js/timeline-marks.js";
import { equal, test } from "../harness.js";

const HOUR = 3_600_000;

test("the strip of the timeline is linear in time, from the first frame to the last one", () => {
    const times = [0, 1 * HOUR, 4 * HOUR];
    equal([-1, 0, HOUR, 2.5 * HOUR, 4 * HOUR, 9 * HOUR].map((time) => positionOf(time, times)),
        [0, 0, 0.25, 0.625, 1, 1]);
    equal(positionOf(5, [7]), 0);
});

test("a frame has the part of the strip that is nearer to it than to another frame", () => {
    equal([0, 1, 2].map((index) => extentOf(index, [0, 1 * HOUR, 4 * HOUR])), [[0, 0.125], [0.125, 0.625], [0.625, 1]]);
    equal(extentOf(0, [7]), [0, 0]);
});

test("the timeline labels whole hours, at most nine", () => {
    equal(labelledHours([0.5 * HOUR, 3.2 * HOUR]), [HOUR, 2 * HOUR, 3 * HOUR]);
    equal(labelledHours([0, 24 * HOUR]).length, 9);
    equal(labelledHours([0.1 * HOUR, 0.2 * HOUR]), []);
});

test("bars of cells and of field points have scales of their own, and none stands for nothing", () => {
    equal(countBars([0, 5, 10, null, null], [9, 9, 9, 4_000, 1_000]), [
        null, { share: 0.5, isField: false }, { share: 1, isField: false }, { share: 1, isField: true },
        { share: 0.25, isField: true },
    ]);
    equal(countBars([null, null], []), [null, null]);
    equal(countBars([], [null, 3]), [null, { share: 1, isField: true }]);
    equal(countBars([], []), []);
});

test("a field has a mark only where its frame shows one, and another one than the frame before", () => {
    const field = { product: "nowcast", run: "02:15", lead: 0 };
    const frames = [
        { time: "02:00" }, { time: "02:15", ...field }, { time: "02:30", ...field },
        { time: "02:45", ...field, run: "02:45" }, { time: "03:00" }, { time: "03:15", ...field, lead: 3_600 },
    ];
    /** @param {boolean} wanted */
    const timesOf = (wanted) => {
        const layer = LAYERS.find(({ id }) => isField(id) === wanted);
        return ownFrames({ id: layer?.id ?? "", frames }).map(({ time }) => time);
    };
    equal(timesOf(true), ["02:15", "02:45", "03:15"]);
    equal(timesOf(false), frames.map(({ time }) => time));
});

test("a frame outside the timeline has no place on it, unless the manifests differ by a minute", () => {
    const times = [2 * HOUR, 3 * HOUR, 4 * HOUR];
    equal([HOUR, 2 * HOUR - 60_000, 3.5 * HOUR, 4 * HOUR + 60_000, 5 * HOUR].map((time) => isWithin(time, times)),
        [false, true, true, true, false]);
});
