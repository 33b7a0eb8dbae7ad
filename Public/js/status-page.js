// @ts-check
// The status page where the server wants a key: asks for one, and shows the page by it.
import { answer } from "./server.js";

const REFRESH_MILLISECONDS = 15_000;

async function show() {
    try {
        const response = await answer("status", { headers: { Accept: "text/html" }, cache: "no-store" });
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        document.body.replaceChildren(...document.adoptNode(page.body).childNodes);
        setTimeout(show, REFRESH_MILLISECONDS);
    } catch (error) {
        const words = document.createElement("p");
        words.className = "bad";
        words.textContent = error instanceof Error ? error.message : String(error);
        document.body.append(words);
    }
}

show();
