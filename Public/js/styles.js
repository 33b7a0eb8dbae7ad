// @ts-check
// The colours of what is drawn: the server's styles. Without a choice the page takes the one for a light or a dark
// room. The ground of the map follows the style, so that its colours always lie on what they were made for.
import { getJSON } from "./server.js";

/** For a light and for a dark room, the best first: a server need not have them all. */
const BY_SCHEME = { light: ["day", "skypath"], dark: ["night", "skypath"] };
/** What each server has. */
const FALLBACK = { id: "skypath", title: "SkyPath", theme: "light" };

const scheme = matchMedia("(prefers-color-scheme: dark)");
/** @type {Billow.Style[]} */
let styles = [FALLBACK];
let isLoaded = false;
/** @type {Promise<any> | null} */
let loading = null;

/** Asks which styles there are, where that isn't known yet; true when it has become known. Throws ServerError. */
export async function loadStyles() {
    if (isLoaded) return false;
    loading ??= getJSON("styles").finally(() => { loading = null; });
    const answer = await loading;
    if (isLoaded) return false;
    if (Array.isArray(answer.styles) && answer.styles.length) styles = answer.styles;
    return (isLoaded = true);
}

/** What there is to choose from. */
export const allStyles = () => styles;

/** Calls back when the reader's scheme changes between light and dark.
 * @param {() => void} action */
export const onSchemeChange = (action) => scheme.addEventListener("change", action);

/** The style of a view: the chosen one, or the one for the reader's scheme.
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
