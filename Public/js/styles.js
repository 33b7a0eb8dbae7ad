// @ts-check
// The server's styles, which define the colours of the layers. Without a choice the page uses the style for the user's
// light or dark scheme. The base map follows the style's theme, so that the style's colours fit their background.
import { getJSON } from "./server.js";

/** The styles for a light and a dark scheme, the best first. A server may lack some of them. */
const BY_SCHEME = { light: ["day", "skypath"], dark: ["night", "skypath"] };
const FALLBACK = { id: "skypath", title: "SkyPath", theme: "light" };

const scheme = matchMedia("(prefers-color-scheme: dark)");
/** @type {Billow.Style[]} */
let styles = [FALLBACK];
let isLoaded = false;
/** @type {Promise<any> | null} */
let loading = null;

/** Loads the list of styles, unless it is loaded. Returns true if this call loaded it. Throws ServerError. */
export async function loadStyles() {
    if (isLoaded) return false;
    loading ??= getJSON("styles").finally(() => { loading = null; });
    const response = await loading;
    if (isLoaded) return false;
    if (Array.isArray(response.styles) && response.styles.length) styles = response.styles;
    return (isLoaded = true);
}

/** Uses a list of styles until the server's is loaded.
 * @param {Billow.Style[]} list */
export function presumeStyles(list) {
    styles = list;
}

export const allStyles = () => styles;

/** Calls back when the user's scheme changes between light and dark.
 * @param {() => void} action */
export const onSchemeChange = (action) => scheme.addEventListener("change", action);

/** The style of a view: the chosen one, or the one for the user's scheme.
 * @param {Billow.View} view
 * @returns {Billow.Style} */
export function styleOf({ style }) {
    const wanted = style === null ? BY_SCHEME[scheme.matches ? "dark" : "light"] : [style, FALLBACK.id];
    for (const id of wanted) {
        const found = styles.find((each) => each.id === id);
        if (found) return found;
    }
    return styles[0];
}

/** The theme of a view's style.
 * @param {Billow.View} view
 * @returns {"light" | "dark"} */
export function themeOf(view) {
    if (!isLoaded && view.style === null) return scheme.matches ? "dark" : "light";
    return styleOf(view).theme === "dark" ? "dark" : "light";
}
