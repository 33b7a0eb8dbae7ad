// @ts-check
// Creates elements. Text is always inserted as text: a text of the server or of an upstream is never markup.

/** Returns an element that the page's HTML contains.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [kind]  the expected class
 * @returns {T} */
export function byId(id, kind) {
    const found = document.getElementById(id);
    if (!found || (kind && !(found instanceof kind))) throw new Error(
        `the page has no ${kind?.name ?? "element"} #${id}`
    );
    return /** @type {T} */ (found);
}

/** Creates an element with properties and children. Children are nodes or texts; null is skipped.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, unknown>} properties
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[Name]} */
export function element(name, properties = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (key in node) Object.assign(node, { [key]: value });
        else node.setAttribute(key, String(value));
    }
    for (const child of children) if (child !== null) node.append(child);
    return node;
}

/** Creates an SVG element with attributes.
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {...Node} children */
export function svgElement(name, attributes, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
    node.append(...children);
    return node;
}

/** Draws a hexagon in the colours of a legend entry, as on the map.
 * @param {Billow.LegendEntry} entry */
export function swatch({ fill, opacity, border }) {
    return svgElement("svg", { viewBox: "0 0 26 24", class: "swatch", "aria-hidden": "true" }, svgElement("path", {
        d: "M7 1.600h12l6 10.400-6 10.400H7L1 12z", fill, "fill-opacity": opacity ?? 1,
        ...(border && { stroke: border.colour, "stroke-opacity": border.opacity ?? 1, "stroke-width": 1.5 }),
    }));
}

/** Calls back for keys of the page. A key in a dialog is for the dialog, also where nothing in it has the focus.
 * @param {(event: KeyboardEvent) => void} listener */
export function onPageKey(listener) {
    addEventListener("keydown", (event) => {
        if (!document.querySelector("dialog[open]")) listener(event);
    });
}

/** Shows the reason why the page can't start.
 * @param {string} message */
export function fatal(message) {
    document.body.append(element("p", { className: "fatal", role: "alert" }, message));
}

/** Changes a node's text only if it differs. Otherwise screen readers would read unchanged text again.
 * @param {Node | null} node
 * @param {string} text */
export function setText(node, text) {
    if (node && node.textContent !== text) node.textContent = text;
}

/** Returns a function that calls back at once, or, if its calls follow each other quickly, once after the last of them.
 * @param {() => void} callback
 * @param {number} milliseconds  the quiet before that */
export function settling(callback, milliseconds) {
    let calledAt = -Infinity;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    return () => {
        clearTimeout(timer);
        if (performance.now() - calledAt < milliseconds) timer = setTimeout(callback, milliseconds);
        else callback();
        // A callback may take long.
        calledAt = performance.now();
    };
}
