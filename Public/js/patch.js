// @ts-check
// Changes what is on the page into what it should be, element by element. What stays the same stays untouched: it
// keeps the focus, the selection and its place, and no screen reader reads it again.

/** Makes the children of a node like some new ones.
 * @param {Element} parent
 * @param {Node[]} wanted */
export function patchChildren(parent, wanted) {
    const present = [...parent.childNodes];
    for (const [index, node] of wanted.entries()) {
        const old = present[index];
        if (!old) parent.append(node);
        else patch(old, node);
    }
    for (const rest of present.slice(wanted.length)) rest.remove();
}

/** @param {ChildNode} old
 * @param {Node} wanted */
function patch(old, wanted) {
    if (old.nodeName !== wanted.nodeName) return old.replaceWith(wanted);
    if (!(old instanceof Element) || !(wanted instanceof Element)) {
        if (old.nodeValue !== wanted.nodeValue) old.nodeValue = wanted.nodeValue;
        return;
    }
    for (const { name } of [...old.attributes]) {
        // What the reader opened stays open, and what was closed stays closed.
        if (!wanted.hasAttribute(name) && name !== "open") old.removeAttribute(name);
    }
    for (const { name, value } of wanted.attributes) {
        // A style that is set as text is refused by the page's own policy.
        if (name !== "style" && name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    if (old instanceof HTMLElement && wanted instanceof HTMLElement) {
        old.onclick = wanted.onclick;
        if (old.style.cssText !== wanted.style.cssText) old.style.cssText = wanted.style.cssText;
    }
    patchChildren(old, [...wanted.childNodes]);
}
