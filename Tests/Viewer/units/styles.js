// @ts-check
import { allStyles, loadStyles, styleOf, themeOf } from "/js/styles.js";
import { parseHash } from "/js/view.js";
import { equal, json, test, withResponses } from "../harness.js";

const { view } = parseHash("");
const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
const STYLES = [["skypath", "light"], ["day", "light"], ["night", "dark"]].map(([id, theme]) =>
    ({ id, title: id, theme }));

test("without a list the style is the one of every server, and the theme follows the device", () => {
    equal(styleOf({ ...view, style: "night" }).id, "skypath");
    equal(themeOf(view), isDark ? "dark" : "light");
});

test("the list is loaded once, and defines styles and themes", async () => {
    let count = 0;
    await withResponses(() => {
        count += 1;
        return json({ styles: STYLES });
    }, async () => {
        equal(await Promise.all([loadStyles(), loadStyles()]), [true, false]);
        equal(await loadStyles(), false);
    });
    equal([count, allStyles().length], [1, 3]);
    equal(styleOf(view).id, isDark ? "night" : "day");
    equal(["night", "day", "unknown"].map((style) => styleOf({ ...view, style }).id), ["night", "day", "skypath"]);
    equal(["night", "day"].map((style) => themeOf({ ...view, style })), ["dark", "light"]);
});
