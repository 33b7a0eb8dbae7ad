// @ts-check
// The page names its modules for preloading, and the service worker those that are loaded on first use.
import { equal, ok, test } from "../harness.js";

/** The paths of a module's imports, relative to the root.
 * @param {string} path
 * @param {RegExp} pattern */
async function imports(path, pattern) {
    const text = await (await fetch(`/${path}`)).text();
    const base = new URL(path, location.origin);
    return [...text.matchAll(pattern)].map(([, name = ""]) => new URL(name, base).pathname.slice(1));
}

/** All modules that are loaded with some modules.
 * @param {string[]} paths */
async function withStatic(paths) {
    const found = new Set(paths);
    for (const path of found) for (const other of await imports(path, /\sfrom "([^"]+)"/g)) found.add(other);
    return found;
}

test("the service worker saves each data file that a module requests, so that it works without contact", async () => {
    const [page, worker] = await Promise.all(["/", "/offline.js"].map(async (path) => (await fetch(path)).text()));
    const modules = [...worker.matchAll(/"((?:js|timeline)\/[\w-]+\.js)"/g)].map(([, path = ""]) => path);
    const texts = await Promise.all([...modules, ...await withStatic(["viewer.js"])].map(async (path) =>
        (await fetch(`/${path}`)).text()));
    const wanted = texts.flatMap((text) => [...text.matchAll(/"(vendor\/[^"]+)"/g)].map(([, path = ""]) => path));
    ok(wanted.length > 3, wanted.join());
    equal(wanted.filter((path) => !page.includes(path) && !worker.includes(`"${path}"`)), []);
});

test("index.html preloads the modules of the page, and offline.js lists the others", async () => {
    const page = await (await fetch("/")).text();
    const named = page.matchAll(/(?:href|src)="assets\/\w+\/((?:js\/)?[\w-]+\.js)"/g);
    const preloaded = [...named].map(([, path = ""]) => path);
    const loaded = await withStatic(["viewer.js", "js/prefetch.js"]);
    equal([...new Set(preloaded)].sort(), [...loaded].sort());
    const all = new Set(loaded);
    // A module that is loaded on first use may load others on first use.
    for (const path of all) {
        // The viewer plays frames only, and the timeline loads its points for pages that play them.
        if (path.startsWith("timeline/")) continue;
        const lazy = await imports(path, /import\("([^"]+)"\)/g);
        for (const other of await withStatic(lazy)) all.add(other);
    }
    const list = await (await fetch("/offline.js")).text();
    const listed = [...list.matchAll(/"((?:js|timeline)\/[\w-]+\.js)"/g)].map(([, path = ""]) => path);
    const wanted = [...all].filter((path) => !loaded.has(path));
    ok(wanted.length > 0, "some modules are loaded on first use");
    equal(listed.sort(), wanted.sort());
});
