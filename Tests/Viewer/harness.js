// @ts-check
// The harness for tests that run inside a page, in a real browser. A module of `units/` calls `test`; the page calls
// `run`.

/** @typedef {{ name: string, problem: string | null, milliseconds: number }} Result */

/** @type {{ name: string, body: () => void | Promise<void> }[]} */
const tests = [];

/** The timeout of a test, which is longer than any test takes. So a test that hangs fails by name. */
const LONGEST_MILLISECONDS = 60_000;

/** @param {string} name  a sentence about behaviour
 * @param {() => void | Promise<void>} body */
export function test(name, body) {
    tests.push({ name, body });
}

/** Runs all tests, one after the other.
 * @returns {Promise<Result[]>} */
export async function run() {
    const results = [];
    for (const { name, body } of tests) {
        const start = performance.now();
        let problem = null;
        try {
            // Starts before the test, so that a manual clock does not control this timer.
            const timeout = new Promise((_, reject) => {
                setTimeout(() => reject(new Error(`not within ${LONGEST_MILLISECONDS} ms`)), LONGEST_MILLISECONDS);
            });
            await Promise.race([body(), timeout]);
        } catch (error) {
            problem = error instanceof Error ? `${error.message}\n${error.stack ?? ""}` : String(error);
        }
        results.push({ name, problem, milliseconds: performance.now() - start });
    }
    return results;
}

/** Converts a value to text, with members in sorted order.
 * @param {unknown} value
 * @returns {string} */
function text(value) {
    if (value instanceof Map) return `Map ${text([...value])}`;
    if (value instanceof Set) return `Set ${text([...value])}`;
    if (Array.isArray(value)) return `[${value.map(text).join(", ")}]`;
    if (value === null || typeof value !== "object") {
        return typeof value === "string" ? JSON.stringify(value) : String(value);
    }
    const members = Object.entries(value).filter(
        ([, member]) => member !== undefined
    ).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, member]) => `${name}: ${text(member)}`).join(", ")}}`;
}

/** Fails if two values differ in any member.
 * @param {unknown} actual
 * @param {unknown} expected
 * @param {string} [what] */
export function equal(actual, expected, what = "") {
    const [one, other] = [text(actual), text(expected)];
    if (one !== other) throw new Error(`${what ? `${what}: ` : ""}${one} instead of ${other}`);
}

/** Fails if a condition is false.
 * @param {unknown} condition
 * @param {string} what
 * @returns {asserts condition} */
export function ok(condition, what) {
    if (!condition) throw new Error(`not so: ${what}`);
}

/** Fails if `body` throws no error with a matching message.
 * @param {() => unknown} body
 * @param {RegExp} words  matches the message */
export async function throws(body, words) {
    try {
        await body();
    } catch (error) {
        const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        return ok(words.test(message), `${message} is like ${words}`);
    }
    throw new Error(`nothing was thrown; ${words} was expected`);
}

/** A clock that the test controls. The page's clock and timers advance only by `advance`. */
export class ManualTime {
    /** @type {Map<number, { at: number, every: number | null, action: () => void }>} */
    #timers = new Map();
    #number = 0;
    #now = 0;

    /** Runs a test with a manual clock.
     * @param {(time: ManualTime) => void | Promise<void>} body */
    static async use(body) {
        const time = new ManualTime();
        const page = /** @type {any} */ (globalThis);
        const kept = ["setTimeout", "setInterval", "clearTimeout", "clearInterval"].map((name) => [name, page[name]]);
        const now = performance.now;
        page.setTimeout = (
            /** @type {() => void} */ action, milliseconds = 0,
        ) => time.#add(action, milliseconds, false);
        page.setInterval = (
            /** @type {() => void} */ action, milliseconds = 0,
        ) => time.#add(action, milliseconds, true);
        page.clearTimeout = page.clearInterval = (/** @type {number} */ number) => time.#timers.delete(number);
        performance.now = () => time.#now;
        try {
            await body(time);
        } finally {
            for (const [name, value] of kept) page[name] = value;
            performance.now = now;
        }
    }

    /** @param {() => void} action
     * @param {number} milliseconds
     * @param {boolean} repeats */
    #add(action, milliseconds, repeats) {
        this.#number += 1;
        this.#timers.set(this.#number, { at: this.#now + milliseconds, every: repeats ? milliseconds : null, action });
        return this.#number;
    }

    /** The number of pending timers. */
    get timers() { return this.#timers.size; }

    /** Advances the clock, and fires the due timers in order.
     * @param {number} milliseconds */
    advance(milliseconds) {
        const end = this.#now + milliseconds;
        for (;;) {
            const [next] = [...this.#timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
            if (!next) break;
            const [number, timer] = next;
            this.#now = Math.max(this.#now, timer.at);
            if (timer.every === null) this.#timers.delete(number);
            else timer.at += Math.max(timer.every, 1);
            timer.action();
        }
        this.#now = end;
    }
}

/** Answers the page's requests while a test runs.
 * @param {(request: { url: URL, method: string, headers: Headers, body: unknown, signal: AbortSignal | null | undefined
 * }) => Response | Promise<Response>} answer
 * @param {() => void | Promise<void>} body */
export async function withResponses(answer, body) {
    const original = globalThis.fetch;
    globalThis.fetch = async (input, init = {}) => {
        const url = new URL(String(input), document.baseURI);
        init.signal?.throwIfAborted?.();
        return answer({
            url, method: init.method ?? "GET", headers: new Headers(init.headers), body: init.body, signal: init.signal,
        });
    };
    try {
        await body();
    } finally {
        globalThis.fetch = original;
    }
}

/** Creates a JSON response.
 * @param {unknown} body
 * @param {ResponseInit} [options] */
export function json(body, options = {}) {
    return new Response(
        JSON.stringify(body), { ...options, headers: { "Content-Type": "application/json", ...options.headers } },
    );
}

/** Runs the pending microtasks. */
export async function flushMicrotasks() {
    for (let count = 0; count < 20; count += 1) await Promise.resolve();
}
