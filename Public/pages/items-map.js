// @ts-check
// The small map of a page of features. It shows the features of the table, in the server's colours of severities.

const place = /** @type {HTMLElement} */ (document.querySelector("#map"));
/** The packaged library, loaded by the page. */
const library = /** @type {any} */ (maplibregl);
const root = new URL(place.dataset.root ?? "./", location.href).href;
const colours = (place.dataset.colours ?? "").split(" ").filter(Boolean);
const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
const ground = isDark
    ? { sea: "#1c2a36", land: "#2a3945", border: "#3f505e" } : { sea: "#b9c8d3", land: "#dfe4e0", border: "#b4bfc0" };
const plain = isDark ? "#7cbcec" : "#17527e";
const done = () => place.removeAttribute("aria-busy");

/** The colour of a feature's severity, or a plain colour without a severity. */
const colour = [
    "match", ["coalesce", ["get", "severity"], -1], ...colours.flatMap((value, number) => [number, value]), plain,
];
const smooth = ["case", ["==", ["get", "severity"], 0], 0.35, 0.6];

/** The box around all positions, if there are any. It crosses 180° if that makes it narrower.
 *  @param {any} collection */
const boundingBox = (collection) => {
    const places = /** @type {number[][]} */ ([]);
    /** @param {any} list */
    const collect = (list) => typeof list?.[0] === "number" ? places.push(list) : list?.forEach(collect);
    for (const feature of collection.features) collect(feature.geometry?.coordinates);
    if (!places.length) return undefined;
    const box = (/** @type {number[][]} */ all) => {
        const [x, y] = [0, 1].map((axis) => all.map((position) => position[axis]));
        const least = (/** @type {number[]} */ numbers) => numbers.reduce((a, b) => Math.min(a, b));
        const most = (/** @type {number[]} */ numbers) => numbers.reduce((a, b) => Math.max(a, b));
        return [least(x), least(y), most(x), most(y)];
    };
    const [here, across] = [box(places), box(places.map(([x, y]) => [x < 0 ? x + 360 : x, y]))];
    return across[2] - across[0] < here[2] - here[0] ? across : here;
};

/** @param {string | undefined} id */
const selectRow = (id) => {
    document.querySelector("tr.chosen")?.classList.remove("chosen");
    const row = document.querySelector(`tr[data-id="${CSS.escape(id ?? "")}"]`);
    row?.classList.add("chosen");
    row?.scrollIntoView({ block: "nearest" });
};

try {
    const response = await fetch(place.dataset.features ?? "", { headers: { Accept: "application/geo+json" } });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const answer = await response.json();
    // The page of a single feature has just that.
    const collection = answer.type === "Feature" ? { type: "FeatureCollection", features: [answer] } : answer;
    // MapLibre's layers read text ids only from properties.
    for (const feature of collection.features) feature.properties["billow:id"] = feature.id;
    const box = boundingBox(collection);
    const map = new library.Map({
        container: place, attributionControl: { compact: true }, cooperativeGestures: true,
        ...box ? { bounds: box, fitBoundsOptions: { padding: 40, maxZoom: 8 } } : { center: [0, 20], zoom: 1 },
        style: {
            version: 8,
            sources: {
                land: { type: "geojson", data: `${root}vendor/basemap/coarse.geojson`, attribution: "Natural Earth" },
                features: { type: "geojson", data: collection },
            },
            layers: [
                { id: "sea", type: "background", paint: { "background-color": ground.sea } },
                { id: "land", type: "fill", source: "land", filter: ["==", ["get", "kind"], "land"],
                    paint: { "fill-color": ground.land } },
                { id: "lake", type: "fill", source: "land", filter: ["==", ["get", "kind"], "lake"],
                    paint: { "fill-color": ground.sea } },
                { id: "border", type: "line", source: "land", filter: ["==", ["geometry-type"], "LineString"],
                    paint: { "line-color": ground.border, "line-width": 0.7 } },
                { id: "areas", type: "fill", source: "features", filter: ["==", ["geometry-type"], "Polygon"],
                    paint: { "fill-color": colour, "fill-opacity": smooth } },
                { id: "outlines", type: "line", source: "features", filter: ["!=", ["geometry-type"], "Point"],
                    paint: { "line-color": colour, "line-width": 1.2 } },
                { id: "points", type: "circle", source: "features", filter: ["==", ["geometry-type"], "Point"],
                    paint: {
                        "circle-color": colour, "circle-radius": 4.5, "circle-stroke-width": 1,
                        "circle-stroke-color": isDark ? "#0c1822" : "#fcfdfd",
                    } },
            ],
        },
    });
    for (const layer of ["areas", "outlines", "points"]) {
        map.on("click", layer, (/** @type {any} */ event) => selectRow(event.features?.[0]?.properties["billow:id"]));
        map.on("mouseenter", layer, () => { map.getCanvas().style.cursor = "pointer"; });
        map.on("mouseleave", layer, () => { map.getCanvas().style.cursor = ""; });
    }
    map.addControl(new library.NavigationControl({ showCompass: false }), "top-right");
    map.once("idle", done);
} catch (error) {
    place.textContent = `The map could not be loaded: ${error instanceof Error ? error.message : error}.`;
    done();
}

export {};
