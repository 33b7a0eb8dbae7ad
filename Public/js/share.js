// @ts-check
// The dialog to share the map: a link, downloads, and settings for other programs. The page loads this module when the
// dialog first opens.
import { element } from "./dom.js";
import { fetchResponse } from "./server.js";
import { overlayOf } from "./map-overlay.js";
import { pictureFile } from "./picture-file.js";
import { downloads, legendAddresses, pictureParts, snippets, tileAddresses } from "./downloads.js";
import { isField } from "./layers.js";
import { opacityText } from "./view.js";

/** @param {import("./downloads.js").MapContent & { link: string }} content
 * @param {maplibregl.Map} map
 * @param {string} attribution  of the turbulence */
export function openShareDialog(content, map, attribution) {
    const status = element("p", { className: "note", role: "status" });
    const { link } = content;
    const paleText = opacityText(content.view);
    const fillsSmooth = content.view.layers.some(isField) && content.view.severities?.includes(0);
    const differences = [
        paleText ? "show all layers at full opacity" : "",
        fillsSmooth ? "fill the smooth air of computed turbulence, which is clear on this map" : "",
    ].filter(Boolean);
    const dialog = element("dialog", { className: "share card", "aria-labelledby": "share-title" },
        element("div", { className: "row" }, element("h2", { id: "share-title" }, "Share and download"),
            element("button", { type: "button", className: "close", "aria-label": "Close",
                onclick: () => dialog.close() }, "×")),
        element("label", { htmlFor: "share-link" }, "Link to this view"),
        element("div", { className: "row" },
            element("input", { type: "text", id: "share-link", readOnly: true, value: link }),
            copyButton("Copy link", () => link, status)),
        element("h3", {}, "Downloads of this view"),
        element("div", { className: "downloads" }, ...downloads(content).map(({ label, url, picture }, index) =>
            element("a", { href: url, download: "", onclick: (/** @type {Event} */ event) => {
                event.preventDefault();
                // The dialog may be open for long, and a live file is of the time of the click.
                const { file } = downloads(content)[index];
                const overlay = overlayOf(map);
                const still = picture === "still" ? {
                    map, time: content.time, parts: pictureParts(content, overlay !== null), note: paleText ?? "",
                } : null;
                save(label, file, status, () => (picture
                    ? pictureFile({ url, box: content.box, attribution, legendUrls: legendAddresses(content), still,
                        overlay })
                    : fetchResponse(url).then((response) => response.blob())));
            } }, label))),
        differences.length ? element("p", { className: "note" },
            `The picture shows what this map shows. The loop and the tiles ${differences.join(", and ")}.`) : null,
        status,
        element("h3", {}, "In your own map"),
        ...tileAddresses(content).flatMap(({ url }, index, { length }) => tileRow(
            url, length > 1 ? `Tile address (XYZ), ${index + 1} of ${length}, the lowest first` : "Tile address (XYZ)",
            index, status)),
        element("p", { className: "note" }, "Complete pages to copy: ",
            element("a", { href: "examples/" }, "examples for MapLibre, Leaflet and OpenLayers"), "."),
        ...snippets(content).map(({ title, text }) => element("details", { name: "snippet", "data-title": title },
            element("summary", {}, title),
            element("pre", { tabIndex: 0, "aria-label": `${title}, to copy` }, text),
            copyButton(`Copy for ${title}`, () => text, status))),
        element("p", { className: "note caution" },
            "Show the legend and the age of the data with it. Not for navigation."));
    dialog.addEventListener("close", () => dialog.remove());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    document.body.append(dialog);
    dialog.showModal();
}

/** @param {string} url
 * @param {string} label
 * @param {number} index
 * @param {HTMLElement} status */
function tileRow(url, label, index, status) {
    const id = `share-tiles-${index}`;
    return [
        element("label", { htmlFor: id }, label),
        element("div", { className: "row" }, element("input", { type: "text", id, readOnly: true, value: url }),
            copyButton("Copy address", () => url, status)),
    ];
}

/** @param {string} label
 * @param {() => string} text
 * @param {HTMLElement} status */
function copyButton(label, text, status) {
    return element("button", { type: "button", className: "link copy", onclick: async () => {
        try {
            await navigator.clipboard.writeText(text());
            status.textContent = "Copied.";
        } catch {
            status.textContent = "This browser does not allow the page to copy. Select the text and copy it.";
        }
    } }, label);
}

/** Downloads a file by fetch, because a link can't send a key.
 * @param {string} label
 * @param {string} file
 * @param {HTMLElement} status
 * @param {() => Promise<Blob>} load */
async function save(label, file, status, load) {
    status.textContent = `${label}: preparing on the server…`;
    try {
        const address = URL.createObjectURL(await load());
        element("a", { href: address, download: file }).click();
        setTimeout(() => URL.revokeObjectURL(address), 60_000);
        status.textContent = `${label}: saved as ${file}.`;
    } catch (error) {
        status.textContent = `${label}: ${/** @type {Error} */ (error).message}`;
    }
}
