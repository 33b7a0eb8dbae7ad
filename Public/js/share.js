// @ts-check
// The dialog to share the map: a link, downloads, and settings for other programs. The page loads this module when the
// dialog first opens.
import { element } from "./dom.js";
import { answer } from "./server.js";
import { downloads, snippets } from "./downloads.js";

/** @param {import("./downloads.js").Taken} taken */
export function openShare(taken) {
    const said = element("p", { className: "note", role: "status" });
    const link = location.href;
    const isPale = Object.values(taken.view.opacities).some((percent) => percent < 100);
    const dialog = element("dialog", { className: "share card", "aria-labelledby": "share-title" },
        element("div", { className: "row" }, element("h2", { id: "share-title" }, "Share and download"),
            element("button", { type: "button", className: "close", "aria-label": "Close",
                onclick: () => dialog.close() }, "×")),
        element("label", { htmlFor: "share-link" }, "Link to exactly this"),
        element("div", { className: "row" },
            element("input", { type: "text", id: "share-link", readOnly: true, value: link }),
            copyButton("Copy link", () => link, said)),
        element("h3", {}, "Downloads of what the map shows"),
        element("div", { className: "downloads" }, ...downloads(taken).map(({ what, url, file }) =>
            element("a", { href: url, download: file, onclick: (/** @type {Event} */ event) => {
                event.preventDefault();
                save(what, url, file, said);
            } }, what))),
        isPale ? element("p", { className: "note" }, "Files have all layers opaque.") : null,
        said,
        element("h3", {}, "In your own map"),
        element("p", { className: "note" }, "Whole pages to copy: ",
            element("a", { href: "examples/" }, "examples for MapLibre, Leaflet and OpenLayers"), "."),
        ...snippets(taken).map(({ title, text }) => element("details", { name: "snippet", "data-title": title },
            element("summary", {}, title),
            element("pre", { tabIndex: 0, "aria-label": `${title}, to copy` }, text),
            copyButton(`Copy for ${title}`, () => text, said))),
        element("p", { className: "note caution" },
            "Show the legend and the age of the data with it. Not for navigation."));
    dialog.addEventListener("close", () => dialog.remove());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    document.body.append(dialog);
    dialog.showModal();
}

/** @param {string} label
 * @param {() => string} text
 * @param {HTMLElement} said */
function copyButton(label, text, said) {
    return element("button", { type: "button", className: "link copy", onclick: async () => {
        try {
            await navigator.clipboard.writeText(text());
            said.textContent = "Copied.";
        } catch {
            said.textContent = "This browser does not let the page copy. Select the text and copy it.";
        }
    } }, label);
}

/** Downloads a file by fetch, because a link can't send a key.
 * @param {string} what
 * @param {string} url
 * @param {string} file
 * @param {HTMLElement} said */
async function save(what, url, file, said) {
    said.textContent = `${what}: the server prepares it…`;
    try {
        const blob = await (await answer(url)).blob();
        const address = URL.createObjectURL(blob);
        element("a", { href: address, download: file }).click();
        setTimeout(() => URL.revokeObjectURL(address), 60_000);
        said.textContent = `${what}: saved as ${file}.`;
    } catch (error) {
        said.textContent = `${what}: ${/** @type {Error} */ (error).message}`;
    }
}
