// @ts-check
// What requests of a player have in common.

const TIMEOUT_MILLISECONDS = 15_000;

/** A signal that aborts with another, and after a while: `AbortSignal.any` is not in every browser.
 * @param {AbortSignal} signal */
export function limited(signal) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException("no answer in time", "TimeoutError")), TIMEOUT_MILLISECONDS);
    signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
    return controller.signal;
}

/** Why a request failed.
 * @param {unknown} error */
export function words(error) {
    if (!(error instanceof Error)) return String(error);
    return error.name === "TypeError" ? "the server can't be reached" : error.message;
}
