// @ts-check
import {
    ATTENDED_MILLISECONDS, isRenewed, LONGEST_MILLISECONDS, onAttention, pollMilliseconds, renewalDelay,
    renewalMilliseconds, savesPixels, UrgentRenewals,
} from "/js/renewal.js";
import { equal, ManualTime, ok, test } from "../harness.js";

test("an unattended page spends at most 88 kB a minute on pictures, but renews them before they are old", () => {
    equal(renewalMilliseconds(0), ATTENDED_MILLISECONDS);
    equal(renewalMilliseconds(176_000), 120_000);
    equal(renewalMilliseconds(1e9), LONGEST_MILLISECONDS);
    ok(LONGEST_MILLISECONDS < 180_000, "an older picture has a banner");
});

test("a picture is renewed as soon as it is due, and not at the next poll", () => ManualTime.use((time) => {
    time.advance(1_000_000);
    const requestedAt = performance.now();
    // The picture takes a while to load.
    time.advance(2_000);
    equal([isRenewed(requestedAt, 1e9), renewalDelay(requestedAt, 1e9)], [true, LONGEST_MILLISECONDS - 2_000]);
    time.advance(renewalDelay(requestedAt, 1e9));
    equal([isRenewed(requestedAt, 1e9), renewalDelay(requestedAt, 1e9)], [false, 1_000]);
}));

test("while somebody uses the page, pictures are renewed once a minute, however large", () => ManualTime.use((time) => {
    let calls = 0;
    onAttention(() => { calls += 1; });
    time.advance(1_000_000);
    dispatchEvent(new Event("pointermove"));
    dispatchEvent(new Event("keydown"));
    equal([calls, renewalMilliseconds(1e9)], [1, ATTENDED_MILLISECONDS]);
    time.advance(200_000);
    equal(renewalMilliseconds(1e9), LONGEST_MILLISECONDS);
    dispatchEvent(new Event("wheel"));
    equal(calls, 2);
}));

test("an unattended page saves the pixels of a fine screen if they cost too much", () => ManualTime.use((time) => {
    time.advance(5_000_000);
    equal([240_000, 250_000, 0].map(savesPixels), [false, true, true], "until somebody uses the page");
    dispatchEvent(new Event("keydown"));
    equal([250_000, 0].map(savesPixels), [false, false]);
    time.advance(200_000);
    equal([0, 250_000].map(savesPixels), [false, true]);
}));

test("a page on a device that says it is offline polls more often than one without events", () => {
    ok(pollMilliseconds(true, Infinity, true) > pollMilliseconds(false, Infinity, true), "events announce new data");
    ok(pollMilliseconds(true, Infinity, false) < 5_000, "a silent stream of events does not hide lost contact");
});

test("an unattended page polls once a minute, and when its picture is due", () => ManualTime.use((time) => {
    time.advance(10_000_000);
    equal([Infinity, 40_000, 1_000].map((due) => pollMilliseconds(true, due, true)), [60_000, 40_000, 30_000]);
    dispatchEvent(new Event("keydown"));
    equal([Infinity, 20_000].map((due) => pollMilliseconds(true, due, true)), [30_000, 20_000]);
}));

test("a few urgent renewals happen at once, and further ones once a minute", () => ManualTime.use((time) => {
    const urgent = new UrgentRenewals();
    const delays = [];
    for (let count = 0; count < 7; count += 1) {
        delays.push(urgent.delay);
        time.advance(urgent.delay);
        urgent.spend();
    }
    equal(delays, [1_000, 5_000, 5_000, 5_000, 5_000, 39_000, 60_000]);
    time.advance(600_000);
    equal(urgent.delay, 1_000);
}));
