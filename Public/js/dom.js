// Making elements. Text always goes in as text: what a server or an upstream says is never markup.

/** An element with properties and children; children are nodes or texts, null is left out. */
export function element(name, properties = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (key in node) node[key] = value;
        else node.setAttribute(key, value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
}

const SVG = "http://www.w3.org/2000/svg";

/** A hexagon in the colours of a legend entry, as it is on the map. */
export function swatch(entry) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 26 24");
    svg.setAttribute("class", "swatch");
    svg.setAttribute("aria-hidden", "true");
    const hexagon = document.createElementNS(SVG, "path");
    hexagon.setAttribute("d", "M7 1.600h12l6 10.400-6 10.400H7L1 12z");
    hexagon.setAttribute("fill", entry.fill);
    hexagon.setAttribute("fill-opacity", entry.opacity ?? 1);
    if (entry.border) {
        hexagon.setAttribute("stroke", entry.border.colour);
        hexagon.setAttribute("stroke-opacity", entry.border.opacity ?? 1);
        hexagon.setAttribute("stroke-width", "1.500");
    }
    svg.append(hexagon);
    return svg;
}
