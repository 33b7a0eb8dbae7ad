// @ts-check
// Notices with a button, below the banners of status.js. Each one stays until the user acts on it, or until its reason
// ends. The page loads this module with the first notice.
import { byId, element, setText } from "./dom.js";

const root = byId("banners");
/** The notices on the page by their kind.
 * @type {Map<string, { node: HTMLElement, act: () => void }>} */
const notices = new Map();

/** Shows a notice, or changes the one of the same kind.
 * @param {string} kind
 * @param {string} text
 * @param {string} label  of the button
 * @param {() => void} act  called if the user presses the button
 * @param {boolean} [isDismissed]  whether Escape in the notice does the same, and leaves the card open */
export function showNotice(kind, text, label, act, isDismissed = false) {
    const shown = notices.get(kind);
    if (shown) {
        shown.act = act;
        setText(shown.node.firstChild, text);
        return setText(shown.node.lastChild, label);
    }
    const notice = { act, node: element("div", { className: "banner notice", "data-level": "warn" },
        element("p", {}, text), element("button", { type: "button", onclick: () => notice.act() }, label)) };
    notice.node.addEventListener("keydown", (event) => {
        if (event.key !== "Escape" || !isDismissed) return;
        event.stopPropagation();
        notice.act();
    });
    notices.set(kind, notice);
    root.append(notice.node);
}

/** Removes a notice. The focus of its button moves to the open card, or to the map.
 * @param {string} kind */
export function removeNotice(kind) {
    const { node } = notices.get(kind) ?? {};
    if (!node) return;
    notices.delete(kind);
    const hadFocus = node.contains(document.activeElement);
    node.remove();
    if (!hadFocus) return;
    const card = byId("details");
    const next = card.hidden ? document.querySelector("#map canvas") : card;
    if (next instanceof HTMLElement) next.focus();
}

/** Puts a mark before the title of the page, which a hidden page shows in its tab. status.js writes the title.
 * @param {string} mark */
export function markTitle(mark) { root.dataset.mark = mark; }
