// @ts-check
// The dialog for an API key. The page loads this module when the server refuses a request.
import { element } from "./dom.js";

/** Asks the user for a key. Resolves to null if the user has none.
 * @param {string} reason
 * @param {boolean} isRefused  whether the server refused a key
 * @returns {Promise<string | null>} */
export function typeKey(reason, isRefused) {
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
            box.remove();
            resolve(box.returnValue === "use" && text !== "" ? text : null);
        }, { once: true });
        document.body.append(box);
        box.showModal();
    });
}
