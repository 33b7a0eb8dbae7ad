// @ts-check
import { AREA_KINDS, LAYERS } from "/js/datasets.js";
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

test("each layer has features and tiles on this server", async () => {
    for (const { id } of LAYERS) {
        equal((await fetch(`/collections/${id}/items?limit=1`)).status, 200, id);
        equal((await fetch(`/tiles/${id}.json`)).status, 200, id);
    }
});
