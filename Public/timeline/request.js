// @ts-check
// What requests of a player have in common.

const TIMEOUT_MILLISECONDS = 15_000;

/** Passes on a signal that aborts when another does, and after a timeout. `AbortSignal.any` is not in every browser.
 * The timer ends with the answer.
 * @template Answer
 * @param {AbortSignal} signal
 * @param {(limited: AbortSignal) => Promise<Answer>} ask */
export async function limited(signal, ask) {
    const controller = new AbortController();
    const end = () => controller.abort(signal.reason);
    const timer = setTimeout(
        () => controller.abort(new DOMException("no answer in time", "TimeoutError")), TIMEOUT_MILLISECONDS,
    );
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    try {
        return await ask(controller.signal);
    } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
    }
}

/** Why a request failed.
 * @param {unknown} error */
export function words(error) {
    if (!(error instanceof Error)) return String(error);
    return error.name === "TypeError" ? "the server can't be reached" : error.message;
}
