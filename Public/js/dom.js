// @ts-check
// Making elements. Text always goes in as text: what a server or an upstream says is never markup.

/** An element of the page that is there from the start.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [kind]  what it is
 * @returns {T} */
export function byId(id, kind) {
    const found = document.getElementById(id);
    if (!found || (kind && !(found instanceof kind))) throw new Error(
        `the page has no ${kind?.name ?? "element"} #${id}`
    );
    return /** @type {T} */ (found);
}

/** An element with properties and children; children are nodes or texts, null is left out.
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

const SVG = "http://www.w3.org/2000/svg";

/** A hexagon in the colours of a legend entry, as it is on the map.
 * @param {Billow.LegendEntry} entry */
export function swatch(entry) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 26 24");
    svg.setAttribute("class", "swatch");
    svg.setAttribute("aria-hidden", "true");
    const hexagon = document.createElementNS(SVG, "path");
    hexagon.setAttribute("d", "M7 1.600h12l6 10.400-6 10.400H7L1 12z");
    hexagon.setAttribute("fill", entry.fill);
    hexagon.setAttribute("fill-opacity", String(entry.opacity ?? 1));
    if (entry.border) {
        hexagon.setAttribute("stroke", entry.border.colour);
        hexagon.setAttribute("stroke-opacity", String(entry.border.opacity ?? 1));
        hexagon.setAttribute("stroke-width", "1.500");
    }
    svg.append(hexagon);
    return svg;
}

/** Says why there is no page.
 * @param {string} message */
export function fatal(message) {
    document.body.append(element("p", { className: "fatal", role: "alert" }, message));
}

/** Changes a node's text only where it differs, so that nothing is read out for nothing.
 * @param {Node | null} node
 * @param {string} text */
export function setText(node, text) {
    if (node && node.textContent !== text) node.textContent = text;
}
