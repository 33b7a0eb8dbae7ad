// @ts-check
// Updates the page element by element. Equal elements stay untouched: they keep focus, selection and scroll position,
// and screen readers do not read them again.

/** Changes the children of a node until they equal the wanted ones.
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
        // An element that the user opened or closed stays so.
        if (!wanted.hasAttribute(name) && name !== "open") old.removeAttribute(name);
    }
    for (const { name, value } of wanted.attributes) {
        // The page's content security policy refuses a style that is set as an attribute.
        if (name !== "style" && name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    if (old instanceof HTMLElement && wanted instanceof HTMLElement) {
        old.onclick = wanted.onclick;
        if (old.style.cssText !== wanted.style.cssText) old.style.cssText = wanted.style.cssText;
    }
    patchChildren(old, [...wanted.childNodes]);
}
