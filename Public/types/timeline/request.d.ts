/** Calls `send` with a signal that aborts with another signal, and after a timeout. Not every browser has
 * `AbortSignal.any`. The timer ends with the response.
 * @template Answer
 * @param {AbortSignal} signal
 * @param {(limited: AbortSignal) => Promise<Answer>} send */
export function limited<Answer>(signal: AbortSignal, send: (limited: AbortSignal) => Promise<Answer>): Promise<Answer>;
/** Describes the failure of a request.
 * @param {unknown} error */
export function errorText(error: unknown): string;
