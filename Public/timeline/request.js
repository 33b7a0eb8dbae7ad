// @ts-check
// Functions for the requests of players and points.

const TIMEOUT_MILLISECONDS = 15_000;

/** Calls `send` with a signal that aborts with another signal, and after a timeout. Not every browser has
 * `AbortSignal.any`. The timer ends with the response.
 * @template Answer
 * @param {AbortSignal} signal
 * @param {(limited: AbortSignal) => Promise<Answer>} send */
export async function limited(signal, send) {
    const controller = new AbortController();
    const end = () => controller.abort(signal.reason);
    const timer = setTimeout(
        () => controller.abort(new DOMException("the request timed out", "TimeoutError")), TIMEOUT_MILLISECONDS,
    );
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    try {
        return await send(controller.signal);
    } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
    }
}

/** Describes the failure of a request.
 * @param {unknown} error */
export function errorText(error) {
    if (!(error instanceof Error)) return String(error);
    return error.name === "TypeError" ? "the server can't be reached" : error.message;
}
