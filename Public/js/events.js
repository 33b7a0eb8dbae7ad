// The server's events (HTML Living Standard, section 9.2), read by fetch: EventSource can't send a key.
import { answer } from "./server.js";

const RETRY_MILLISECONDS = 3_000;
/** The server says something every 15 s. A line that is silent for longer is broken. */
const SILENCE_MILLISECONDS = 45_000;

/** Calls `hear(name, data)` for every event, for as long as the page lives; comes back where the line breaks. */
export async function listen(path, hear) {
    const state = { lastEventID: null };
    for (;;) {
        try {
            await read(path, hear, state);
        } catch {
            // The server can't be reached, or refuses: the polling says so.
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
    }
}

async function read(path, hear, state) {
    const abort = new AbortController();
    const headers = { Accept: "text/event-stream", ...(state.lastEventID && { "Last-Event-ID": state.lastEventID }) };
    let watch = null;
    const live = () => {
        clearTimeout(watch);
        watch = setTimeout(() => abort.abort(), SILENCE_MILLISECONDS);
    };
    try {
        const response = await answer(path, { signal: abort.signal, headers, cache: "no-store" });
        const reader = response.body.getReader();
        const decoder = new TextDecoder();
        let text = "";
        for (;;) {
            live();
            const { done, value } = await reader.read();
            if (done) return;
            text += decoder.decode(value, { stream: true });
            const blocks = text.split("\n\n");
            text = blocks.pop();
            for (const block of blocks) tell(block, hear, state);
        }
    } finally {
        clearTimeout(watch);
    }
}

function tell(block, hear, state) {
    let name = "message";
    const data = [];
    for (const line of block.split("\n")) {
        const [, field, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
        if (field === "event") name = value;
        if (field === "data") data.push(value);
        if (field === "id") state.lastEventID = value;
    }
    if (data.length) hear(name, data.join("\n"));
}
