// @ts-check
// Groups of controls with one tab stop each, as toolbars of WAI-ARIA: arrow keys, Home and End move within a group. And
// the sign that the settings reach further down. The page loads this module after the first picture.
import { byId } from "./dom.js";

/** Key → the step to another control.
 * @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

/** Less than this below the lower edge of the panel is its padding. */
const MORE_PIXELS = 12;

/** Marks a panel while it can be scrolled further down.
 * @param {HTMLElement} panel */
function markMore(panel) {
    const mark = () => panel.classList.toggle("has-more",
        panel.scrollHeight - panel.clientHeight - panel.scrollTop > MORE_PIXELS);
    panel.addEventListener("scroll", mark, { passive: true });
    const observer = new ResizeObserver(mark);
    for (const part of [panel, ...panel.children]) observer.observe(part);
}

/** Makes toolbars of the page's groups, and leaves out buttons that do nothing yet. */
export function makeToolbars() {
    const ofMap = document.querySelector(".maplibregl-ctrl-bottom-right");
    if (ofMap instanceof HTMLElement) toolbar(ofMap, ".maplibregl-ctrl-group:not(.legend-button) button", "Map");
    toolbar(byId("layers"), "input", "Layers");
    toolbar(byId("legend"), "ul button", "Severities on the map", "ul");
    toolbar(byId("player"), "button", "Play", "", byId("play"));
    markMore(byId("settings"));
    for (const id of ["route", "flight"]) skipIdleButton(byId(`${id}-form`), byId(`${id}-text`, HTMLInputElement));
}

/** Makes a group one tab stop: the control that last had the focus, or else the first one.
 * @param {HTMLElement} root
 * @param {string} selector  of the group's controls
 * @param {string} name
 * @param {string} [inner]  the element inside that is the toolbar; its children have no roles then
 * @param {HTMLElement | null} [first]  the first tab stop */
export function toolbar(root, selector, name, inner, first = null) {
    let current = first;
    const controls = () => [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(selector))];
    const usable = () => controls().filter((each) => !each.matches(":disabled") && each.getClientRects().length > 0);
    const mark = () => {
        const bar = inner ? root.querySelector(inner) : root;
        if (bar?.getAttribute("role") !== "toolbar") {
            bar?.setAttribute("role", "toolbar");
            bar?.setAttribute("aria-label", name);
            for (const child of inner ? bar?.children ?? [] : []) child.setAttribute("role", "none");
        }
        const candidates = usable();
        const stop = current && candidates.includes(current) ? current : candidates[0];
        // A hidden group has its first control as the tab stop when it is visible again.
        for (const [index, each] of controls().entries()) {
            const tabIndex = (stop ? each === stop : index === 0) ? 0 : -1;
            if (each.tabIndex !== tabIndex) each.tabIndex = tabIndex;
        }
    };
    root.addEventListener("focusin", ({ target }) => {
        if (!(target instanceof HTMLElement) || !target.matches(selector)) return;
        current = target;
        mark();
    });
    root.addEventListener("keydown", (event) => {
        const candidates = usable();
        const index = candidates.findIndex((each) => each === event.target);
        const step = STEPS[event.key];
        if (index < 0 || step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        const last = candidates.length - 1;
        const next = Number.isFinite(step) ? (index + step + last + 1) % (last + 1) : step < 0 ? 0 : last;
        candidates[next]?.focus();
    });
    new MutationObserver(mark).observe(root, { childList: true, subtree: true, attributeFilter: ["disabled"] });
    mark();
}

/** Keeps the button of a form out of the tab order while its field is empty.
 * @param {HTMLElement} form
 * @param {HTMLInputElement} field */
function skipIdleButton(form, field) {
    const button = form.querySelector(".go");
    const mark = () => {
        if (button instanceof HTMLElement) button.tabIndex = field.value.trim() ? 0 : -1;
    };
    for (const name of ["focusin", "input"]) form.addEventListener(name, mark);
    mark();
}
