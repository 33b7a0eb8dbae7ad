// @ts-check
import {
    ATTENDED_MILLISECONDS, LONGEST_MILLISECONDS, onAttention, pollMilliseconds, renewalMilliseconds,
} from "/js/renewal.js";
import { equal, ManualTime, ok, test } from "../harness.js";

test("an unattended page spends at most 88 kB a minute on pictures, but renews them before they are old", () => {
    equal(renewalMilliseconds(0), ATTENDED_MILLISECONDS);
    equal(renewalMilliseconds(176_000), 120_000);
    equal(renewalMilliseconds(1e9), LONGEST_MILLISECONDS);
    ok(LONGEST_MILLISECONDS < 180_000, "an older picture has a banner");
});

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

test("a page on a device that says it is offline polls more often than one without events", () => {
    ok(pollMilliseconds(true, true) > pollMilliseconds(false, true), "events announce new data");
    ok(pollMilliseconds(true, false) < 5_000, "a silent stream of events does not hide lost contact");
});
