// @ts-check
// Shows the server's OpenAPI description with the packaged Swagger UI. The page loads nothing from other servers.
import { CELLS, isField } from "../js/layers.js";

const place = document.querySelector("main");
const dark = matchMedia("(prefers-color-scheme: dark)");
const applyScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyScheme);
applyScheme();

/** @param {string} text */
const showMessage = (text) => {
    const line = document.createElement("p");
    line.className = "wait";
    line.textContent = text;
    place?.replaceChildren(line);
    place?.removeAttribute("aria-busy");
};

/** Reduces the list to the operations of cells and of fields, and names the other collections. All together would be
 * thousands.
 *  @param {any} description */
const condensed = (description) => {
    const collections = Object.keys(description.paths)
        .flatMap((path) => /^\/collections\/([a-z]+)$/.exec(path)?.[1] ?? []);
    const fields = collections.filter(isField);
    const others = collections.filter((id) => id !== CELLS && !isField(id));
    const places = others.flatMap((id) => [`/collections/${id}`, `/changes/${id}`]);
    const isOfAnother = (/** @type {string} */ path) =>
        places.some((at) => path === at || path.startsWith(`${at}/`));
    const paths = Object.fromEntries(Object.entries(description.paths).filter(([path]) => !isOfAnother(path)));
    const names = (/** @type {string[]} */ ids) => ids.map((id) => `\`${id}\``).join(", ");
    const note = `\n\nEvery collection has the routes of ${names([CELLS])}: ${names(others)}. `
        + `Turbulence fields (${names(fields)}) have values at positions too. `
        + "The complete description is `/openapi.json`.";
    return { ...description, paths, info: { ...description.info, description: description.info.description + note } };
};

try {
    const response = await fetch("../openapi.json");
    if (!response.ok) throw new Error(`status ${response.status}`);
    const description = condensed(await response.json());
    // Requests go to the page's own server, also behind a proxy.
    description.servers = [{ url: new URL("..", location.href).href.replace(/\/$/, "") }];
    // @ts-ignore: the packaged library, loaded by the page.
    globalThis.SwaggerUIBundle({
        spec: description, domNode: place, deepLinking: true, docExpansion: "none", filter: true, validatorUrl: null,
        defaultModelsExpandDepth: 0, tryItOutEnabled: true, tagsSorter: "alpha", operationsSorter: "alpha",
        syntaxHighlight: { theme: dark.matches ? "agate" : "idea" },
        onComplete: () => place?.removeAttribute("aria-busy"),
    });
} catch (error) {
    showMessage(`The description could not be loaded: ${error instanceof Error ? error.message : error}.`);
}

export {};
