// @ts-check
import { indexAt } from "/timeline/protocol.js";
import { errorText, limited } from "/timeline/request.js";
import { equal, ManualTime, test, throws } from "../harness.js";

test("the index at an instant is that of the newest instant before it, or 0", () => {
    equal([5, 10, 15, 20, 99].map((instant) => indexAt([10, 20], instant)), [0, 0, 0, 1, 1]);
    equal(indexAt([], 5), 0);
});

test("a request ends after its timeout or with its caller, and leaves no timer", () => ManualTime.use(async (time) => {
    const caller = new AbortController();
    /** @param {AbortSignal} signal */
    const wait = (signal) => new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
    });
    equal(await limited(caller.signal, async () => "response"), "response");
    equal(time.timers, 0);
    const slow = limited(caller.signal, wait);
    time.advance(15_000);
    await throws(() => slow, /TimeoutError: the request timed out/);
    const other = limited(caller.signal, wait);
    caller.abort(new Error("changed"));
    await throws(() => other, /changed/);
    equal(time.timers, 0);
}));

test("a network error is an unreachable server, and others have their own text", () => {
    equal(errorText(new TypeError("failed to fetch")), "the server can't be reached");
    equal([errorText(new Error("no such span")), errorText("text")], ["no such span", "text"]);
});
