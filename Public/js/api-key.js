// @ts-check
// The API key of this tab, for servers that require one. Only sessionStorage stores it, so it lives as long as the tab.
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
    dialog ??= typedKey(reason).finally(() => { dialog = null; });
    return dialog;
}

/** Stores the key that the user types. Resolves to false if there is none.
 * @param {string} reason */
async function typedKey(reason) {
    const { typeKey } = await import("./key-dialog.js");
    const text = await typeKey(reason, key !== null);
    isDismissed = text === null;
    if (text !== null) store(text);
    return text !== null;
}
