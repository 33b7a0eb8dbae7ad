// @ts-check
// Creates the MapLibre map with the base map, the names and the buttons.
import { keyHeaders } from "./api-key.js";
import { element } from "./dom.js";
import { COMPACT } from "./layout.js";
import { drawNames } from "./map-images.js";
import { style } from "./map-style.js";
import { delayPressDrawing } from "./press-drawing.js";
import { assetAddress } from "./server.js";

/** The map library. The page preloads it, and runs it only after the first picture, because that takes a while. */
const LIBRARY = assetAddress("vendor/maplibre/maplibre-gl.js");

/** Resolves when the library has run or is missing. */
export const loadLibrary = () => new Promise((resolve) => {
    document.head.append(element("script", { src: LIBRARY, onload: resolve, onerror: resolve }));
});

/** The button that opens the legend where an open card hides it. The style sheet shows it only there.
 * @returns {maplibregl.Control} */
function legendButton() {
    const button = element("button", {
        type: "button", "aria-expanded": "false", "aria-controls": "legend",
        onclick: () => {
            const isOpen = document.body.classList.toggle("legend-open");
            button.setAttribute("aria-expanded", String(isOpen));
        },
    }, "Legend");
    const group = element("div", { className: "maplibregl-ctrl maplibregl-ctrl-group legend-button" }, button);
    return { onAdd: () => group, onRemove: () => group.remove() };
}

/** Creates a map in the page's #map. Returns the reason as a text if that fails.
 * @param {Billow.View} view
 * @param {"light" | "dark"} theme
 * @returns {maplibregl.Map | string} */
export function makeMap(view, theme) {
    if (typeof maplibregl === "undefined") return (
        "The map library is missing. Run Scripts/setup-viewer where Billow is installed, then reload this page."
    );
    try {
        const map = new maplibregl.Map({
            container: "map", style: style(theme, view.isGlobe),
            center: [view.longitude, view.latitude], zoom: view.zoom,
            transformRequest: (url) => ({ url, headers: keyHeaders(url) }),
            // Fading names would redraw the whole map many times.
            fadeDuration: 0,
            maxZoom: 14, dragRotate: false, pitchWithRotate: false, touchPitch: false, attributionControl: false,
        });
        delayPressDrawing(map);
        map.touchZoomRotate.disableRotation();
        map.keyboard.disableRotation();
        // The first control is the lowest.
        map.addControl(new maplibregl.AttributionControl({ compact: COMPACT.matches }), "bottom-right");
        map.addControl(new maplibregl.GlobeControl(), "bottom-right");
        map.addControl(new maplibregl.NavigationControl({ showCompass: false }), "bottom-right");
        map.addControl(legendButton(), "bottom-right");
        map.addControl(new maplibregl.ScaleControl({ unit: "nautical", maxWidth: 120 }), "bottom-right");
        drawNames(map);
        // On a phone MapLibre would open the attribution, which hides the map. With this class it waits for its button.
        const attribution = map.getContainer().querySelector(".maplibregl-ctrl-attrib");
        if (COMPACT.matches) attribution?.classList.add("maplibregl-compact");
        return map;
    } catch (error) {
        // MapLibre's message is a JSON text if WebGL is missing.
        const message = error instanceof Error ? error.message : String(error);
        const reason = /webgl/i.test(message) ? "this browser or device does not support WebGL" : message;
        return `The map can't be displayed: ${reason}.`;
    }
}
