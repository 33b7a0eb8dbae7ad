// @ts-check
// Land and lakes of the server's own base map, below the data. A map with a ground of its own needs none of this.

const dark = matchMedia("(prefers-color-scheme: dark)");
// The scripts choose their style once, and the legend follows the device.
dark.addEventListener("change", () => location.reload());

/** The colours of the viewer's map.
 * @type {Record<string, string>} */
const colours = dark.matches ? { land: "#25303a", lake: "#101a23" } : { land: "#d3d8d3", lake: "#b9c8d3" };

/** @param {string} server */
const address = (server) => `${server}vendor/basemap/coarse.geojson`;

/** @param {string} server @returns {Promise<Billow.Feature[]>} */
async function features(server) {
    const { features } = await (await fetch(address(server))).json();
    return features.filter((/** @type {Billow.Feature} */ { properties: { kind } }) => kind in colours);
}

/** The ground of a Leaflet map.
 * @param {string} server @param {any} map */
export async function addGround(server, map) {
    map.createPane("ground").style.zIndex = "100";
    L.geoJSON(await features(server), {
        style: (/** @type {Billow.Feature} */ { properties: { kind } }) =>
            ({ stroke: false, fillColor: colours[kind], fillOpacity: 1 }),
        pane: "ground", interactive: false, attribution: "Natural Earth",
    }).addTo(map);
}

/** A MapLibre style with the ground alone.
 * @param {string} server */
export const groundStyle = (server) => ({
    version: 8,
    sources: { ground: { type: "geojson", data: address(server), attribution: "Natural Earth" } },
    layers: [
        { id: "sea", type: "background", paint: { "background-color": colours.lake } },
        { id: "ground", type: "fill", source: "ground", filter: ["in", ["get", "kind"], ["literal", ["land", "lake"]]],
            paint: { "fill-color": ["match", ["get", "kind"], "lake", colours.lake, colours.land],
                "fill-antialias": false } },
    ],
});

/** The ground of an OpenLayers map.
 * @param {string} server */
export const groundLayer = (server) => new ol.layer.Vector({
    source: new ol.source.Vector({
        url: address(server), format: new ol.format.GeoJSON(), attributions: "Natural Earth",
    }),
    style: Object.entries(colours).map(([kind, colour]) =>
        ({ filter: ["==", ["get", "kind"], kind], style: { "fill-color": colour } })),
});

/** The ground of a deck.gl map.
 * @param {string} server */
export const groundOfDeck = async (server) => new deck.GeoJsonLayer({
    id: "ground", stroked: false, data: await features(server),
    getFillColor: (/** @type {any} */ { properties: { kind } }) =>
        [1, 3, 5].map((place) => parseInt(colours[kind].slice(place, place + 2), 16)),
});

/** The picture of a tile of a deck.gl map.
 * @param {any} tile */
export const pictureLayer = ({ id, data: image, tile: { bbox: { west, south, east, north } } }) =>
    new deck.BitmapLayer({ id, image, bounds: [west, south, east, north] });
