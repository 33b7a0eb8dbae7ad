// @ts-check
import { keyHeaders } from "/js/api-key.js";
import { postJSON } from "/js/features.js";
import {
    fetchResponse, prefetchJSON, clockDifference, getJSON, timeoutSignal, now, ServerError,
} from "/js/server.js";
import { isOwnServer, storageName } from "/js/storage.js";
import { equal, json, ManualTime, ok, test, throws, withResponses } from "../harness.js";

test("a request has its parameters, and the response is JSON", () => withResponses(({ url, method }) => {
    equal(method, "GET");
    return json({ path: url.pathname + url.search });
}, async () => {
    equal(await getJSON("status", new URLSearchParams({ a: "1 2" })), { path: "/status?a=1+2" });
    equal(await getJSON("status", new URLSearchParams()), { path: "/status" });
}));

test("a body is sent as JSON", () => withResponses(({ method, body }) => json({ method, body }), async () => {
    equal(await postJSON("alerts", { track: 5 }), { method: "POST", body: "{\"track\":5}" });
}));

test("an error has the server's text, or the status of a proxy's page", async () => {
    const problem = json({ detail: "hours is 9", code: "bad-parameter" }, { status: 400 });
    await withResponses(() => problem, async () => {
        const error = await getJSON("status").catch((/** @type {unknown} */ error) => error);
        ok(error instanceof ServerError, "it is one");
        equal([error.message, error.status, error.code], ["hours is 9", 400, "bad-parameter"]);
    });
    await withResponses(
        () => new Response("<html>", { status: 502, statusText: "Bad Gateway" }),
        () => throws(() => getJSON("status"), /502 Bad Gateway/),
    );
    await withResponses(() => new Response("<html>"), () => throws(() => getJSON("status"), /not JSON/));
});

test("an unreachable server, a timeout and an abort are different errors", async () => {
    await withResponses(
        () => { throw new TypeError("network"); }, () => throws(() => fetchResponse("x"), /can't be reached/),
    );
    await withResponses(
        () => { throw new DOMException("late", "TimeoutError"); }, () => throws(() => fetchResponse("x"), /timed out/),
    );
    await withResponses(
        () => { throw new DOMException("gone", "AbortError"); }, () => throws(() => fetchResponse("x"), /AbortError/),
    );
});

test("a signal aborts with the caller's signal or after a timeout, whichever is first", () => ManualTime.use((time) => {
    const caller = new AbortController();
    const [one, other] = [timeoutSignal(caller.signal, 1_000), timeoutSignal(undefined, 1_000)];
    caller.abort(new Error("changed"));
    equal([one.aborted, one.reason.message, other.aborted], [true, "changed", false]);
    time.advance(999);
    equal(other.aborted, false);
    time.advance(1);
    equal([other.aborted, other.reason.name], [true, "TimeoutError"]);
}));

test("ages use the server's clock, corrected by a proxy's Age header", async () => {
    const hour = 3_600_000;
    const date = new Date(Date.now() - hour).toUTCString();
    await withResponses(() => json({}, { headers: { Date: date } }), async () => { await getJSON("status"); });
    ok(Math.abs(Date.now() - hour - now()) < 2_000, "an hour behind");
    ok(Math.abs(clockDifference() - hour) < 2_000, "and it is known");
    await withResponses(
        () => json({}, { headers: { Date: date, Age: "3600" } }), async () => { await getJSON("status"); },
    );
    ok(clockDifference() < 2_000, "the copy was an hour old");
});

test("only the page's own server gets the key", () => {
    ok(isOwnServer("tiles/1") && isOwnServer(`${location.origin}/x`), "ours");
    ok(!isOwnServer("https://example.org/tiles"), "not ours");
    const server = new URL("https://example.org/a/");
    ok(isOwnServer("tiles/1", server) && isOwnServer("https://example.org/a/", server), "below its path");
    for (const url of ["/b/tiles/1", "/ab", "https://example.org/"]) ok(!isOwnServer(url, server), url);
    equal(keyHeaders(), {}, "there is none yet");
});

test("each server of an origin has storage of its own", () => {
    equal(["/", "/a/", "/a/b/"].map((path) => storageName("billow-data", new URL(path, location.origin))),
        ["billow-data", "/a/ billow-data", "/a/b/ billow-data"]);
    equal(storageName("billow-data"), "billow-data", "this page's server is at the root");
});

test("a prefetched response serves the first request only", async () => {
    let count = 0;
    await withResponses(() => json({ number: (count += 1) }), async () => {
        prefetchJSON("status", new URLSearchParams({ a: "1" }));
        equal(await getJSON("status", new URLSearchParams({ a: "1" })), { number: 1 });
        equal(await getJSON("status", new URLSearchParams({ a: "1" })), { number: 2 });
    });
});
