// @ts-check
// The key that this tab sends where the server wants one. It lives as long as the tab: only sessionStorage has it.
import { element } from "./dom.js";

const NAME = "billow-key";
let key = stored();
/** The answer of the dialog that is open.
 * @type {Promise<boolean> | null} */
let dialog = null;
let isDismissed = false;

function stored() {
    try {
        return sessionStorage.getItem(NAME);
    } catch {
        // Storage is forbidden: the key lives in this page alone.
        return null;
    }
}

/** @param {string} text */
function keep(text) {
    key = text;
    try {
        sessionStorage.setItem(NAME, text);
    } catch {
        // As above.
    }
}

/** Whether an address is on the server that the page is from: no other gets the key.
 * @param {string} url */
export function isOurs(url) {
    return new URL(url, document.baseURI).origin === location.origin;
}

/** The headers that a request to an address needs.
 * @returns {Record<string, string>} */
export function keyHeaders(url = document.baseURI) {
    return key && isOurs(url) ? { "X-API-Key": key } : {};
}

/** Asks the reader for a key, because a request with `sent` as headers was refused for `reason`.
 * Resolves to true when there is another key to try, and to false when the reader has none.
 * @param {string} reason
 * @param {Record<string, string>} sent
 * @returns {Promise<boolean>} */
export function askForKey(reason, sent) {
    if (key !== (sent["X-API-Key"] ?? null)) return Promise.resolve(true);
    if (isDismissed) return Promise.resolve(false);
    dialog ??= ask(reason).finally(() => { dialog = null; });
    return dialog;
}

/** @param {string} reason
 * @returns {Promise<boolean>} */
function ask(reason) {
    return new Promise((resolve) => {
        const input = element(
            "input", { type: "password", autocomplete: "off", spellcheck: false, required: true, size: 40 },
        );
        const form = element("form", { method: "dialog" },
            element("h2", {}, "This server needs a key"),
            element("p", { className: "problem", role: "alert" }, reason),
            element("label", {}, "Key ", input),
            element("p", { className: "note" }, "It is kept in this tab and sent to this server only."),
            element("div", { className: "row" },
                element("button", { type: "submit", value: "use" }, "Use key"),
                element("button", { type: "submit", value: "", formNoValidate: true }, "Cancel")));
        const box = element("dialog", { className: "key card" }, form);
        box.addEventListener("close", () => {
            const text = input.value.trim();
            const isGiven = box.returnValue === "use" && text !== "";
            if (isGiven) keep(text);
            isDismissed = !isGiven;
            box.remove();
            resolve(isGiven);
        }, { once: true });
        document.body.append(box);
        box.showModal();
    });
}
