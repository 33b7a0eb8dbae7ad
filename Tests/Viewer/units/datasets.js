// @ts-check
import { AREA_KINDS, FIELD_PRODUCTS, HISTORIES, LAYERS, PROPERTIES, SEVERITIES } from "/js/datasets.js";
import { equal, ok, test } from "../harness.js";

test("the server's module of datasets has each layer once, with a name and a known shape", () => {
    const ids = LAYERS.map(({ id }) => id);
    equal(new Set(ids).size, ids.length);
    const shapes = ["cells", "field", "polygons", "reports", "areas", "aircraft", "tracks"];
    for (const { id, name, shape, isShownAtFirst } of LAYERS) {
        ok(name.length > 0 && shapes.includes(shape), `${id} is a ${shape} named ${name}`);
        equal(typeof isShownAtFirst, "boolean", id);
    }
});

test("the module equals the layers of /collections", async () => {
    const { collections } = await (await fetch("/collections")).json();
    const drawn = collections.filter((/** @type {any} */ { layer }) => layer);
    equal(LAYERS, drawn.map((/** @type {any} */ { id, layer }) => ({ id, ...layer })));
    for (const { id, parts } of LAYERS) {
        for (const part of parts) ok(LAYERS.some((layer) => layer.id === part), `${id} combines ${part}`);
    }
});

test("each kind of issued area has a title", () => {
    ok(AREA_KINDS.size > 0, "there are kinds");
    for (const [kind, words] of AREA_KINDS) ok(kind && words, `${kind}: ${words}`);
});

test("the severities are those of the legend, and the histories and products those of the interface", async () => {
    const { entries } = await (await fetch("/legend.json?layer=hexagons")).json();
    equal(SEVERITIES, entries.map((/** @type {any} */ { label }) => label));
    for (const hours of HISTORIES) {
        equal((await fetch(`/tiles/hexagons.json?hours=${hours}`)).status, 200, `${hours} h`);
    }
    equal((await fetch(`/tiles/hexagons.json?hours=${Math.max(...HISTORIES) + 1}`)).status, 400);
    for (const product of FIELD_PRODUCTS.keys()) {
        equal((await fetch(`/collections/gtg/items?limit=1&product=${product}`)).status, 200, product);
    }
});

test("each layer has features and tiles on this server", async () => {
    for (const { id } of LAYERS) {
        equal((await fetch(`/collections/${id}/items?limit=1`)).status, 200, id);
        equal((await fetch(`/tiles/${id}.json`)).status, 200, id);
    }
});

test("the properties by role are those of each collection's schema", async () => {
    equal([...PROPERTIES.keys()].sort(), LAYERS.map(({ id }) => id).sort());
    for (const [id, names] of PROPERTIES) {
        const { properties } = await (await fetch(`/collections/${id}/schema`)).json();
        for (const [role, name] of Object.entries(names)) ok(name && name in properties, `${id}: ${role} is ${name}`);
    }
    equal(PROPERTIES.get("hexagons")?.severity, "severity");
});
