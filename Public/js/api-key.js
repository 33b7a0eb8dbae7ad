// @ts-check
// The API key of this tab, for servers that require one. Only sessionStorage stores it, so it lives as long as the tab.
import { element } from "./dom.js";
import { isOwnServer, storageName } from "./storage.js";

const NAME = storageName("billow-key");
let key = storedKey();
/** The result of the open dialog; null while none is open.
 * @type {Promise<boolean> | null} */
let dialog = null;
let isDismissed = false;

function storedKey() {
    try {
        return sessionStorage.getItem(NAME);
    } catch {
        // The browser forbids storage. The key then lives in this page only.
        return null;
    }
}

/** @param {string} text */
function store(text) {
    key = text;
    try {
        sessionStorage.setItem(NAME, text);
    } catch {
        // The browser forbids storage. The key then lives in this page only.
    }
}

/** The headers for a request to an address: the key, if there is one and the server is ours. No other server gets it.
 * @returns {Record<string, string>} */
export function keyHeaders(url = document.baseURI) {
    return key && isOwnServer(url) ? { "X-API-Key": key } : {};
}

/** Asks the user for a key, because the server refused a request with the headers `sent` for `reason`.
 * Resolves to true if there is another key to try, and to false if the user has none.
 * @param {string} reason
 * @param {Record<string, string>} sent
 * @returns {Promise<boolean>} */
export function askForKey(reason, sent) {
    if (key !== (sent["X-API-Key"] ?? null)) return Promise.resolve(true);
    if (isDismissed) return Promise.resolve(false);
    dialog ??= openDialog(reason, key !== null).finally(() => { dialog = null; });
    return dialog;
}

/** @param {string} reason
 * @param {boolean} isRefused  whether the server refused a key
 * @returns {Promise<boolean>} */
function openDialog(reason, isRefused) {
    return new Promise((resolve) => {
        const input = element(
            "input", { type: "password", autocomplete: "off", spellcheck: false, required: true, size: 40 },
        );
        const form = element("form", { method: "dialog" },
            element("h2", {}, "This server requires an API key"),
            element("p", isRefused ? { className: "problem", role: "alert" } : {}, isRefused
                ? "The server does not accept this key. Check it, or ask whoever runs the server for another one."
                : "Enter the key that you got from whoever runs the server."),
            element("p", { className: "note" }, `The server says: ${reason}`),
            element("label", {}, element("span", {}, "Key"), input),
            element("p", { className: "note" }, "It is stored for this tab only, and sent to this server only."),
            element("div", { className: "row" },
                element("button", { type: "submit", value: "use", className: "use" }, "Use key"),
                element("button", { type: "submit", value: "", formNoValidate: true }, "Cancel")));
        const box = element("dialog", { className: "key card" }, form);
        box.addEventListener("close", () => {
            const text = input.value.trim();
            const isGiven = box.returnValue === "use" && text !== "";
            if (isGiven) store(text);
            isDismissed = !isGiven;
            box.remove();
            resolve(isGiven);
        }, { once: true });
        document.body.append(box);
        box.showModal();
    });
}
