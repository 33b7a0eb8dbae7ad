// @ts-check
import { element } from "/js/dom.js";
import { patchChildren } from "/js/dom-patch.js";
import { equal, ok, test } from "../harness.js";

test("a refreshed card keeps its elements, open parts and focus", () => {
    const card = document.body.appendChild(element("div"));
    /** @type {string[]} */
    const clicks = [];
    /** @param {string} age */
    const content = (age) => [
        element("h3", {}, "Moderate"), element("p", {}, age),
        element("button", { type: "button", onclick: () => clicks.push(age) }, "Look ahead"),
        element("details", {}, element("summary", {}, "More")),
    ];
    patchChildren(card, content("4 s"));
    const [heading, paragraph, button, details] = card.children;
    /** @type {HTMLElement} */ (button).focus();
    /** @type {HTMLDetailsElement} */ (details).open = true;
    patchChildren(card, content("5 s"));
    equal([card.children[0] === heading, card.children[1] === paragraph], [true, true]);
    equal([paragraph.textContent, document.activeElement === button], ["5 s", true]);
    ok(/** @type {HTMLDetailsElement} */ (details).open, "it stays open");
    /** @type {HTMLElement} */ (button).click();
    equal(clicks, ["5 s"], "it does what it says now");
    patchChildren(card, [element("p", {}, "gone")]);
    equal(card.textContent, "gone");
    card.remove();
});
