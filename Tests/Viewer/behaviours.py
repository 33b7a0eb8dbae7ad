"""Tests the page as a user operates it. Each function in `ALL` is a test, and its docstring is the name of the test."""
import base64
import calendar
import collections
import contextlib
import datetime
import inspect
import json
import re
import struct
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlparse
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parents[2]
WAIT_MILLISECONDS = 120_000
# Gives the map a sixteenth of its pixels. Without a graphics card, most time of a test would go into them.
COARSE_MAP = """Object.defineProperty(window, "maplibregl", { configurable: true, set(library) {
    Object.defineProperty(window, "maplibregl", { configurable: true, writable: true, value: library });
    const { Map } = library;
    library.Map = class extends Map {
        constructor(options) { super({ ...options, pixelRatio: 0.25 }); }
    };
} });"""


class Viewer:
    """The viewer's page in a separate browser context. Console errors and failed requests count as problems.
    `is_sharp` is whether the map has all of its pixels. Nothing else of the page depends on that."""

    def __init__(self, browser, base, is_sharp=True):
        self.browser, self.base, self.is_sharp = browser, base, is_sharp

    def __enter__(self):
        # A service worker would answer requests before the routes of a test.
        self.context = self.browser.new_context(viewport={"width": 1000, "height": 700}, service_workers="block")
        if not self.is_sharp:
            self.context.add_init_script(COARSE_MAP)
        self.context.set_default_timeout(WAIT_MILLISECONDS)
        self.page = self.context.new_page()
        self.problems, self.requests, self.expected = [], [], []
        self.page.on(
            "console", lambda message: message.type == "error" and self.problems.append(f"console: {message.text}"),
        )
        self.page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        return self

    def __exit__(self, *_):
        # A handler that still waits for the server would fail with the context, and end the browser of all tests.
        for page in self.context.pages:
            with contextlib.suppress(Exception):
                page.unroute_all(behavior="ignoreErrors")
        self.context.close()

    def expect_no_problems(self):
        left = [problem for problem in self.problems if not any(words in problem for words in self.expected)]
        assert not left, left

    def open(self, hash=""):
        self.page.goto(f"{self.base}/{hash}", wait_until="load")
        self.until_shown()

    def until_shown(self):
        self.page.wait_for_selector("#map[aria-busy=false]")

    def until(self, expression, argument=None):
        """Polls from outside, because the page's content security policy forbids scripts that are texts."""
        deadline = time.monotonic() + WAIT_MILLISECONDS / 1000
        while not self.page.evaluate(expression, argument):
            assert time.monotonic() < deadline, f"not within {WAIT_MILLISECONDS} ms: {expression}"
            self.page.wait_for_timeout(50)

    def eventually(self, condition):
        """Waits until a condition is true, because the page updates asynchronously."""
        deadline = time.monotonic() + WAIT_MILLISECONDS / 1000
        while not condition():
            if time.monotonic() > deadline:
                shown = self.page.evaluate("""() => ["state-text", "frame-time", "frame-age", "banners"].map(
                    (part) => document.getElementById(part)?.textContent)""")
                raise AssertionError(f"never: {inspect.getsource(condition).strip()}; {shown}, {self.hash()}")
            self.page.wait_for_timeout(50)

    def text(self, selector):
        return self.page.inner_text(selector)

    def hash(self):
        return self.page.evaluate("location.hash")

    def tiles(self):
        return [url for url in self.requests if "/tiles/" in url and ".png" in url]

    def frame(self):
        """Returns the index of the timeline's frame at the thumb, and the number of frames."""
        return self.page.evaluate("""() => {
            const { value, max } = document.querySelector("#scrubber");
            const marks = [...document.querySelectorAll("#marks span")];
            return [marks.findLastIndex((mark) => mark.style.getPropertyValue("--from") <= value / max), marks.length];
        }""")

    def drawn(self):
        """Returns the instants of the visible rasters on the map, as in their addresses."""
        return set(self.page.evaluate("""() => {
            const { layers, sources } = billow.map.getStyle();
            const seen = layers.filter(({ type, paint }) => type === "raster" && paint["raster-opacity"] > 0);
            const templates = seen.flatMap(({ source }) => sources[source].tiles
                ?? JSON.parse(billow.map.getSource(source).getCanvas().dataset.parts).map(({ url }) => url));
            return templates.map((template) => template.match(/(\\/\\w+\\/)\\{z\\}/)[1]);
        }"""))

    def count_pixels(self, condition, x, y, width, height):
        """Counts the pixels of a part of the page that meet a condition in JavaScript on `red`, `green` and `blue`."""
        assert self.is_sharp, "a test that looks at pixels of the map is in SHARP"
        picture = self.page.screenshot(clip={"x": x, "y": y, "width": width, "height": height})
        return self.page.evaluate(f"""async (text) => {{
            const image = new Image();
            image.src = `data:image/png;base64,${{text}}`;
            await image.decode();
            const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
            context.drawImage(image, 0, 0);
            const {{ data }} = context.getImageData(0, 0, image.width, image.height);
            let count = 0;
            for (let place = 0; place < data.length; place += 4) {{
                const red = data[place], green = data[place + 1], blue = data[place + 2];
                if ({condition}) count += 1;
            }}
            return count;
        }}""", base64.b64encode(picture).decode())

    def settled_picture(self, part):
        """Returns a picture of a part of the page as soon as two in a row are the same."""
        assert self.is_sharp, "a test that looks at pixels of the map is in SHARP"
        x, y, width, height = part
        clip = {"x": x, "y": y, "width": width, "height": height}
        last = None
        deadline = time.monotonic() + WAIT_MILLISECONDS / 1000
        while (picture := self.page.screenshot(clip=clip)) != last:
            assert time.monotonic() < deadline, "the page does not come to rest"
            last = picture
            self.page.wait_for_timeout(500)
        return picture

    def count_differences(self, one, other):
        """Counts the pixels of two pictures of one size that clearly differ."""
        return self.page.evaluate("""async (texts) => {
            const [one, other] = await Promise.all(texts.map(async (text) => {
                const image = new Image();
                image.src = `data:image/png;base64,${text}`;
                await image.decode();
                const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
                context.drawImage(image, 0, 0);
                return context.getImageData(0, 0, image.width, image.height).data;
            }));
            let count = 0;
            for (let place = 0; place < one.length; place += 4) {
                if ([0, 1, 2].some((colour) => Math.abs(one[place + colour] - other[place + colour]) > 60)) count += 1;
            }
            return count;
        }""", [base64.b64encode(picture).decode() for picture in (one, other)])

    def vivid(self, x, y, width, height):
        """Counts the pixels of a part of the page with turbulence colours. Land and sea are almost grey."""
        return self.count_pixels("Math.max(red, green, blue) - Math.min(red, green, blue) > 90", x, y, width, height)

    def is_hatched(self, longitude, latitude):
        """Whether the map has the hatch of missing pictures around a place."""
        x, y = self.page.evaluate("""(place) => {
            const { x, y } = billow.map.project(place);
            return [x, y];
        }""", [longitude, latitude])
        line = "a9b4bd" if self.page.evaluate("document.body.dataset.theme") == "dark" else "3c4650"
        return self.count_pixels(f"(red << 16 | green << 8 | blue) === 0x{line}", x - 20, y - 20, 40, 40) > 20

    def pixels_of_severities(self, x, y, width, height):
        """Counts the pixels of a part of the page in exactly one of the five colours of severity by day."""
        colours = "[0xffffff, 0xd0a800, 0xe07000, 0xc41e0e, 0x6a0048]"
        return self.count_pixels(f"{colours}.includes(red << 16 | green << 8 | blue)", x, y, width, height)

    def change_answer(self, pattern, change):
        """Answers matching requests with the server's body after a change."""
        def answer(route):
            try:
                response = route.fetch()
                body = response.json()
                change(body)
                route.fulfill(response=response, body=json.dumps(body))
            except Exception as error:  # An error of Playwright.
                # The test may have ended meanwhile.
                if "disposed" not in str(error) and "closed" not in str(error):
                    raise

        self.page.route(pattern, answer)

    def lack_data(self):
        """Makes the server's responses mark every part of the map as incomplete."""
        self.page.route("**/maps/*", lambda route: route.fulfill(headers={"X-Incomplete": "true"}))

    def jump(self, view):
        """Moves the map. The expression has no value: Playwright would copy the whole map, which takes ten seconds."""
        self.page.evaluate(f"void billow.map.jumpTo({view})")

    def busy_place(self):
        """Returns the longitude and latitude around which zoom 4 shows the most turbulence: the air over a fixed place
        may be smooth at this hour. Map links and snippets have them as whole numbers."""
        features = self.page.request.get(
            f"{self.base}/collections/hexagons/items?minSeverity=1&limit=10000").json()["features"]
        # Windows of 16° × 8°, twice as dense as they are wide, far from the poles and the antimeridian.
        windows = collections.Counter()
        for feature in features:
            # A cell across the antimeridian has two polygons.
            if feature["geometry"]["type"] != "Polygon":
                continue
            longitude, latitude = feature["geometry"]["coordinates"][0][0]
            if abs(longitude) > 150 or abs(latitude) > 60:
                continue
            column, row = longitude // 8, latitude // 4
            windows.update((column + east, row + north) for east in (0, 1) for north in (0, 1))
        (column, row), _ = windows.most_common(1)[0]
        return int(column * 8), int(row * 4)

    def until_field(self, box):
        """Waits until the server has a turbulence field for the whole box."""
        self.until("""async (box) => {
            const { headers } = await fetch(`maps/gtg.png?bbox=${box}&width=16`, { method: "HEAD" });
            return headers.get("X-Incomplete") === null;
        }""", box)


def live_picture(viewer):
    """the page shows a live picture, says that it is simulated, and explains its colours"""
    viewer.open()
    viewer.eventually(lambda: viewer.text("#state-text").startswith("Live"))
    viewer.eventually(lambda: "SIMULATED DATA" in viewer.text("#banners"))
    viewer.eventually(lambda: viewer.page.locator("#legend li").count() == 5)
    viewer.eventually(lambda: viewer.page.locator("#sources li").count() > 0)
    viewer.eventually(lambda: viewer.tiles())


def first_load(viewer):
    """all scripts are preloaded and small, and the first tiles are requested once, before the map exists"""
    viewer.open("#layers=gtg,hexagons")
    # What completes the map, and the map's modules, cards, events, sources, fields and marks load late.
    later = (r"/vendor/|complete-map|chosen-time|clock-text|-images|-signs|-guards|-labels|timeline-marks|dom-patch|"
             r"legend-symbols|live-events|hidden-severities|notices|map-style|"
             r"/(area-levels|cell-section|distance|free-area|observation-text|place-features|press-drawing)\.js|"
             r"/(events|features|field|headline|inspect|map|middle|missing-areas|origin-filters|picking|toolbars)\.js|"
             r"/(source(s|-state)|uncovered)\.js")
    scripts = {urlparse(url).path for url in viewer.requests if url.endswith(".js") and not re.search(later, url)}
    named = viewer.page.evaluate(
        "[...document.querySelectorAll('link[rel=modulepreload], script[type=module]')]"
        ".map((node) => new URL(node.href ?? node.src).pathname)")
    assert scripts == set(named), (scripts ^ set(named), "index.html preloads what is loaded")
    sizes = viewer.page.evaluate("""(paths) => Promise.all(paths.map(async (path) =>
        (await (await fetch(path)).arrayBuffer()).byteLength))""", list(scripts))
    assert sum(sizes) <= 200_000, sum(sizes)
    tiles = viewer.tiles()
    assert len(tiles) == len(set(tiles)), sorted(tiles)
    # A field rarely changes, so changed cells do not reload it. A new picture is not renewed at all.
    viewer.requests.clear()
    viewer.page.evaluate("dispatchEvent(new Event('online'))")
    viewer.page.wait_for_timeout(3_000)
    viewer.eventually(lambda: any(".json" in url for url in viewer.requests) and not viewer.tiles())


def second_visit(viewer):
    """a second visit requests the page and data, but no script, style or base map"""
    viewer.open("#layers=hexagons")
    # The list of cities is the last file of the first visit.
    viewer.until("""performance.getEntriesByType("resource")
        .some(({ name, responseEnd }) => name.includes("cities.json") && responseEnd > 0)""")
    viewer.page.goto("about:blank")
    viewer.open("#layers=hexagons")
    requested = viewer.page.evaluate("""performance.getEntriesByType("resource")
        .filter(({ transferSize }) => transferSize > 0).map(({ name }) => name)""")
    assert any("/tiles/" in url for url in requested), requested
    assert not [url for url in requested if "/assets/" in url], requested


def remembered_tiles(viewer):
    """on a second visit the tiles of the first picture are requested before their TileJSON, and each only once"""
    tile = re.compile(r"/tiles/.+\.png")
    for hash in ("", "#layers=hexagons,pireps&map=4.00/39.000/-96.000"):
        viewer.page.goto("about:blank")
        viewer.open(hash)
        viewer.page.goto("about:blank")
        viewer.requests.clear()
        viewer.open(hash)
        kinds = ["tile" if tile.search(url) else "TileJSON" for url in viewer.requests
                 if tile.search(url) or re.search(r"/tiles/[^?]+\.json", url)]
        assert kinds.index("tile") < kinds.index("TileJSON"), kinds[:5]
        assert len(viewer.tiles()) == len(set(viewer.tiles())), sorted(viewer.tiles())
    # Another view has other tiles, which wait for their TileJSON.
    viewer.page.goto("about:blank")
    viewer.requests.clear()
    viewer.open("#layers=hexagons&map=4.00/39.000/-96.000")
    assert all("/hexagons/" in url for url in viewer.tiles()), viewer.tiles()


def remembered_picture(viewer):
    """on a second visit the first picture waits for its tiles alone; then it has the layers that the server names"""
    longitude, latitude = viewer.busy_place()
    link = f"#map=4/{latitude}/{longitude}"
    viewer.open(link)
    layers = viewer.page.evaluate("billow.map.getStyle().layers.filter(({ type }) => type === 'raster').length")
    assert layers == 1, "the first picture is one raster, so that it has few tiles"
    viewer.page.goto("about:blank")
    held = []
    patterns = ("**/status", "**/styles", "**/tiles/*.json*", "**/maplibre-gl.js")
    for pattern in patterns:
        viewer.page.route(pattern, lambda route: held.append(route))
    viewer.page.goto(f"{viewer.base}/{link}", wait_until="commit")
    viewer.page.wait_for_selector("#map[data-picture=first]")
    # The age of the data is unknown, and the time of the picture is that of its tiles.
    viewer.eventually(lambda: viewer.text("#times").startswith("Picture "))
    assert "data" not in viewer.text("#times"), viewer.text("#times")
    assert viewer.vivid(400, 150, 500, 300) > 500

    def answer(route):
        if route.request.url.endswith("/status"):
            response = route.fetch()
            status = {**response.json(), "sources": []}
            for layer in status["layers"].values():
                layer.pop("dataTime", None)
            return route.fulfill(response=response, json=status)
        return route.continue_()

    # Meanwhile the server has lost its fields, which the default shows if there are any.
    for pattern in patterns:
        viewer.page.route(pattern, answer)
    for route in held:
        answer(route)
    viewer.until_shown()
    viewer.eventually(lambda: "data" in viewer.text("#times"))
    viewer.eventually(lambda: viewer.page.locator(".first-picture").count() == 0)
    shown = "billow.map.getStyle().layers.filter(({ type }) => type === 'raster').map(({ source }) => source)"
    viewer.eventually(lambda: all("/gtg" not in tile for tile in viewer.page.evaluate(
        f"({shown}).flatMap((id) => billow.map.getStyle().sources[id].tiles ?? [])")))


def first_picture(viewer):
    """before the map library has run, the first picture has its colours, time and marks; then the map looks the same"""
    held = []
    viewer.page.route("**/maplibre-gl.js", lambda route: held.append(route))
    longitude, latitude = viewer.busy_place()
    viewer.page.goto(
        f"{viewer.base}/#layers=hexagons,gtg&map=4/{latitude}/{longitude}", wait_until="commit")
    viewer.page.wait_for_selector("#map[data-picture=first]")
    viewer.eventually(lambda: viewer.text("#state-text").startswith("Live"))
    viewer.eventually(lambda: "SIMULATED DATA" in viewer.text("#banners"))
    viewer.eventually(lambda: viewer.text("#times").startswith("Picture ") and "data" in viewer.text("#times"))
    viewer.eventually(lambda: viewer.page.locator("#legend li").count() == 5)
    part = (400, 150, 500, 300)
    before, time_before = viewer.vivid(*part), re.split(",| ·", viewer.text("#times"))[0]
    assert before > 500, before
    viewer.eventually(lambda: held)
    held[0].continue_()
    viewer.until_shown()
    viewer.eventually(lambda: viewer.page.locator(".first-picture").count() == 0)
    after = viewer.vivid(*part)
    # The map draws the same tiles, with names over them.
    assert abs(after - before) < before / 10, (before, after)
    assert re.split(",| ·", viewer.text("#times"))[0] == time_before


def first_picture_changes(viewer):
    """a change of the view before the map exists applies as soon as it does, and removes the first picture"""
    held = []
    viewer.page.route("**/maplibre-gl.js", lambda route: held.append(route))
    viewer.page.goto(f"{viewer.base}/#layers=hexagons,pireps", wait_until="commit")
    viewer.page.wait_for_selector("#map[data-picture=first]")
    viewer.page.select_option("#severity", "3")
    viewer.eventually(lambda: held)
    held[0].continue_()
    viewer.until("location.hash.includes('severity=3')")
    viewer.eventually(lambda: viewer.page.locator(".first-picture").count() == 0)
    viewer.until_shown()
    viewer.eventually(lambda: viewer.text("#filtered").startswith("Only Moderate"))
    viewer.eventually(lambda: any("minSeverity=3" in url for url in viewer.tiles()))


def busy_with_all_layers(viewer):
    """with all layers live and data arriving all the time, the page becomes idle and stays idle"""
    collections = viewer.page.request.get(f"{viewer.base}/collections").json()["collections"]
    viewer.open("#layers=" + ",".join(
        each["id"] for each in collections if "layer" in each and not each["layer"]["parts"]))
    looks = []
    for _ in range(25):
        viewer.page.wait_for_timeout(500)
        looks.append(viewer.page.get_attribute("#map", "aria-busy"))
    # The loop lasts longer than ten seconds, the interval of new data.
    assert set(looks) == {"false"}, looks


def play_and_pause(viewer):
    """play shows one frame after the other, pause holds the frame, and Live returns to the live picture"""
    viewer.open("#span=-2h")
    viewer.page.click("#play")
    viewer.until("document.querySelector('#play').dataset.playing === 'true'")
    viewer.eventually(lambda: viewer.page.get_attribute("#play", "aria-label") == "Pause")
    seen = set()
    viewer.until("document.querySelectorAll('#marks span').length === 13")
    for _ in range(3):
        seen.add(viewer.text("#frame-time"))
        viewer.until(
            "(before) => document.querySelector('#frame-time').textContent !== before", viewer.text("#frame-time"),
        )
    assert len(seen) >= 3, seen
    viewer.eventually(lambda: viewer.text("#state-text") == "Playing")
    viewer.page.click("#play")
    viewer.until("document.querySelector('#play').dataset.playing === 'false'")
    # A frame that was loading may still appear. It may be the last frame, which is live.
    viewer.until_shown()
    if viewer.text("#frame-time") == "Live":
        viewer.page.focus("#scrubber")
        viewer.page.keyboard.press("ArrowLeft")
    viewer.until("document.querySelector('#state-text').textContent === 'Past'")
    viewer.until_shown()
    held = viewer.text("#frame-time")
    viewer.page.wait_for_timeout(2_000)
    assert viewer.text("#frame-time") == held
    viewer.page.click("#to-live")
    viewer.until("document.querySelector('#frame-time').textContent === 'Live'")
    viewer.until("document.querySelector('#state-text').textContent.startsWith('Live')")
    viewer.until_shown()


def frames_described(viewer):
    """while the timeline plays, the legend, the banners and the address describe the frame on the map"""
    viewer.open()
    viewer.until_field("-102,36,-98,40")
    viewer.open("#layers=gtg,hexagons&span=%2B6h&map=4/39/-100")
    entries = viewer.page.evaluate("history.length")
    viewer.page.click("#play")
    viewer.until("document.querySelector('#state-text').textContent === 'Playing'")
    fields, addresses = set(), set()

    def follows():
        clock, banners, legend = viewer.page.evaluate(
            """["frame-time", "banners", "legend"].map((id) => document.getElementById(id).textContent)""")
        is_described = "Live picture" in banners or clock in banners
        assert viewer.text("#state-text") != "Playing" or is_described, (clock, banners)
        fields.update(re.findall(r"valid ([\d:]+Z|\d+ \w+ [\d:]+Z)", legend))
        addresses.update(re.findall(r"time=(\w+)", viewer.hash()))
        return len(fields) > 2 and len(addresses) > 2

    viewer.eventually(follows)
    viewer.page.click("#play")
    viewer.until("document.querySelector('#play').dataset.playing === 'false'")
    viewer.until_shown()
    # The address has the frame at which the timeline pauses. The user's steps back lead out of the page at once.
    shown = viewer.text("#frame-time").rstrip("Z").replace(":", "")
    viewer.eventually(lambda: f"T{shown}" in viewer.hash() or shown == "Live" and "time=" not in viewer.hash())
    assert viewer.page.evaluate("history.length") == entries
    # A shared link has the frame of the click, also if the timeline plays on while the dialog loads.
    held = []
    viewer.page.route("**/js/share.js", lambda route: held.append(route))
    viewer.page.click("#play")
    viewer.until("document.querySelector('#state-text').textContent === 'Playing'")
    link = viewer.page.evaluate("() => { document.querySelector('#share').click(); return location.href; }")
    viewer.eventually(lambda: held and viewer.page.url != link)
    held[0].continue_()
    viewer.page.wait_for_selector("dialog.share[open]")
    assert viewer.page.input_value("#share-link") == link


def filtered_frame(viewer):
    """on a frame, cards and the legend follow filters and layers; while the timeline plays, cards name their time"""
    viewer.open("#layers=hexagons&span=-1h&map=6/0/-140&place=0/-140&route=KORD+KMKE&severity=4")
    card = "document.querySelector('#details-body').textContent"
    viewer.until(f"{card}.includes('No report here')")
    assert viewer.page.is_hidden("#details-time")
    viewer.page.click("#step-back")
    viewer.until("document.querySelector('#state-text').textContent === 'Past'")
    viewer.until_shown()
    for severity, text in (("0", ""), ("3", "Only Moderate or worse")):
        viewer.page.select_option("#severity", severity)
        viewer.until("(text) => document.querySelector('#filtered').textContent === text", text)
        viewer.until(f"(text) => text ? {card}.includes(text) : !{card}.includes('Only ')", text)
    viewer.page.check("#layers input[value='gtg']", force=True)
    viewer.until("document.querySelector('#legend').textContent.includes('Computed, not observed')")
    viewer.page.uncheck("#layers input[value='gtg']", force=True)
    viewer.until("!document.querySelector('#legend').textContent.includes('Computed, not observed')")
    viewer.eventually(lambda: re.fullmatch(r"This card is for [\d:]+Z\.", viewer.text("#details-time")))
    viewer.page.click("#play")
    for part in ("details", "route"):
        viewer.eventually(lambda: re.search(r" is for .*Z\. The map plays on\.", viewer.text(f"#{part}-time")))


def late_source(viewer):
    """while the list of sources calls one of the map's layers failing or late, the header does not say Live alone"""
    layers = []

    def fail(status):
        for source in status["sources"]:
            if source.get("layers") == layers:
                source["state"] = "failing"

    viewer.change_answer("**/status", fail)
    viewer.open("#layers=hexagons&map=5/39/-96")
    viewer.eventually(lambda: viewer.text("#state-text") == "Live")
    sources = viewer.page.request.get(f"{viewer.base}/status?f=json").json()["sources"]
    layers.extend(next(source["layers"] for source in sources if "hexagons" in source.get("layers", [])))
    viewer.page.evaluate("dispatchEvent(new Event('online'))")
    viewer.eventually(lambda: "failing" in viewer.text("#sources"))
    viewer.eventually(lambda: viewer.text("#state-text").startswith("Live, "))
    assert viewer.page.get_attribute("#state", "data-level") == "warn"


def steps_from_live(viewer):
    """one step from Live leads to the frame beside the live one, also if the timeline has forecasts"""
    viewer.open()
    viewer.until_field("-102,36,-98,40")
    viewer.open("#layers=gtg,hexagons&map=4/39/-100")
    viewer.until("document.querySelectorAll('#marks span').length > 10")
    live, count = viewer.frame()
    assert 0 < live < count - 1, (live, count)
    for button, state, step in (("#step-back", "Past", -1), ("#step-forward", "Forecast", 1)):
        viewer.page.click(button)
        viewer.until("(state) => document.querySelector('#state-text').textContent === state", state)
        viewer.eventually(lambda: viewer.frame()[0] == live + step)
        viewer.page.click("#to-live")
        viewer.until("document.querySelector('#frame-time').textContent === 'Live'")
        viewer.until_shown()


def space_plays(viewer):
    """the space bar plays and pauses, but not in other controls"""
    viewer.open()
    viewer.page.evaluate("document.activeElement?.blur()")
    viewer.page.keyboard.press("Space")
    viewer.until("document.querySelector('#play').dataset.playing === 'true'")
    viewer.page.keyboard.press("Space")
    viewer.until("document.querySelector('#play').dataset.playing === 'false'")
    viewer.page.focus("#severity")
    viewer.page.keyboard.press("Space")
    viewer.page.keyboard.press("Escape")
    viewer.eventually(lambda: viewer.page.get_attribute("#play", "data-playing") == "false")


def scrub(viewer):
    """the scrubber shows the frame at its position, with its age, and that it is not live"""
    viewer.open()
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#frame-age').textContent.includes('ago')")
    viewer.until_shown()
    first = viewer.text("#frame-time")
    viewer.eventually(lambda: "Past picture" in viewer.text("#banners"))
    # A frame has the same attribution as a picture.
    viewer.eventually(lambda: "SIMULATED" in viewer.text(".maplibregl-ctrl-attrib"))
    viewer.eventually(lambda: viewer.text("#state-text") == "Past")
    viewer.page.keyboard.press("ArrowRight")
    viewer.until("(before) => document.querySelector('#frame-time').textContent !== before", first)
    viewer.eventually(lambda: viewer.frame()[0] == 1)
    # PageUp and PageDown move by four frames, and a click chooses the nearest one, where the thumb then is.
    viewer.page.keyboard.press("PageUp")
    viewer.eventually(lambda: viewer.frame()[0] == 5)
    viewer.page.keyboard.press("PageDown")
    viewer.eventually(lambda: viewer.frame()[0] == 1)
    box = viewer.page.locator("#marks span").nth(3).bounding_box()
    for share in (0.2, 0.8):
        viewer.page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        viewer.until("""() => {
            const { value, max } = document.querySelector("#scrubber");
            const { offsetLeft, offsetWidth, parentElement } = document.querySelectorAll("#marks span")[3];
            const thumb = 11 + value / max * (parentElement.offsetWidth - 22);
            return Math.abs(thumb - offsetLeft - offsetWidth / 2) < 2;
        }""")
    viewer.until_shown()
    viewer.page.click("#banners button")
    viewer.until("document.querySelector('#frame-time').textContent === 'Live'")


def incomplete_frame(viewer):
    """an incomplete frame is marked under the clock and in a banner"""
    def lack(manifest):
        for layer in manifest["layers"]:
            for frame in layer["frames"]:
                frame["incomplete"] = True

    viewer.change_answer("**/timeline.json*", lack)
    viewer.lack_data()
    viewer.open("#layers=hexagons,pireps")
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#frame-age').textContent.endsWith('incomplete')")
    viewer.until(
        "document.querySelector('#banners').textContent.includes('missing from this picture: Hexagons, PIREPs')")


def field_in_view(viewer):
    """the demo shows the computed field first; the legend names its edge, and a banner what is far beyond"""
    viewer.open("#map=6/39/-96")
    viewer.eventually(lambda: viewer.page.is_checked("#layers input[value=gtg]") and "layers=" not in viewer.hash())
    # The first picture has one raster of all layers, and the field has one of its own after its renewal.
    for layer in ("gtg", "hazards", "hexagons", "pireps"):
        viewer.eventually(lambda: any(
            layer in url.split("/tiles/")[1].split("/")[0].split(",") for url in viewer.tiles()))
    # The timeline reaches into the future.
    viewer.eventually(lambda: viewer.page.input_value("#span") == "-2h+6h")
    viewer.until_field("-104,33,-88,45")
    viewer.jump("{ zoom: 6.2 }")
    viewer.until("!document.querySelector('#banners').textContent.includes('INCOMPLETE')")
    viewer.eventually(lambda: "Hatched" not in viewer.text("#legend"))
    # A grid always ends somewhere, so its edge has no banner. The header is no better than the legend.
    viewer.jump("{ zoom: 3.5 }")
    viewer.eventually(lambda: "Hatched: no GTG, which may hide turbulence." in viewer.text("#legend"))
    viewer.eventually(lambda: viewer.text("#state-text") == "Live, incomplete")
    assert viewer.page.get_attribute("#state", "data-level") == "warn"
    assert "INCOMPLETE" not in viewer.text("#banners"), viewer.text("#banners")
    viewer.jump("{ zoom: 2 }")
    viewer.until("document.querySelector('#banners').textContent.includes('GTG does not cover the whole map')")
    # Hours ahead there is a field too.
    viewer.jump("{ zoom: 6 }")
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("End")
    viewer.until("document.querySelector('#state-text').textContent === 'Forecast'")
    viewer.page.uncheck("#layers input[value=gtg]", force=True)
    viewer.until("document.querySelector('#span').value === '-2h'")


def one_time(viewer):
    """form, timeline, header and address show the same instant, played, paused, typed or linked"""
    start = int(time.time()) // 60 * 60 - 3 * 3600
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(start))
    viewer.open(f"#time={stamp}")
    clock = time.strftime("%H:%MZ", time.gmtime(start))
    viewer.eventually(lambda: viewer.text("#frame-time") == clock)
    viewer.eventually(lambda: viewer.text("#state-text") == "Past")
    # The instant is before the timeline's first frame, so a mark has its time instead of the thumb.
    viewer.until("document.querySelector('#scrubber[data-outside]')?.ariaValueText.includes('before the span')")
    assert viewer.text(".outside").endswith(clock), viewer.text(".outside")
    # Live works after the timeline was started at an instant.
    viewer.page.click("#play")
    viewer.until("document.querySelector('#play').dataset.playing === 'true'")
    viewer.until("document.querySelector('#state-text').textContent === 'Playing'")
    viewer.page.click("#play")
    viewer.until("document.querySelector('#play').dataset.playing === 'false'")
    # At the last frame, the page may be live already and have no button for it.
    viewer.until_shown()
    if not viewer.page.is_visible("#to-live"):
        viewer.page.focus("#scrubber")
        viewer.page.keyboard.press("ArrowLeft")
    viewer.page.click("#to-live")
    viewer.until("document.querySelector('#state-text').textContent.startsWith('Live')")
    viewer.until_shown()
    viewer.eventually(lambda: viewer.text("#frame-time") == "Live" and "time=" not in viewer.hash())
    viewer.eventually(lambda: viewer.drawn() == {"/latest/"})
    viewer.eventually(lambda: viewer.page.is_checked("#when input[value=live]"))
    # Paused in the past, the form and the address show the past instant.
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#state-text').textContent === 'Past'")
    viewer.until_shown()
    viewer.eventually(lambda: viewer.page.is_checked("#when input[value=past]"))
    shown = viewer.text("#frame-time").rstrip("Z")
    viewer.eventually(lambda: shown in viewer.page.input_value("#instant"))
    viewer.eventually(lambda: f"T{shown.replace(':', '')}" in viewer.hash())
    # A link that is opened meanwhile changes the page and the map.
    viewer.page.evaluate("(stamp) => { location.hash = `#time=${stamp}` }", stamp)
    viewer.until("(clock) => document.querySelector('#frame-time').textContent === clock", clock)
    viewer.until_shown()
    viewer.eventually(lambda: viewer.drawn() == {f"/{stamp}/"})
    viewer.eventually(lambda: viewer.page.input_value("#instant").endswith(clock.rstrip("Z")))


def forecast_instant(viewer):
    """a future instant is a forecast and names the layers without one; one before all data has a banner"""
    ahead = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(int(time.time()) + 3600))
    viewer.open(f"#layers=hexagons,hazards&time={ahead}")
    viewer.eventually(lambda: viewer.text("#state-text") == "Forecast")
    viewer.eventually(lambda: "No observations for this time yet: Hexagons" in viewer.text("#banners"))
    viewer.eventually(lambda: "forecast, in" in viewer.text("#frame-age"))
    before = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(int(time.time()) // 60 * 60 - 5 * 86_400))
    viewer.page.evaluate("(stamp) => { location.hash = `#time=${stamp}` }", before)
    viewer.until("document.querySelector('#banners').textContent.includes('little or nothing is stored')")
    # Such a picture must not look like one of smooth air.
    viewer.until("billow.map.querySourceFeatures('missing').length > 0")
    # A picture of another day shifts nothing: its time has one line, with the date.
    viewer.until("""() => {
        const times = document.querySelector("#times");
        return /^Picture \\d+ \\w+ [\\d:]+Z · 5 d 0 h ago$/.test(times.textContent) && times.offsetHeight < 26;
    }""")


def outside_span(viewer):
    """the timeline's thumb never points at another time than that of the map: outside the span a mark has the time"""
    thumb = """() => {
        const [scrubber, outside] = ["#scrubber", ".outside"].map((part) => document.querySelector(part));
        return outside && [
            !scrubber.matches("[data-outside]"), !outside.hidden && outside.textContent, scrubber.value / scrubber.max,
        ];
    }"""

    def shown(words):
        has_thumb, mark, _ = viewer.page.evaluate(thumb) or (None, None, None)
        return has_thumb is not None and has_thumb is not bool(words) and (
            re.fullmatch(words, mark or "") if words else mark is False)

    def stamp(seconds):
        return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(int(time.time()) // 3600 * 3600 + seconds))

    manifests = []
    viewer.page.on("response", lambda answer: "/timeline.json" in answer.url and manifests.append(answer))
    # Half an hour after a whole hour lies between two frames, whose distance is two hours.
    chosen = int(time.time()) // 3600 * 3600 - 5.5 * 3600
    viewer.open(f"#layers=hexagons&span=-24h&time={stamp(-5.5 * 3600)}")
    viewer.eventually(lambda: manifests and shown(None))
    frames = [datetime.datetime.fromisoformat(each["time"].replace("Z", "+00:00")).timestamp()
              for each in manifests[-1].json()["layers"][0]["frames"]]
    place, expected = viewer.page.evaluate(thumb)[2], (chosen - frames[0]) / (frames[-1] - frames[0])
    assert abs(place - expected) < 1e-4, (place, expected, frames)
    # One frame back is the frame before, also with the arrow key.
    viewer.page.focus("#scrubber")
    before = max(index for index, each in enumerate(frames) if each < chosen)
    viewer.page.keyboard.press("ArrowLeft")
    viewer.eventually(lambda: shown(None) and viewer.frame()[0] == before)
    viewer.until("(clock) => document.querySelector('#frame-time').textContent === clock",
                 time.strftime("%H:%MZ", time.gmtime(frames[before])))
    for link, words, stay, move, index in (
            (f"span=-2h&time={stamp(-30 * 3600)}", r"← \d+ \w+ \d\d:00Z", "#step-back", "ArrowRight", 0),
            (f"span=-1h&time={stamp(6 * 3600)}", r"(\d+ \w+ )?\d\d:00Z →", "#step-forward", "ArrowLeft", 12)):
        viewer.page.goto("about:blank")
        viewer.open(f"#layers=hexagons,hazards&{link}")
        viewer.eventually(lambda: shown(words))
        # The first frame is no step back from before it.
        chosen = viewer.hash()
        assert viewer.page.get_attribute(stay, "aria-disabled") == "true"
        viewer.page.click(stay, force=True)
        assert viewer.hash() == chosen
        # The end of the strip is chosen, though the slider's value stays the same.
        viewer.page.focus("#scrubber")
        viewer.page.keyboard.press(move)
        viewer.eventually(lambda: shown(None) and viewer.frame()[0] == index)
        viewer.until_shown()
    # A shorter span leaves the chosen time of a picture outside.
    viewer.page.goto("about:blank")
    viewer.open(f"#layers=hexagons&span=-24h&time={stamp(-6 * 3600)}")
    viewer.eventually(lambda: shown(None))
    viewer.page.select_option("#span", "-1h")
    viewer.eventually(lambda: shown(r"← (\d+ \w+ )?\d\d:00Z"))


def timeline_ahead(viewer):
    """the timeline includes forecasts, and marks them"""
    viewer.open("#layers=hexagons,hazards")
    viewer.page.select_option("#span", "+2h")
    # Live is in the middle of the span, whose frames are at round times.
    viewer.until("""() => {
        const scrubber = document.querySelector("#scrubber");
        return Math.abs(scrubber.value / scrubber.max - 0.5) < 0.1;
    }""")
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("End")
    viewer.until("document.querySelector('#state-text').textContent === 'Forecast'")
    viewer.eventually(lambda: "forecast, in" in viewer.text("#frame-age"))
    viewer.eventually(lambda: viewer.page.locator("#marks [data-forecast]").count() > 0)
    viewer.page.click("#step-back")
    viewer.until("document.querySelector('#frame-next').textContent === ''")
    viewer.page.click("#to-live")
    viewer.until("document.querySelector('#state-text').textContent.startsWith('Live')")


def timeline_scale(viewer):
    """the timeline has marks and hours before it plays, then a row per layer with the layer's own frames and kinds"""
    held = []
    viewer.page.route("**/timeline.json*", lambda route: held.append(route))
    viewer.open("#layers=hazards,hexagons,gtg&span=-2h%2B6h")
    viewer.eventually(lambda: len(held) == 2)
    opacity = "() => getComputedStyle(document.querySelector('#scrubber')).opacity"
    assert viewer.page.evaluate(opacity) == "0", "the thumb shows no place before the frames are known"
    for route in held:
        route.continue_()
    viewer.page.unroute("**/timeline.json*")
    viewer.until("document.querySelectorAll('#marks span').length > 8")
    assert viewer.page.evaluate(opacity) == "1"
    assert "/timeline/player.js" not in str(viewer.requests), "the timeline is described without its player"
    hours = viewer.page.locator("#scale .hours span").all_inner_texts()
    assert 7 <= len(hours) <= 9 and all(re.fullmatch(r"\d\dZ", hour) for hour in hours), hours
    present, value = viewer.page.evaluate("""() => {
        const { value, max } = document.querySelector("#scrubber");
        return [Number(document.querySelector("#scale .now").style.getPropertyValue("--at")), value / max];
    }""")
    assert abs(present - value) < 0.01, (present, value)
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#dock').dataset.open === 'true'")
    rows = viewer.page.locator("#scale .own-frames")
    assert [row.split(":")[0] for row in rows.all_inner_texts()] == ["Hexagons", "Hazards", "GTG"]
    assert "observed" in rows.nth(0).inner_text() and rows.nth(0).locator(".ahead").count() == 0
    assert "nowcast, forecast" in rows.nth(2).inner_text(), rows.nth(2).inner_text()
    assert rows.nth(2).locator(".computed:not(.ahead)").count() and rows.nth(2).locator(".computed.ahead").count()
    assert rows.nth(0).is_visible() and rows.nth(0).locator("i").count() > 2
    viewer.eventually(lambda: "new: " in viewer.page.get_attribute("#scrubber", "aria-valuetext"))


def number_of_frames(viewer):
    """the number of the timeline's frames is chosen, is in the address, and applies to the player and the loop"""
    viewer.open("#layers=hexagons&span=-6h")
    viewer.until("document.querySelectorAll('#marks span').length === 19")
    viewer.page.select_option("#frames", "7")
    viewer.until("document.querySelectorAll('#marks span').length === 7")
    viewer.eventually(lambda: "frames=7" in viewer.hash())
    viewer.page.click("#play")
    viewer.until("document.querySelectorAll('#marks [data-ready]').length === 7")
    viewer.page.click("#share")
    loop = viewer.page.locator("dialog a", has_text="Loop").get_attribute("href")
    assert "intervals=7" in loop, loop
    viewer.page.keyboard.press("Escape")
    viewer.open("#layers=hexagons&span=-6h&frames=25")
    viewer.eventually(lambda: viewer.page.input_value("#frames") == "25")
    viewer.until("document.querySelectorAll('#marks span').length === 25")


def counted_frames(viewer):
    """a mark's height shows its frame's number of severe cells, if the server counts them"""
    def count(manifest):
        for layer in manifest["layers"]:
            layer["moderateOrWorse"] = [place * 5 for place in range(len(layer["frames"]))]

    viewer.change_answer("**/timeline.json*counts=true*", count)
    viewer.open("#layers=hexagons,pireps")
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelectorAll('#marks i').length === 12")
    heights = viewer.page.evaluate(
        "[...document.querySelectorAll('#marks i')].map(({ offsetHeight }) => offsetHeight)")
    assert heights == sorted(heights) and heights[-1] == 10, heights


def counted_forecasts(viewer):
    """bars of frames ahead are striped and of the field, with a scale of their own"""
    def count(manifest):
        for layer in manifest["layers"]:
            ahead = [frame.get("forecast", False) for frame in layer["frames"]]
            layer["moderateOrWorse"] = [None if is_ahead else 7 for is_ahead in ahead]
            layer["fieldModerateOrWorse"] = [9_000 if is_ahead else 100 for is_ahead in ahead]

    viewer.change_answer("**/timeline.json*counts=true*", count)
    viewer.open("#layers=hexagons,gtg&span=-2h%2B6h")
    viewer.until("document.querySelectorAll('#marks span').length > 3"
                 " && document.querySelector('#marks span[data-forecast] i')")
    bars = viewer.page.evaluate(
        "[...document.querySelectorAll('#marks span')].map((mark) => [mark.hasAttribute('data-forecast'),"
        " mark.querySelector('i')?.hasAttribute('data-field'), mark.querySelector('i')?.offsetHeight])")
    assert {False, True} == {is_ahead for is_ahead, *_ in bars}, bars
    assert all(is_field == is_ahead and height == 10 for is_ahead, is_field, height in bars), bars
    assert "own scale" in viewer.page.get_attribute("#scale .hours b[title]", "title")


def timeline_key(viewer):
    """at every size the legend explains the bars and the line of the timeline, with samples of their colours"""
    viewer.open("#layers=hexagons,gtg&map=4/39/-100")
    viewer.until("document.querySelectorAll('#marks span').length > 3")
    viewer.eventually(lambda: viewer.page.locator(".timeline-key i").count() == 3)

    def is_legend_shown():
        # In small windows the settings are a sheet over the legend. The page closes it when the window becomes small.
        if not viewer.page.is_visible("#legend") and viewer.page.get_attribute("#toggle", "aria-expanded") == "true":
            viewer.page.click("#toggle")
        return viewer.page.is_visible("#legend")

    samples = """() => [".timeline-key .count", ".timeline-key .lacks"].map((part) => {
        const { backgroundColor, borderBottomColor } = getComputedStyle(document.querySelector(part));
        return part.endsWith("count") ? backgroundColor : borderBottomColor;
    })"""
    for scheme in ("light", "dark"):
        viewer.page.emulate_media(color_scheme=scheme)
        colours = """() => {
            const probe = document.createElement("span");
            document.body.append(probe);
            return [document.querySelector("#legend [data-severity='3'] path").getAttribute("fill"), "var(--warn)"].map(
                (colour) => {
                    probe.style.color = colour;
                    return getComputedStyle(probe).color;
                });
        }"""
        viewer.eventually(lambda: viewer.page.evaluate(samples) == viewer.page.evaluate(colours))
        for width, height in SIZES:
            viewer.page.set_viewport_size({"width": width, "height": height})
            # The page may close a sheet after its legend was seen.
            viewer.eventually(lambda: is_legend_shown() and all(
                viewer.page.is_visible(f".timeline-key .{part}") for part in ("count", "lacks")) and re.match(
                    "Timeline: .*moderate or worse.* incomplete", " ".join(viewer.text(".timeline-key").split())))
    # Without a field no bar is striped.
    viewer.eventually(lambda: viewer.page.is_visible(".timeline-key .striped"))
    viewer.page.evaluate("location.hash = '#layers=hexagons&map=4/39/-100'")
    viewer.eventually(lambda: not viewer.page.is_visible(".timeline-key .striped"))


def more_settings(viewer):
    """while the settings reach further down than the panel, a sign says so, and goes at their end"""
    viewer.page.set_viewport_size({"width": 1024, "height": 768})
    viewer.open("#layers=hexagons")
    panel = """() => {
        const { scrollHeight, clientHeight, scrollTop } = document.querySelector("#settings");
        return scrollHeight - clientHeight - scrollTop;
    }"""
    is_shown = "getComputedStyle(document.querySelector('#settings'), '::after').content !== 'none'"
    assert viewer.page.evaluate(panel) > 8, "the settings are longer than their panel"
    viewer.until(is_shown)
    viewer.page.evaluate("document.querySelector('#settings').scrollTo(0, 1e6)")
    viewer.until(f"!({is_shown})")
    viewer.until(f"({panel})() <= 1")
    viewer.page.evaluate("document.querySelector('#settings').scrollTo(0, 0)")
    viewer.until(is_shown)
    viewer.page.set_viewport_size({"width": 1440, "height": 2000})
    viewer.until(f"!({is_shown})")


def symbols_beside_banners(viewer):
    """the opened other symbols of the legend cover no banner and no card"""
    viewer.lack_data()
    viewer.page.set_viewport_size({"width": 1440, "height": 900})
    earlier = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(int(time.time()) // 60 * 60 - 3600))
    layers = "hexagons,gtg,hazards,pireps,traffic,tracks"
    viewer.open(f"#layers={layers}&map=4/39/-100&time={earlier}")
    viewer.eventually(lambda: viewer.page.locator(".banner").count() >= 2)
    viewer.page.click(".symbols summary")
    viewer.until("document.querySelector('.symbols img').naturalHeight > 0")
    for height in (900, 700, 600):
        viewer.page.set_viewport_size({"width": 1440, "height": height})
        viewer.until("""() => {
            const image = document.querySelector(".symbols img").getBoundingClientRect();
            return image.height > 100 && [...document.querySelectorAll(".banner, .dock, .bar")].every((card) => {
                const { left, right, top, bottom } = card.getBoundingClientRect();
                return right <= image.left || left >= image.right || bottom <= image.top || top >= image.bottom;
            });
        }""")


def slow_tiles(viewer):
    """while the tiles of a frame load, the page shows the time of the visible pixels"""
    viewer.open()
    held = []
    viewer.page.route("**/tiles/**", lambda route: held.append(route))
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#frame-next').textContent.startsWith('loading')")
    for _ in range(6):
        assert viewer.text("#frame-time") == "Live", viewer.text("#frame-time")
        assert viewer.text("#state-text") == "Loading…", viewer.text("#state-text")
        viewer.page.wait_for_timeout(300)
    # From here on, held and new requests continue.
    viewer.page.route("**/tiles/**", lambda route: route.continue_())
    for route in held:
        route.continue_()
    viewer.until("document.querySelector('#state-text').textContent === 'Past'")
    viewer.until_shown()
    viewer.eventually(lambda: viewer.text("#frame-next") == "" and viewer.text("#frame-time") != "Live")


def frame_like_picture(viewer):
    """a frame looks as the picture of its instant, on a flat map and on a globe, and follows the map"""
    part = (400, 150, 500, 300)
    longitude, latitude = viewer.busy_place()
    # Resolves when the map has drawn all tiles of a zoom.
    zoomed = """(zoom) => new Promise((resolve) => {
        billow.map.once("idle", () => resolve());
        billow.map.jumpTo({ zoom });
        billow.map.triggerRepaint();
    })"""
    for projection in ("", "&projection=globe"):
        viewer.page.goto("about:blank")
        viewer.open(f"#layers=hexagons&map=4/{latitude}/{longitude}{projection}")
        viewer.page.focus("#scrubber")
        viewer.page.keyboard.press("End")
        # The simulator's reports are up to seven minutes late, and would change a newer frame during the test.
        for _ in range(3):
            viewer.page.keyboard.press("ArrowLeft")
        viewer.until("document.querySelector('#state-text').textContent === 'Past'")
        viewer.until_shown()
        # The picture of the frame's instant, in another tab.
        hash, frames = viewer.hash(), viewer.page
        viewer.page = viewer.context.new_page()
        viewer.open(hash)
        pictures = {}
        for zoom in (4, 5):
            viewer.page.evaluate(zoomed, zoom)
            viewer.until_shown()
            pictures[zoom] = viewer.vivid(*part)
        viewer.page.close()
        viewer.page = frames
        viewer.page.bring_to_front()
        assert pictures[4] > 500, pictures

        def expect(zoom, seen=pictures):
            viewer.eventually(lambda: abs(viewer.vivid(*part) - seen[zoom]) <= seen[zoom] / 50)

        expect(4)
        # Other tiles are needed, and the frame has them.
        viewer.jump(f"{{ center: [{longitude + 24}, {latitude + 8}] }}")
        viewer.eventually(lambda: abs(viewer.vivid(*part) - pictures[4]) > pictures[4] / 20)
        viewer.jump(f"{{ center: [{longitude}, {latitude}] }}")
        expect(4)
        # The map zooms beyond the tiles of the frame.
        viewer.jump("{ zoom: 5 }")
        expect(5)
        # The tiles form a square whose side is a power of two. MapLibre would draw that in black.
        views = ("zoom: 1, center: [0, 0]", "zoom: 4, center: [0, 0]", "zoom: 4, center: [0, 52]")
        for view in views[:1] if projection else views:
            viewer.jump(f"{{ {view} }}")
            west = -180 if "zoom: 1" in view else -22.5
            viewer.until(f"""Object.values(billow.map.getStyle().sources).some(({{ type, coordinates }}) =>
                type === "canvas" && coordinates[0][0] === {west} && coordinates[1][0] === {-west})""")
            viewer.until_shown()
            assert viewer.count_pixels("red + green + blue < 30", *part) < 1_000, view


PARTS = """() => {
    const source = Object.entries(billow.map.getStyle().sources).find(([, { type }]) => type === "canvas");
    if (!source) return [];
    return JSON.parse(billow.map.getSource(source[0]).getCanvas().dataset.parts)
        .flatMap(({ url }) => url.match(/\\/tiles\\/([^/]+)\\//)[1].split(","));
}"""


def frame_in_parts(viewer):
    """with several opacities, a frame has the layers of the form, however late, and its newest tiles"""
    def age(answer):
        """The extent was read an hour ago, and data has arrived since."""
        answer["time"]["extent"][1] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3600))

    viewer.change_answer("**/tiles/hexagons.json*", age)
    viewer.open("#layers=hexagons,hazards&opacity=hexagons:50&map=4/39/-100&span=-1h")
    viewer.page.click("#step-back")
    viewer.until("document.querySelector('#state-text').textContent === 'Past'")
    viewer.until_shown()
    assert set(viewer.page.evaluate(PARTS)) == {"hazards", "hexagons"}, viewer.page.evaluate(PARTS)
    # Late reports give a frame another version. The addresses of its parts have none.
    seen = {url for url in viewer.tiles() if re.search(r"/hexagons/\d{8}T\d{6}Z/", url)}
    assert seen
    viewer.requests.clear()

    def renew(manifest):
        for layer in manifest["layers"]:
            for frame in layer["frames"]:
                frame["tiles"] = re.sub(r"([?&]v=)", r"\g<1>9", frame["tiles"])

    viewer.change_answer("**/timeline.json*", renew)
    # A page that becomes visible asks for the frames at once.
    viewer.page.evaluate("void document.dispatchEvent(new Event('visibilitychange'))")
    viewer.eventually(lambda: seen & set(viewer.tiles()))
    viewer.page.unroute("**/timeline.json*")
    for layer, wanted in (("pireps", {"hexagons", "hazards", "pireps"}), ("hazards", {"hexagons", "pireps"})):
        viewer.page.click(f"#layers label:has(input[value={layer}])")
        viewer.eventually(lambda: set(viewer.page.evaluate(PARTS)) == wanted)


def filters_keep_playing(viewer):
    """another filter or span does not stop the loop"""
    viewer.open()
    viewer.page.click("#play")
    viewer.until("document.querySelector('#play').dataset.playing === 'true'")
    viewer.page.select_option("#severity", "1")
    viewer.page.select_option("#span", "-1h")
    viewer.page.wait_for_timeout(1_500)
    viewer.until("document.querySelector('#play').dataset.playing === 'true'")
    viewer.until("document.querySelector('#state-text').textContent === 'Playing'")


def zoomed_out(viewer):
    """after zooming out, however fast, the map looks as a page that is opened there: no tile of another zoom is left"""
    part = (340, 150, 600, 350)
    longitude, latitude = viewer.busy_place()
    instant = time.strftime("%Y%m%dT%H%M00Z", time.gmtime(time.time() - 600))
    start = f"map=5/{latitude}/{longitude}&time={instant}"

    def buttons():
        for _ in range(2):
            viewer.page.click(".maplibregl-ctrl-zoom-out")

    def wheel():
        viewer.page.mouse.move(640, 320)
        for _ in range(6):
            viewer.page.mouse.wheel(0, 200)
            viewer.page.wait_for_timeout(60)

    def slowly():
        viewer.page.evaluate("""() => new Promise((resolve) => {
            billow.map.once("moveend", () => resolve());
            billow.map.easeTo({ zoom: billow.map.getZoom() - 3, duration: 4000 });
        })""")

    def route():
        viewer.page.fill("#route-text", "KJFK EGLL")
        viewer.page.press("#route-text", "Enter")
        viewer.until("location.hash.includes('route=') && billow.map.getZoom() < 4 && !billow.map.isMoving()")
        viewer.page.click("#route-close")

    single, several = "layers=gtg,hexagons,hazards,pireps", "layers=hexagons,hazards,pireps&opacity=hazards:60"
    for layers, zoom_out in ((single, buttons), (single, wheel), (several, slowly), (single, route)):
        viewer.page.goto("about:blank")
        viewer.open(f"#{layers}&{start}")
        viewer.settled_picture(part)
        zoom_out()
        viewer.until("!billow.map.isMoving()")
        viewer.until_shown()
        seen = viewer.settled_picture(part)
        # The address has rounded numbers, so the new page jumps to the exact ones.
        exact = viewer.page.evaluate("({ zoom: billow.map.getZoom(), center: billow.map.getCenter().toArray() })")
        hash, moved = viewer.hash(), viewer.page
        viewer.page = viewer.context.new_page()
        viewer.open(hash)
        viewer.jump(json.dumps(exact))
        viewer.until_shown()
        fresh = viewer.settled_picture(part)
        different = viewer.count_differences(seen, fresh)
        viewer.page.close()
        viewer.page = moved
        assert different < 600 * 350 / 200, (layers, zoom_out.__name__, different)


def ground(viewer):
    """the base map is coarse at low zooms; at higher zooms it is detailed and has airports and cities"""
    viewer.open("#layers=hexagons&map=4.00/40.000/-74.000")
    assert any("coarse.geojson" in url for url in viewer.requests)
    assert not any("basemap.geojson" in url or "airports.json" in url for url in viewer.requests), viewer.requests
    viewer.jump("{ zoom: 6 }")
    signs = """() => [...new Set(billow.map.queryRenderedFeatures({ layers: ["airports"] })
        .map(({ properties }) => properties.sign))]"""
    viewer.until(f"({signs})().includes('airport:KBOS')")
    assert any("basemap.geojson" in url for url in viewer.requests)
    far = viewer.page.evaluate(signs)
    viewer.jump("{ zoom: 7.5 }")
    viewer.until(f"({signs})().includes('airport:KTEB') || ({signs})().includes('airport:KHPN')")
    assert "airport:KHPN" not in far, far
    cities = """() => [...new Set(billow.map.queryRenderedFeatures({ layers: ["cities"] })
        .map(({ properties }) => properties.sign))]"""
    viewer.jump("{ zoom: 6, center: [-97, 36] }")
    viewer.until(f"({cities})().includes('city:Oklahoma City')")
    assert "city:Little Rock" not in viewer.page.evaluate(cities), "too small for this zoom"
    # Names and signs never overlap.
    overlaps = viewer.page.evaluate("""() => {
        const map = billow.map;
        const boxes = new Map();
        for (const { layer, properties, geometry } of map.queryRenderedFeatures(
            { layers: ["cities", "airports", "place"] })) {
            const id = properties.sign ?? properties.name;
            const { width, height } = map.style.imageManager.getImage(id).data;
            const { x, y } = map.project(geometry.coordinates);
            const left = layer.id === "airports" ? x - 6 : x - width / 4;
            const bottom = layer.id === "cities" ? y - 7 : y + height / 4;
            boxes.set(id, { left, right: left + width / 2, top: bottom - height / 2, bottom });
        }
        const list = [...boxes];
        return list.flatMap(([one, a], index) => list.slice(index + 1).filter(([, b]) =>
            a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).map(([two]) => [one, two]));
    }""")
    assert not overlaps, overlaps


def names_beside_labels(viewer):
    """no name or sign of the map covers the label of an issued area, which is a part of the picture"""
    def areas(shift):
        ring = [[-89.9 + x, 41.98 + y + shift] for x, y in ((0, -2), (4, -2), (4, 2), (0, 2), (0, -2))]
        return json.dumps({"features": [{
            "type": "Feature", "id": "x", "geometry": {"type": "Polygon", "coordinates": [ring]},
            "properties": {"kind": "sigmet", "hazard": "TURB", "altitudeMin": 31000, "altitudeMax": 43000},
        }]})

    signs = """() => [...new Set(billow.map.queryRenderedFeatures({ layers: ["airports"] })
        .map(({ properties }) => properties.sign))]"""
    for shift, is_seen in ((0, False), (2, True)):
        # The middle of the area is at Chicago O'Hare, or north of it.
        viewer.page.route("**/collections/hazards/items?*", lambda route: route.fulfill(
            body=areas(shift), content_type="application/geo+json"))
        viewer.page.goto("about:blank")
        viewer.open("#layers=hazards&map=6.00/42.000/-88.000")
        viewer.until(f"({signs})().includes('airport:KMKE')")
        viewer.until("billow.map.getLayer('label-guards') && billow.map.queryRenderedFeatures("
                     "{ layers: ['label-guards'] }).length === 1")
        viewer.until(f"(is_seen) => ({signs})().includes('airport:KORD') === is_seen", is_seen)
        viewer.page.unroute("**/collections/hazards/items?*")


def names_beside_reports(viewer):
    """no name or sign of the map covers a pilot report, a cell of moderate turbulence or an aircraft's label"""
    def feature(longitude, latitude, is_cell):
        ring = [[longitude + x / 20, latitude + y / 20] for x, y in ((0, -1), (1, 0), (0, 1), (-1, 0), (0, -1))]
        return json.dumps({"features": [{
            "type": "Feature", "id": "x", "properties": {"severity": 3, "callsign": "TEST123", "altitude": 35000},
            "geometry": {"type": "Polygon", "coordinates": [ring]} if is_cell
            else {"type": "Point", "coordinates": [longitude, latitude]},
        }]})

    signs = """() => [...new Set(billow.map.queryRenderedFeatures({ layers: ["airports"] })
        .map(({ properties }) => properties.sign))]"""
    # The report or the aircraft's label is at Chicago O'Hare, or south of it.
    for layer, longitude, latitude, is_seen in (
            ("pireps", -87.9, 41.98, False), ("pireps", -87.9, 40.5, True),
            ("hexagons", -87.9, 41.98, False), ("hexagons", -87.9, 40.5, True),
            ("traffic", -88.35, 41.98, False), ("traffic", -88.35, 40.5, True)):
        viewer.page.route(f"**/collections/{layer}/items?*", lambda route: route.fulfill(
            body=feature(longitude, latitude, layer == "hexagons"), content_type="application/geo+json"))
        viewer.page.goto("about:blank")
        viewer.open(f"#layers={layer}&map=6.00/42.000/-88.000")
        viewer.until(f"({signs})().includes('airport:KMKE')")
        viewer.until("billow.map.getLayer('label-guards') && billow.map.queryRenderedFeatures("
                     "{ layers: ['label-guards'] }).length === 1")
        viewer.until(f"(is_seen) => ({signs})().includes('airport:KORD') === is_seen", is_seen)
        viewer.page.unroute(f"**/collections/{layer}/items?*")


def waypoints_beside_reports(viewer):
    """the code of a route's waypoint hides no report: it stands where none is, or is left out"""
    def tile(west, east):
        """Returns a tile whose columns have reports between two longitudes."""
        def answer(route):
            z, x = map(int, re.search(r"/(\d+)/(\d+)/\d+(?:@2x)?\.png", route.request.url).groups())
            row = b"\0" + b"".join(
                b"\xff\0\0\xff" if west < (x + column / 256) / 2 ** z * 360 - 180 < east else b"\0\0\0\0"
                for column in range(256))
            def chunk(kind, data):
                return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            body = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 256, 256, 8, 6, 0, 0, 0)) + chunk(
                b"IDAT", zlib.compress(row * 256)) + chunk(b"IEND", b"")
            route.fulfill(body=body, content_type="image/png")
        return answer

    # Where the code is, from the middle of its dot at San Francisco.
    place = """() => {
        const label = [...document.querySelectorAll(".waypoint span")].find((node) => node.textContent === "KSFO");
        if (!label || label.style.visibility === "hidden") return null;
        const [dot, code] = [label.parentElement, label].map((node) => node.getBoundingClientRect());
        return (code.left + code.right - dot.left - dot.right) / 2;
    }"""
    for west, east, is_right in ((-180, -179, lambda x: x > 15), (-122.375, 0, lambda x: x < -15),
                                 (-180, 180, lambda x: x is None)):
        viewer.page.goto("about:blank")
        viewer.page.route("**/tiles/hexagons,pireps/**", tile(west, east))
        viewer.open("#layers=hexagons,pireps&map=4/37.6/-110&route=KSFO+KDEN")
        viewer.page.wait_for_selector(".waypoint")
        viewer.eventually(lambda: "tiles/hexagons,pireps/" in str(viewer.requests)
                          and is_right(viewer.page.evaluate(place)))
        # The same on another zoom.
        viewer.jump("{ zoom: 6.4 }")
        viewer.until_shown()
        viewer.eventually(lambda: is_right(viewer.page.evaluate(place)))
        viewer.page.unroute("**/tiles/hexagons,pireps/**")


def online_base_map(viewer):
    """an online base map lies under the turbulence, and tiles of it that never come delay nothing else"""
    held = []

    def name_map(route):
        text = route.fetch().text()
        tiles = {"tiles": f"{viewer.base}/online/{{z}}/{{x}}/{{y}}.png", "attribution": "A <b>map</b>"}
        named = text.replace("ONLINE_BASE_MAP = null", f"ONLINE_BASE_MAP = {json.dumps(tiles)}")
        assert named != text
        route.fulfill(body=named, content_type="text/javascript")

    viewer.page.route("**/js/datasets.js", name_map)
    viewer.page.route("**/online/**", lambda route: held.append(route))
    viewer.open("#layers=hexagons&map=5.00/39.000/-96.000")
    viewer.eventually(lambda: held)
    viewer.eventually(lambda: viewer.page.locator(".first-picture").count() == 0)
    # Signs load after the first picture.
    viewer.eventually(lambda: any("city-signs" in url for url in viewer.requests))
    viewer.eventually(lambda: viewer.text("#state-text").startswith("Live"))
    order = viewer.page.evaluate("billow.map.getStyle().layers.map(({ id }) => id)")
    turbulence = [id for id in order if id.startswith("turbulence-")]
    assert turbulence and order.index("land") < order.index("online") < order.index(turbulence[0]), order
    viewer.eventually(lambda: "A <b>map</b>" in viewer.text(".maplibregl-ctrl-attrib"))


def globe(viewer):
    """the map can be a globe, by its button and by a link, with the same layers and clicks"""
    longitude, latitude = viewer.busy_place()
    viewer.open(f"#layers=hexagons&map=3/{latitude}/{longitude}")
    viewer.page.click(".maplibregl-ctrl-globe")
    viewer.until("location.hash.includes('projection=globe')")
    viewer.until_shown()
    assert viewer.vivid(400, 150, 500, 300) > 200
    link = viewer.hash()
    viewer.page.goto("about:blank")
    viewer.open(link)
    viewer.until("billow.map.getProjection().type === 'globe'")
    # Beyond the edge of the globe there is no land and no turbulence.
    viewer.jump(f"{{ zoom: 0.5, center: [{longitude}, {latitude}] }}")
    viewer.until_shown()
    assert viewer.vivid(900, 150, 90, 90) == 0
    viewer.page.select_option("#style", "night")
    viewer.until("getComputedStyle(document.body).backgroundColor === 'rgb(6, 9, 13)'")
    viewer.jump("{ zoom: 4, center: [-96, 39] }")
    viewer.page.mouse.click(620, 330)
    viewer.until("!document.querySelector('#details-body').textContent.includes('Loading')")
    viewer.page.click(".maplibregl-ctrl-globe-enabled")
    viewer.until("!location.hash.includes('projection=')")


def toggle_layers(viewer):
    """a selected layer is drawn and in the address, and the last one can't be deselected"""
    viewer.open("#layers=hexagons")
    viewer.page.check("#layers input[value=traffic]", force=True)
    viewer.until_shown()
    viewer.eventually(lambda: "layers=hexagons,traffic" in viewer.hash())
    viewer.until("() => document.querySelector('.symbols img')?.getAttribute('src').includes('traffic')")
    viewer.eventually(lambda: any("/tiles/hexagons,traffic/" in url for url in viewer.tiles()))
    viewer.page.uncheck("#layers input[value=hexagons]", force=True)
    viewer.until_shown()
    viewer.eventually(lambda: "layers=traffic" in viewer.hash())
    viewer.page.locator("#layers input[value=traffic]").dispatch_event("click")
    viewer.eventually(lambda: viewer.page.is_checked("#layers input[value=traffic]"))
    viewer.eventually(lambda: viewer.page.is_visible("#layers-note"))
    viewer.page.check("#layers input[value=pireps]", force=True)
    viewer.eventually(lambda: not viewer.page.is_visible("#layers-note"))


def order_and_opacity(viewer):
    """layers change order and opacity, live and in the past, and the address has both"""
    viewer.open("#layers=hexagons,hazards,pireps&map=5/39/-92")
    viewer.page.click(".layer-list summary")
    names = "[...document.querySelectorAll('#layer-list li > span')].map((node) => node.textContent)"
    viewer.eventually(lambda: viewer.page.evaluate(names) == ["PIREPs", "Hexagons", "Hazards"])
    viewer.page.click("#layer-list button[aria-label='Hexagons: further down']")
    viewer.until_shown()
    viewer.eventually(lambda: "order=hexagons,hazards,pireps" in viewer.hash())
    viewer.eventually(lambda: any("/tiles/hexagons,hazards,pireps/" in url for url in viewer.tiles()))
    viewer.page.locator("#layer-list input[data-layer=hazards]").fill("40")
    viewer.until("location.hash.includes('opacity=hazards:40')")
    viewer.until_shown()
    drawn = """() => {
        const { layers, sources } = billow.map.getStyle();
        return layers.filter(({ type, paint }) => type === "raster" && paint["raster-opacity"] > 0).flatMap(
            ({ source, paint }) => sources[source].tiles
                ? [{ url: sources[source].tiles[0], opacity: paint["raster-opacity"] }]
                : JSON.parse(billow.map.getSource(source).getCanvas().dataset.parts)
        ).map(({ url, opacity }) => `${url.match(/tiles\\/([^/]+)/)[1]}:${opacity}`);
    }"""
    wanted = ["hexagons:1", "hazards:0.4", "pireps:1"]
    viewer.eventually(lambda: viewer.page.evaluate(drawn) == wanted)
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("End")
    viewer.page.keyboard.press("ArrowLeft")
    viewer.until("document.querySelector('#state-text').textContent === 'Past'")
    viewer.until_shown()
    viewer.eventually(lambda: viewer.page.evaluate(drawn) == wanted)
    # The link opens the same view.
    viewer.open("#layers=hexagons,hazards&order=hexagons,hazards&opacity=hexagons:50")
    viewer.eventually(lambda: viewer.page.evaluate(drawn) == ["hexagons:0.5", "hazards:1"])


def filters(viewer):
    """history, altitude and severity filter the requests, and appear at the top and in the address"""
    viewer.open()
    viewer.page.check("#history input[value='4']", force=True)
    viewer.page.select_option("#severity", "3")
    viewer.page.focus("#lowest")
    for _ in range(3):
        viewer.page.keyboard.press("ArrowRight")
    parts = ("min=3000", "severity=3", "hours=4")
    viewer.until(" && ".join(f"location.hash.includes('{part}')" for part in parts))
    viewer.until_shown()
    viewer.eventually(lambda: viewer.text("#band") == "FL030 and above")
    viewer.eventually(lambda: viewer.text("#filtered") == "Only FL030 and above, Moderate or worse")
    wanted = ("hours=4", "minAltitude=3000", "minSeverity=3")
    viewer.eventually(lambda: any(all(part in url for part in wanted) for url in viewer.tiles()))
    viewer.eventually(lambda: viewer.page.locator("#legend .filtered-out").count() == 3)
    # The legend hides and shows single severities.
    viewer.page.click("#legend button[data-severity='1']")
    viewer.until("location.hash.includes('severities=1,3,4')")
    viewer.until_shown()
    viewer.eventually(
        lambda: viewer.text("#filtered") == "Only FL030 and above, without Smooth and Light-Moderate")
    viewer.eventually(lambda: any("severity=1%2C3%2C4" in url for url in viewer.tiles()))
    viewer.eventually(lambda: viewer.page.get_attribute("#legend button[data-severity='2']", "aria-pressed") == "false")
    viewer.eventually(lambda: viewer.page.input_value("#severity") == "some")
    viewer.page.click("#legend button[data-severity='2']")
    viewer.until("location.hash.includes('severity=1')")
    viewer.page.click("#all-levels")
    viewer.until("!location.hash.includes('min=')")
    # The last severity stays, and the legend says why.
    viewer.page.select_option("#severity", "4")
    viewer.until("location.hash.includes('severity=4')")
    viewer.page.click("#legend button[data-severity='4']")
    viewer.eventually(lambda: "The last severity stays" in viewer.text("#legend"))
    assert viewer.page.get_attribute("#legend button[data-severity='4']", "aria-pressed") == "true"
    viewer.page.click("#legend button[data-severity='3']")
    viewer.until("location.hash.includes('severity=3')")
    viewer.eventually(lambda: "The last severity stays" not in viewer.text("#legend"))


def hidden_severity(viewer):
    """a severity that is hidden between visible ones has a warning, and the timeline's words leave it out"""
    def count(manifest):
        for layer in manifest["layers"]:
            layer["moderateOrWorse"] = [5 for _ in layer["frames"]]

    viewer.change_answer("**/timeline.json*counts=true*", count)
    viewer.page.set_viewport_size({"width": 1440, "height": 900})
    viewer.open("#layers=hexagons&map=4/39/-96&severity=1")
    key, bars = ".timeline-key .counted", "#scale .hours b[title]"
    viewer.until(f"document.querySelector('{key}')?.textContent === 'moderate or worse'")
    viewer.until(f"document.querySelector('{bars}')?.textContent === 'Moderate or worse'")
    assert viewer.page.locator(".notice").count() == 0
    viewer.page.click("#legend button[data-severity='3']")
    viewer.eventually(lambda: viewer.page.is_visible(".notice"))
    assert viewer.text(".notice p") == "Moderate is hidden on this map: a bare place may have it."
    viewer.until(f"document.querySelector('{key}').textContent === 'moderate or worse, without Moderate'")
    viewer.until(f"document.querySelector('{bars}')?.textContent === 'Moderate or worse, without Moderate'")
    assert viewer.page.get_attribute(bars, "title").startswith("Moderate or worse, without Moderate. Bars of")
    # No word of the label is cut off.
    assert viewer.page.evaluate("""(bars) => {
        const { scrollWidth, clientWidth } = document.querySelector(bars);
        return scrollWidth <= clientWidth;
    }""", bars)
    for width, height in [*SIZES, (360, 640)]:
        viewer.page.set_viewport_size({"width": width, "height": height})
        viewer.eventually(lambda: viewer.page.is_visible(".notice button"))
        viewer.eventually(lambda: not viewer.page.evaluate(LAYOUT_PROBLEMS, width <= 900 or height <= 560))
    viewer.page.focus(".notice button")
    viewer.page.keyboard.press("Enter")
    viewer.until("location.hash.includes('severity=1') && document.querySelector('.notice') === null")


def origin_filters(viewer):
    """the server's categories and sources filter tiles, frames, cards, downloads, snippets and the route"""
    viewer.open("#layers=hexagons&map=4/39/-100")
    sources = viewer.page.evaluate(
        "async () => (await (await fetch('status?f=json')).json()).sources.map(({ id }) => id)")
    viewer.page.click("#origins summary")
    # The choices are those of the server.
    known = viewer.page.evaluate("""async () => (await (await fetch('openapi.json')).json())
        .components.parameters.category.schema""")
    others = [name for name in known["enum"] if name != known["default"]]
    viewer.until(f"document.querySelectorAll('#category option').length === {len(known['enum'])}")
    assert viewer.page.locator("#category option").all_text_contents() == [
        name if name in others else f"{name} (default)" for name in known["enum"]]
    viewer.eventually(lambda: viewer.page.evaluate(
        "[...document.querySelectorAll('#source-filter input')].map(({ value }) => value)") == sources)
    viewer.page.select_option("#category", "C40")
    viewer.page.uncheck(f"#source-filter input[value='{sources[-1]}']", force=True)
    chosen = sources[:-1]
    viewer.until(f"location.hash.includes('category=C40&sources={','.join(chosen)}')")
    viewer.until_shown()
    viewer.eventually(lambda: viewer.text("#filtered") == f"Only for C40, from {' and '.join(chosen)}")
    wanted = ("category=C40", f"source={'%2C'.join(chosen)}")
    def asked(path):
        return any(path in url and all(part in url for part in wanted) for url in viewer.requests)
    viewer.eventually(lambda: any(all(part in url for part in wanted) for url in viewer.tiles()))
    # The share dialog has the same filters in its link, downloads and snippets.
    viewer.page.click("#share")
    viewer.page.wait_for_selector("dialog.share[open]")
    link = viewer.page.input_value("#share-link")
    assert "category=C40" in link and f"sources={','.join(chosen)}" in link, link
    for address in viewer.page.evaluate("[...document.querySelectorAll('.share .downloads a')].map((a) => a.href)"):
        assert all(part in address for part in wanted), address
    snippets = viewer.page.evaluate("document.querySelector('dialog.share').outerHTML").replace("&amp;", "&")
    assert snippets.count("category=C40&source=") > 5, snippets
    viewer.page.keyboard.press("Escape")
    # The link opens the same view, with its card and route.
    viewer.requests.clear()
    viewer.open(f"#layers=hexagons&category=C40&sources={','.join(chosen)}&place=39/-100&route=KORD+KJFK")
    for card in ("#details", "#route"):
        viewer.page.wait_for_selector(card)
    for path in ("/collections/hexagons/items?", "/collections/hexagons/corridor?", "/profiles.json?"):
        viewer.eventually(lambda: asked(path))
    viewer.page.click("#play")
    viewer.eventually(lambda: asked("/timeline.json?"))
    # A link with sources opens the filters. An unknown source is a choice.
    viewer.open("#layers=hexagons&sources=nosuch")
    viewer.eventually(lambda: viewer.page.is_checked("#source-filter input[value='nosuch']"))
    viewer.until_shown()
    # The last source stays, and the page says why.
    viewer.page.click("#source-filter input[value='nosuch']", force=True)
    viewer.eventually(lambda: viewer.page.is_visible("#source-note"))
    assert viewer.page.is_checked("#source-filter input[value='nosuch']") and "sources=nosuch" in viewer.hash()
    # With another one selected, it goes, and so does its choice.
    viewer.page.check(f"#source-filter input[value='{sources[0]}']", force=True)
    viewer.until(f"location.hash.includes('sources={sources[0]},nosuch')")
    assert not viewer.page.is_visible("#source-note")
    # The click removes the box, which Playwright's uncheck would wait for.
    viewer.page.click("#source-filter input[value='nosuch']", force=True)
    viewer.until(f"!location.hash.includes('nosuch') && location.hash.includes('sources={sources[0]}')")
    viewer.eventually(lambda: viewer.page.locator("#source-filter input").count() == len(sources))
    assert viewer.page.evaluate("document.querySelector('#all-sources').getBoundingClientRect().height") < 30
    viewer.page.click("#all-sources")
    viewer.until("!location.hash.includes('sources=')")
    viewer.eventually(lambda: viewer.page.locator("#filtered").is_hidden())
    viewer.eventually(lambda: viewer.page.locator("#all-sources").is_hidden())
    assert viewer.page.locator("#source-filter input:checked").count() == len(sources)


def filtered_cards(viewer):
    """with filters, cards say which reports they have, and alerts have the same sources and severities"""
    only = "severities=2,4&sources=simulator"
    answer = viewer.page.request.get(f"{viewer.base}/collections/traffic/items?limit=1000").json()
    flight = next(each["properties"] for each in answer["features"]
                  if not each["properties"].get("onGround") and each["properties"].get("altitude", 0) > 20000)
    viewer.open(f"#layers=hexagons&map=7/39/-96&{only}&flight={flight['icao24']}")
    card = "document.querySelector('#details-body').textContent"
    for text in ("Only Light-Moderate and Moderate-Occasionally Severe, from simulator.",
                 f"The position is from {flight['source']}, which the map leaves out."):
        viewer.until(f"(text) => {card}.includes(text)", text)
    # The alerts have no other severities and sources than the map.
    with viewer.page.expect_request("**/alerts") as asked:
        viewer.page.check("#history input[value='4']", force=True)
    body = asked.value.post_data_json
    assert body["severity"] == [2, 4] and body["source"] == ["simulator"], body
    # An empty place is not free of other reports.
    viewer.open(f"#layers=hexagons&map=7/0/-140&place=0/-140&{only}")
    viewer.until(f"{card}.includes('No report here')")
    viewer.eventually(lambda: "Only Light-Moderate and Moderate-Occasionally Severe, from simulator."
                      in viewer.text("#details-body"))
    viewer.open(f"#layers=hexagons&route=KORD+KJFK&level=370&min=30000&{only}")
    for text in ("Only Light-Moderate and Moderate-Occasionally Severe, from simulator.",
                 "Only FL300 and above."):
        viewer.until("(text) => document.querySelector('#route-body').textContent.includes(text)", text)


def one_level(viewer):
    """one level is selected, moved by the arrow keys, kept by its link, and reset to all levels"""
    viewer.open("#layers=hexagons&level=370&route=KORD+KJFK")
    viewer.page.check("#one-level", force=True)
    viewer.until("location.hash.includes('min=37000&max=38000')")
    # The histogram over the slider counts all levels, including the filtered ones.
    viewer.until("document.querySelectorAll('#histogram span').length === 60")
    viewer.eventually(lambda: "most at FL" in viewer.page.get_attribute("#histogram", "aria-label"))
    viewer.eventually(lambda: viewer.text("#band") == "FL370 – FL380" and not viewer.page.is_visible("#highest"))
    for _ in range(2):
        viewer.page.keyboard.press("ArrowLeft")
    viewer.until("location.hash.includes('min=35000&max=36000')")
    viewer.until_shown()
    band = ("minAltitude=35000", "maxAltitude=36000")
    viewer.eventually(lambda: any(all(part in url for part in band) for url in viewer.tiles()))
    # The vertical profile includes all levels. Otherwise filtered levels would appear as "no report".
    profiles = [url for url in viewer.requests if "/profiles." in url]
    assert profiles and not any("Altitude=" in url for url in profiles), profiles
    viewer.page.goto("about:blank")
    viewer.open("#layers=hexagons&min=35000&max=36000")
    viewer.eventually(lambda: viewer.page.is_checked("#one-level") and not viewer.page.is_visible("#highest"))
    viewer.page.uncheck("#one-level", force=True)
    viewer.until("!location.hash.includes('min=') && !location.hash.includes('max=')")
    viewer.eventually(lambda: viewer.page.is_visible("#highest"))
    # A band that two thumbs make so narrow keeps both.
    viewer.page.focus("#highest")
    for key in ("Home", "ArrowRight", "ArrowLeft"):
        viewer.page.keyboard.press(key)
    viewer.until("location.hash.includes('max=1000') && document.activeElement.id === 'highest'")
    assert viewer.page.is_visible("#highest") and not viewer.page.is_checked("#one-level")


def slider_by_keys(viewer):
    """keys that move a slider quickly request only the first and the last of its bands"""
    viewer.open("#layers=hexagons")
    viewer.page.focus("#lowest")
    viewer.requests.clear()
    viewer.page.evaluate("""() => {
        const slider = document.getElementById("lowest");
        for (let step = 1; step <= 20; step += 1) {
            slider.value = String(step);
            for (const type of ["input", "change"]) slider.dispatchEvent(new Event(type, { bubbles: true }));
        }
    }""")
    assert viewer.text("#band") == "FL200 and above"
    viewer.until("location.hash.includes('min=20000')")
    viewer.until_shown()
    viewer.eventually(lambda: any("minAltitude=20000" in url for url in viewer.tiles()))
    bands = {band for url in viewer.requests for band in re.findall(r"minAltitude=(\d+)", url)}
    assert bands == {"1000", "20000"}, bands


def incomplete_instant(viewer):
    """an incomplete past picture has a banner, which also states that it is not live"""
    def lack(tiles):
        tiles.setdefault("billow", {}).update(incomplete=True, completeSince="2026-01-01T00:00:00Z")

    viewer.change_answer("**/tiles/*.json?*time=*", lack)
    viewer.lack_data()
    viewer.open("#layers=hexagons,hazards,pireps")
    viewer.eventually(lambda: "INCOMPLETE" not in viewer.text("#banners"))
    viewer.page.check("#when input[value=past]", force=True)
    viewer.until(
        "document.querySelector('#banners').textContent.includes('INCOMPLETE: Some data is missing from this picture')"
    )
    viewer.page.click("#earlier")
    viewer.until_shown()
    words = viewer.text("#banners")
    assert "Past picture" in words and "The data is complete from" in words, words
    viewer.eventually(lambda: "time=" in viewer.hash())
    viewer.page.check("#when input[value=live]", force=True)
    viewer.until("!document.querySelector('#banners').textContent.includes('INCOMPLETE')")


def absent_field(viewer):
    """an instant without a field has a warning, in pictures and frames, though its tiles are not marked"""
    viewer.open()
    viewer.until_field("-102,36,-98,40")
    viewer.page.goto("about:blank")
    # The hexagons are complete then, so that the server marks nothing.
    [first, _] = viewer.page.request.get(f"{viewer.base}/tiles/gtg.json").json()["time"]["extent"]
    before = time.gmtime(calendar.timegm(time.strptime(first, "%Y-%m-%dT%H:%M:%SZ")) - 600)
    viewer.open(f"#layers=gtg,hexagons&map=4/39/-100&span=-6h&time={time.strftime('%Y%m%dT%H%M%SZ', before)}")
    missing = "No GTG is stored for this time"
    viewer.eventually(lambda: missing in viewer.text("#banners"))
    assert viewer.page.get_attribute("#state", "data-level") == "warn"
    viewer.page.click("#step-back")
    viewer.until("billow.map.getStyle().layers.some(({ id }) => id.startsWith('timeline-canvas'))")
    viewer.eventually(lambda: missing in viewer.text("#banners") and "incomplete" in viewer.text("#frame-age"))
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("End")
    viewer.eventually(lambda: viewer.text("#state-text").startswith("Live") and missing not in viewer.text("#banners"))


def typed_instant(viewer):
    """an invalid instant is rejected beside its field, and the view does not change"""
    viewer.open()
    viewer.page.check("#when input[value=past]", force=True)
    viewer.until("location.hash.includes('time=')")
    before = viewer.hash()
    refused = (
        ("noon", "Enter a UTC date"), ("2999-01-01 00:00", "in the future"), ("2000-01-01 00:00", "data begins"),
    )
    for text, words in refused:
        viewer.page.fill("#instant", text)
        viewer.page.keyboard.press("Enter")
        viewer.until("(words) => document.querySelector('#instant-problem').textContent.includes(words)", words)
        viewer.eventually(lambda: viewer.page.get_attribute("#instant", "aria-invalid") == "true")
    assert viewer.hash() == before


def bad_link(viewer):
    """an invalid member of a link is reported, and the others apply"""
    viewer.open("#hours=9&severity=2")
    viewer.eventually(lambda: 'hours is "9"' in viewer.text("#banners"))
    viewer.eventually(lambda: viewer.page.input_value("#severity") == "2")
    viewer.page.evaluate("location.hash = '#severity=1'")
    viewer.until("document.querySelector('#severity').value === '1'")
    viewer.until("!document.querySelector('#banners').textContent.includes('This link')")


def unknown_layer(viewer):
    """a link with an unknown name says which, and shows the layers of a link without it, the computed field too"""
    chosen = "[...document.querySelectorAll('#layers input:checked')].map(({ value }) => value)"
    viewer.open()
    viewer.until_field("-102,36,-98,40")
    # The server's status decides the layers of a link that names none.
    viewer.page.goto("about:blank")
    viewer.open()
    first = viewer.page.evaluate(chosen)
    assert "gtg" in first, first
    for link, words in (("layers=gtg,hexagon", 'layers is "gtg,hexagon"; hexagon is unknown; it must be a list of '),
                        ("lyers=pireps", "lyers is unknown; it must be one of layers, ")):
        viewer.page.goto("about:blank")
        viewer.open(f"#{link}&map=4/39/-100")
        viewer.eventually(lambda: words in viewer.text("#banners"))
        viewer.eventually(lambda: viewer.page.evaluate(chosen) == first)
        viewer.eventually(lambda: all(any(f"/tiles/{id}" in url or f",{id}" in url for url in viewer.tiles())
                                      for id in first))
        # Later, too, such a link shows the default.
        viewer.page.evaluate("location.hash = '#layers=pireps&map=4/39/-100'")
        viewer.eventually(lambda: viewer.page.evaluate(chosen) == ["pireps"])
        viewer.page.evaluate("(link) => { location.hash = link; }", f"#{link}&map=4/39/-100")
        viewer.eventually(lambda: words in viewer.text("#banners") and viewer.page.evaluate(chosen) == first)


def link_during_move(viewer):
    """a link that opens while the map ends a move is kept"""
    viewer.open("#layers=hexagons")
    viewer.page.evaluate("""() => {
        location.hash = "#map=5/50/10&layers=pireps&hours=4";
        billow.map.jumpTo({ center: [0, 0] });
    }""")
    viewer.until("document.querySelector('#history input:checked').value === '4'")
    viewer.until_shown()
    viewer.eventually(lambda: "map=5.00/50.000/10.000&layers=pireps&hours=4" in viewer.hash())


def instant_without_data(viewer):
    """an instant ahead of the data or before it is reported in plain words, also from a link as RFC 3339"""
    viewer.expected = ["404", "400"]
    ahead = time.gmtime(time.time() + 30 * 86_400)
    viewer.open(f"#time={time.strftime('%Y-%m-%dT%H:%M:%SZ', ahead)}")
    words = r"Nothing is stored for \d+ \w+ \d+ [\d:]+Z yet\. Forecasts end at "
    viewer.eventually(lambda: re.search(words, viewer.text("#banners")))
    viewer.eventually(lambda: "no picture at this time" in viewer.text("#frame-age"))
    viewer.page.evaluate("location.hash = '#time=2000-01-01T00:00:00Z'")
    viewer.eventually(lambda: "Nothing is stored for 1 Jan 2000 00:00Z. The data begins at " in viewer.text("#banners"))
    assert "This link" not in viewer.text("#banners") and "log reaches" not in viewer.text("#banners")


def inspect_place(viewer):
    """Enter on the map opens the card of its centre, and Escape closes it"""
    viewer.open()
    viewer.page.focus("#map canvas")
    viewer.page.keyboard.press("Enter")
    viewer.until(
        "() => !document.querySelector('#details').hidden"
        " && !document.querySelector('#details-body').textContent.includes('Loading')")
    viewer.eventually(lambda: len(viewer.text("#details-body")) > 10)
    viewer.page.keyboard.press("Escape")
    viewer.until("document.querySelector('#details').hidden")


def inspect_beside(viewer):
    """a click near a cell finds the worst one nearby, with its direction and the reason for its colour"""
    viewer.open("#layers=hexagons&map=4/37/-95")
    places = viewer.page.evaluate("""async () => {
        const answer = await fetch("collections/hexagons/items?hours=2&minSeverity=1&bbox=-105,28,-80,46&limit=500");
        const { features } = await answer.json();
        // An older report may be older than two hours when the test clicks on it.
        const isLasting = ({ properties }) => Date.parse(properties.observedAt) > Date.now() - 3_600_000;
        return features.filter(isLasting).map(({ geometry, properties }) =>
            ({ corner: geometry.coordinates[0][0], severity: properties.severity }));
    }""")
    names = ["Smooth", "Light", "Light-Moderate", "Moderate", "Moderate-Occasionally Severe"]
    clicked = 0
    for place in places[:: max(1, len(places) // 12)]:
        # No card lies over the middle of the map.
        viewer.until("!billow.map.isMoving()")
        viewer.jump(f"{{ center: {place['corner']} }}")
        point = viewer.page.evaluate("""(corner) => {
            const { x, y } = billow.map.project(corner);
            const [left, below] = [x - 5, y + 5];
            return document.elementFromPoint(left, below) === billow.map.getCanvas() ? [left, below] : null;
        }""", place["corner"])
        if point is None:
            continue
        clicked += 1
        viewer.page.mouse.click(*point)
        viewer.until("!document.querySelector('#details').hidden")
        viewer.until("!document.querySelector('#details-body').textContent.includes('Loading')")
        heading = viewer.text("#details-body h3")
        assert names.index(heading) >= place["severity"], (place, heading)
        words = viewer.text("#details-body")
        assert "report" in words and "in the last 2 h" in words, words
        viewer.page.click("#details-close")
    assert clicked >= 4, (clicked, len(places))


def route(viewer):
    """a typed route has a corridor, lists with times and levels and a profile, and is in the address"""
    viewer.open()
    viewer.page.fill("#route-text", "nowhere")
    viewer.page.click("#route-form .go")
    viewer.until("document.querySelector('#route-problem').textContent.includes('Unknown waypoints: NOWHERE')")
    viewer.page.fill("#route-text", "KORD DCT KJFK N0450F370 RNAV9")
    viewer.page.click("#route-form .go")
    viewer.until("document.querySelector('#route-body h3')?.textContent === 'KORD KJFK'")
    # The simulated weather moves, so on some days and at some hours there are no alerts here.
    viewer.until("document.querySelector('#route-body .groups')?.textContent.length > 0")
    words = viewer.text("#route-body")
    assert "NM wide" in words and "planned FL370" in words and "Hexagons along the route" in words, words
    viewer.until("document.querySelector('#route-body').textContent.includes('Computed along the route (GTG)')")
    viewer.eventually(lambda: "Unknown does not mean smooth air" in viewer.text("#route-body"))
    asked = [url for url in viewer.requests if "/profiles.json" in url]
    assert asked and all("departure=" in url and "speed=450" in url for url in asked), asked
    assert "level=37000" in asked[-1], asked
    viewer.eventually(lambda: viewer.page.locator("#route-body tr.own th").inner_text() == "FL370")
    viewer.eventually(lambda: "RNAV9" in viewer.text("#route-note"))
    viewer.until("document.querySelectorAll('#route-body .plot path[fill]').length > 0")
    assert "EDR" in viewer.page.get_attribute("#route-body .plot", "aria-label")
    assert "Reported" in viewer.text("#route-body figcaption"), viewer.text("#route-body figcaption")
    # The whole text of the profile is inside the card, and as large as the card's other text, also on a phone.
    for width in (1000, 360):
        viewer.page.set_viewport_size({"width": width, "height": 700})
        labels = viewer.page.evaluate("""() => {
            const card = document.querySelector("#route").getBoundingClientRect();
            return [...document.querySelectorAll("#route-body .plot span")].map((label) => {
                const { left, right } = label.getBoundingClientRect();
                const isInside = left >= card.left && right <= card.right;
                return [label.textContent, parseFloat(getComputedStyle(label).fontSize), isInside];
            });
        }""")
        assert "FL370" in [text for text, _, _ in labels] and len(labels) > 5, labels
        assert all(size >= 12 and is_inside for _, size, is_inside in labels), labels
    viewer.page.set_viewport_size({"width": 1000, "height": 700})
    picture = viewer.page.get_attribute("#route-body a[download$='.png']", "href")
    assert viewer.page.evaluate("async (url) => (await fetch(url)).headers.get('Content-Type')", picture) == "image/png"
    viewer.eventually(lambda: "route=KORD+KJFK&level=370" in viewer.hash())
    with viewer.page.expect_download() as saved:
        viewer.page.click("#route-body button:has-text('GeoJSON')")
    assert saved.value.suggested_filename.endswith(".geojson"), saved.value.suggested_filename
    data = json.loads(Path(saved.value.path()).read_text())
    assert data["type"] == "FeatureCollection", data["type"]
    assert {"corridor", "line"} <= {feature["properties"]["part"] for feature in data["features"]}, data
    # The link opens the same view.
    viewer.open("#route=KSEA+KLAX&level=350")
    viewer.until("document.querySelector('#route-body h3')?.textContent === 'KSEA KLAX'")
    viewer.eventually(lambda: viewer.page.input_value("#route-level") == "FL350")
    viewer.page.click("#route-clear")
    viewer.until("document.querySelector('#route').hidden && !location.hash.includes('route=')")


def level_of_plan(viewer):
    """a pasted plan's level replaces the earlier one, unless the level's field is newer, and the page names both"""
    title, note = "document.querySelector('#route-body h3')?.textContent", "#route-note"

    def shows(route, level):
        viewer.until(f"{title} === '{route}'")
        viewer.until(f"document.querySelector('#route-body').textContent.includes('planned {level}.')")
        assert viewer.page.input_value("#route-level") == level, viewer.page.input_value("#route-level")

    viewer.open("#layers=hexagons&map=4/39/-96&route=KORD+KJFK&level=370")
    shows("KORD KJFK", "FL370")
    for text, field, route, used, unused in [
        ("KDEN N0450F310 DCT KATL", None, "KDEN KATL", ("FL310", "from the plan"), "FL370"),
        ("KORD KJFK FL330", "FL350", "KORD KJFK", ("FL350", "from its field"), "FL330"),
    ]:
        viewer.page.fill("#route-text", text)
        if field:
            viewer.page.fill("#route-level", field)
        viewer.page.click("#route-form .go")
        shows(route, used[0])
        words = viewer.text(note)
        assert f"The level is {', '.join(used)}" in words and f"not used: {unused}" in words, words
    # Numbers have the longitude first, and the page says how it read them.
    viewer.page.fill("#route-text", "-105,40 40N 090W")
    viewer.page.click("#route-form .go")
    shows("4000N10500W 40N090W", "FL350")
    assert viewer.text(note) == "-105,40 was read as 40 N 105 W (longitude first).", viewer.text(note)
    # On a phone the sheet of the settings closes, and the note stays in sight until another route comes.
    viewer.page.set_viewport_size({"width": 390, "height": 844})
    viewer.page.click("#toggle")
    viewer.page.fill("#route-text", "KORD XQZZY KJFK")
    viewer.page.click("#route-form .go")
    shows("KORD KJFK", "FL350")
    viewer.eventually(lambda: viewer.page.locator("#route #route-note").is_visible())
    assert "Ignored, because unknown: XQZZY" in viewer.text(note), viewer.text(note)
    viewer.page.evaluate("location.hash = '#layers=hexagons&route=KDEN+KATL'")
    viewer.until("document.querySelector('#route-note').hidden")


def passage_of_plan(viewer):
    """a pasted plan's departure and speed give the times of passage, with their source, in the address, and editable"""
    note = "document.querySelector('#route-body .passage')?.textContent"

    def shows(words):
        viewer.until(f"(words) => {note}?.includes(words)", words)

    departure = time.time() + 2 * 3600
    clock = time.strftime("%H%M", time.gmtime(departure))
    stamp = time.strftime("%Y%m%dT%H%M00Z", time.gmtime(departure))
    viewer.open("#layers=gtg,hexagons&map=4/39/-96")
    viewer.page.fill("#route-text", f"KORD{clock} N0480F370 DCT KJFK0200")
    viewer.page.click("#route-form .go")
    shows("From the plan: 480 kt, departing ")
    shows(f"{clock[:2]}:{clock[2:]}Z. The times are without wind.")
    words = viewer.text("#route-body")
    assert re.search(r"at 480 kt from [\w ]*" + f"{clock[:2]}:{clock[2:]}Z", words), words
    assert "before the departure" in words, words
    for path in ("/profiles.json", "/collections/hexagons/corridor"):
        asked = [url for url in viewer.requests if path in url][-1].replace("%3A", ":")
        assert "speed=480" in asked and f"departure={time.strftime('%Y-%m-%dT%H:%M:00Z', time.gmtime(departure))}" \
            in asked, asked
    viewer.eventually(lambda: f"passage=plan,480kt,{stamp}" in viewer.hash())
    # Another route is not that of the plan.
    viewer.page.fill("#route-text", "KORD KATL")
    viewer.page.click("#route-form .go")
    viewer.until("document.querySelector('#route-body h3')?.textContent === 'KORD KATL'")
    viewer.until(f"!{note}.includes('From the plan')")
    viewer.eventually(lambda: "passage=" not in viewer.hash())
    # The link opens the same times, which the user changes and removes.
    viewer.open(f"#layers=gtg,hexagons&route=KORD+KJFK&level=370&passage=plan,480kt,{stamp}")
    shows("From the plan: 480 kt, departing ")
    viewer.page.click("#route-body .passage button:text-is('Change')")
    viewer.page.fill("#passage-speed", "fast")
    viewer.page.click(".passage button:text-is('Use')")
    viewer.page.wait_for_selector(".passage .problem:not([hidden])")
    past = time.gmtime(time.time() - 3600)
    viewer.page.fill("#passage-speed", "420")
    viewer.page.fill("#passage-departure", time.strftime("%Y-%m-%d %H:%M", past))
    viewer.page.click(".passage button:text-is('Use')")
    shows("As entered: 420 kt, departing ")
    viewer.eventually(lambda: f"passage=typed,420kt,{time.strftime('%Y%m%dT%H%M00Z', past)}" in viewer.hash())
    viewer.until("document.querySelector('#route-body').textContent.includes('so a part of the route is flown')")
    # A departure beyond all forecasts is told in words.
    later = time.gmtime(time.time() + 20 * 86400)
    viewer.page.evaluate("(text) => { location.hash = location.hash.replace(/passage=[^&]*/, `passage=${text}`); }",
                         time.strftime("plan,%Y%m%dT%H%M00Z", later))
    viewer.until("document.querySelector('#route-body').textContent.includes('so no turbulence is computed here')")
    viewer.page.click("#route-body .passage button:text-is('Remove')")
    viewer.until(f"!{note}.includes('departing')")
    viewer.eventually(lambda: "passage=" not in viewer.hash() and "at 450 kt from" in viewer.text("#route-body"))


def differing_stretches(viewer):
    """the card of a route has all of it ahead, as of its departure, and says why its other lists differ"""
    asked = []

    def answer(route):
        asked.append(route.request.post_data_json)
        answer = route.fetch().json()
        # The server has left out some cells, and all others are determined.
        answer.update(clusters=[], hazards=[], truncated=len(asked) == 1)
        answer["field"].update(truncated=False, clusters=[{
            "text": "Turbulence", "members": [], "distance": 2240, "timeTo": 18000, "timeToPass": 18060, "severity": 3,
        }])
        route.fulfill(json=answer)

    viewer.page.route("**/alerts", answer)
    viewer.change_answer("**/profiles.json?*", lambda answer: answer["field"].update(
        unknown=[{"from": 600, "to": 900, "reason": "outside"}]))
    # A field that is stored for the whole flight.
    viewer.open("#layers=gtg,hexagons&map=4/40/-95")
    viewer.until_field("-120,36,-75,43")
    viewer.page.goto("about:blank")
    viewer.open("#layers=gtg,hexagons&map=4/40/-95&route=KJFK+KDEN+KSFO&level=370")
    viewer.until("document.querySelector('#route-body').textContent.includes('Computed along the route')")
    words = viewer.text("#route-body")
    ahead, rest = words.split("Ahead, FL350–FL390\n")[1].split("Hexagons along the route")
    assert "All within 25 NM of the route." in ahead and "less than 5 min apart are one line" in ahead, ahead
    assert re.search(r"count from the departure at [\w ]*\d\d:\d\dZ\.", ahead), ahead
    assert "In 2240 NM, 5 h 00 min" in ahead and "is known for 600–900 NM: outside of its area." in ahead
    assert "the server has left out the least severe cells" in ahead, ahead
    assert "On the middle line of the route, at FL370. “Ahead” has the worst within 25 NM to each side and " \
        "2,000 ft above and below, so it differs." in rest, rest
    later = time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(time.time() + 3600))
    viewer.page.evaluate("(text) => { location.hash += `&passage=plan,${text}`; }",
                         later.replace("-", "").replace(":", ""))
    viewer.eventually(lambda: f"departure at {later[11:16]}Z" in viewer.text("#route-body").replace("\n", " "))
    assert "left out" not in viewer.text("#route-body"), viewer.text("#route-body")
    # The highest level within 2,000 ft is FL390, whose top is FL400.
    assert [[each[name] for name in ("distance", "minAltitude", "maxAltitude")] for each in asked] \
        == [[12_000, 35_000, 40_000]] * 2, asked
    assert abs(calendar.timegm(time.strptime(asked[0]["departure"], "%Y-%m-%dT%H:%M:%SZ")) - time.time()) < 600, asked
    assert asked[1]["departure"] == later and "time" not in asked[1], asked
    viewer.page.unroute_all(behavior="ignoreErrors")


def route_ahead(viewer):
    """the card of a later departure has the hazards and the field of its passage, and reports with their age"""
    def at(hours):
        return time.gmtime(time.time() + 3600 * hours)

    def area(name, first, last):
        return {"type": "Feature", "id": name, "geometry": {"type": "Polygon", "coordinates": [
            [[-85, 40], [-80, 40], [-80, 43], [-85, 43], [-85, 40]]]}, "properties": {
                "kind": "gairmet", "hazard": name, "altitudeMin": 20000, "altitudeMax": 40000,
                "validFrom": time.strftime("%Y-%m-%dT%H:%M:00Z", at(first)),
                "validTo": time.strftime("%Y-%m-%dT%H:%M:00Z", at(last))}}

    asked = []

    def answer(route):
        asked.append(route.request.url)
        route.fulfill(json={"type": "FeatureCollection", "features": [area("OLD", -1, 2), area("NEW", 2, 5)]})

    viewer.page.route("**/collections/hazards/corridor?*", answer)
    viewer.page.route("**/collections/advisories/corridor?*", lambda route: route.fulfill(
        json={"type": "FeatureCollection", "features": []}))
    departure = time.strftime("%Y%m%dT%H%M00Z", at(2))
    viewer.change_answer("**/alerts", lambda answer: answer.update(hazards=[area("NEW", 2, 5)["properties"]]))
    viewer.open(f"#layers=gtg,hexagons&map=4/41/-85&route=KORD+KJFK&level=370&time={departure}")
    viewer.until("document.querySelector('#route-body').textContent.includes('Hazard areas along the route')")
    words = viewer.text("#route-body")
    assert re.search(r"Reports are until [\w ]*\d\d:\d\dZ, \d h \d\d min before the departure", words), words
    groups = viewer.text("#route-body .groups")
    assert "NEW" in groups and "OLD" not in groups, groups
    assert re.search(r"OLD\n.*\nvalid .*, expires before you arrive", words), words
    assert re.search(r"NEW\n.*\nvalid [\w:– ]+Z\n", words), words
    assert "Computed along the route" in words and "Reported until" in words, words
    assert f"datetime={time.strftime('%Y-%m-%dT%H', at(2))}" in asked[0].replace("%3A", ":"), asked
    stretches = words.split("Hexagons along the route")[1].split("Computed along the route")[0]
    assert "No turbulence reported" in stretches or re.search(
        r"you pass [\w:– ]+Z, reported [\w:– ]+Z, \d h \d\d min before that", stretches), stretches
    viewer.page.unroute_all(behavior="ignoreErrors")


def route_without_field(viewer):
    """the route card has no computed turbulence where the map says that no field is stored"""
    extent = viewer.page.request.get(f"{viewer.base}/tiles/gtg.json").json()["time"]["extent"]
    first = calendar.timegm(time.strptime(extent[0], "%Y-%m-%dT%H:%M:%SZ"))
    departure = time.strftime("%Y%m%dT%H%M00Z", time.gmtime(first - 1800))
    viewer.open(f"#layers=gtg,hexagons&map=4/41/-85&route=KJFK+KORD&level=350&span=-6h&time={departure}")
    viewer.until("document.querySelector('#route-body').textContent.includes('Hexagons along the route')")
    words = viewer.text("#route-body")
    assert "No GTG is stored for " in words and "no turbulence is computed here" in words, words
    assert "Computed" not in words and "computed" not in words.replace("no turbulence is computed here", ""), words


def wrong_route(viewer):
    """a text that is no route leaves neither the earlier route nor its notes beside it, and names are waypoints"""
    viewer.open("#layers=hexagons")
    viewer.page.fill("#route-text", "Denver to Chicago MERIT9")
    viewer.page.click("#route-form .go")
    viewer.until("document.querySelector('#route-body h3')?.textContent === 'KDEN KORD'")
    viewer.eventually(lambda: "DENVER means KDEN, CHICAGO means KORD" in viewer.text("#route-note"))
    viewer.page.fill("#route-text", "KDEN Birmingham")
    viewer.page.click("#route-form .go")
    viewer.eventually(lambda: "BIRMINGHAM may be EGBB or KBHM" in viewer.text("#route-problem"))
    viewer.until("document.querySelector('#route').hidden && !location.hash.includes('route=')")
    viewer.until("document.querySelector('#route-note').hidden")
    viewer.eventually(lambda: viewer.page.locator(".waypoint").count() == 0)
    # The text stays, and the page has no other route than the one that the user corrects it to.
    assert viewer.page.input_value("#route-text") == "KDEN Birmingham"
    viewer.page.click("#route-clear")
    viewer.eventually(lambda: viewer.page.input_value("#route-text") == "" and not viewer.text("#route-problem"))


def route_without_contact(viewer):
    """without contact a route keeps its line, and its card the last conditions with their time, or says why not"""
    viewer.expected = ["ERR_", "Failed to load"]
    body, shape = "document.querySelector('#route-body').textContent", """() => {
        const route = billow.map.getSource("route")?.serialize().data;
        return route?.geometry?.type;
    }"""
    patterns = ("**/corridors", "**/profiles.json*", "**/collections/hexagons/corridor*", "**/alerts")

    def block():
        for pattern in patterns:
            viewer.page.route(pattern, lambda route: route.abort())

    block()
    # A picture of the past is not renewed, so only restored contact loads the route again.
    instant = time.strftime("%Y%m%dT%H%M00Z", time.gmtime(time.time() - 600))
    viewer.open(f"#layers=hexagons&map=4/39/-96&route=KSEA+KJFK&time={instant}")
    viewer.until(f"{body}.includes('The conditions along a route need contact with the server')")
    viewer.eventually(lambda: viewer.page.evaluate(shape) == "LineString")
    assert viewer.page.locator(".waypoint").count() == 2
    viewer.page.unroute_all()
    viewer.page.evaluate("dispatchEvent(new Event('online'))")
    viewer.until("document.querySelectorAll('#route-body .plot').length === 1")
    viewer.eventually(lambda: viewer.page.evaluate(shape).endswith("Polygon"))
    # The card says at once that contact is lost, and no longer than that, while the card itself is not requested.
    lost = f"{body}.includes('No contact with the server. These conditions were loaded at ')"
    assert not viewer.page.evaluate(lost)
    viewer.page.route("**/*", lambda route: route.abort())
    viewer.page.evaluate("dispatchEvent(new Event('online'))")
    viewer.until("document.querySelector('#state-text').textContent === 'No contact'")
    viewer.until(lost)
    # A request of the card as it is, which fails.
    viewer.page.click("#route-close")
    viewer.page.evaluate("location.hash = location.hash.replace('&routecard=closed', '')")
    viewer.until(lost)
    assert viewer.page.locator("#route-body .plot").count() == 1
    viewer.page.unroute_all()
    viewer.page.evaluate("dispatchEvent(new Event('online'))")
    viewer.until(f"!({lost})")


def route_without_places(viewer):
    """without contact and without the list of airports, a route's card says that the map has no line"""
    viewer.expected = ["ERR_", "Failed to load"]
    for pattern in ("**/corridors", "**/profiles.json*", "**/corridor?*", "**/alerts", "**/airports.json"):
        viewer.page.route(pattern, lambda route: route.abort())
    # One of the two waypoints is a position, and a line needs both.
    viewer.open("#layers=hexagons&map=4/39/-96&route=4430N07000W+KJFK")
    viewer.until("document.querySelector('#route-body').textContent.includes('The map has no line, because')")
    assert viewer.page.evaluate("billow.map.getSource('route')?.serialize().data.geometry") is None
    viewer.page.unroute_all(behavior="ignoreErrors")


def route_uncovered(viewer):
    """the map shows the whole route beside all cards and banners, also later ones, until the user moves it"""
    # The corridor at both ends, as the map shows it, and what covers it.
    covered = """() => {
        const { coordinates } = billow.map.getSource("route")?.serialize().data.geometry ?? {};
        const points = coordinates[0].map((position) => billow.map.project(position));
        const cards = [...document.querySelectorAll(".bar, .banner, .legend, .dock, .right > *")]
            .filter((card) => card.checkVisibility({ checkVisibilityCSS: true }));
        return points.some(({ x, y }) => x < 0 || y < 0 || x > innerWidth || y > innerHeight) ? ["cut off"]
            : cards.filter((card) => {
                const { left, right, top, bottom } = card.getBoundingClientRect();
                return points.some(({ x, y }) => x > left && x < right && y > top && y < bottom);
            }).map(({ className }) => className);
    }"""
    def expect_uncovered():
        viewer.eventually(lambda: viewer.page.evaluate(covered) == [])

    # A window that changes its size.
    viewer.page.set_viewport_size({"width": 1000, "height": 700})
    viewer.open("#route=KJFK+EGLL")
    viewer.until("document.querySelector('#route-body h3')?.textContent === 'KJFK EGLL'")
    viewer.until("billow.map.getSource('route')?.serialize().data.geometry")
    for width, height in SIZES:
        viewer.page.set_viewport_size({"width": width, "height": height})
        expect_uncovered()
    camera = "[billow.map.getZoom(), ...billow.map.getCenter().toArray()]"
    for width, height in SIZES:
        viewer.page.unroute_all()
        viewer.page.set_viewport_size({"width": width, "height": height})
        viewer.page.goto("about:blank")
        viewer.open("#route=KJFK+KORD")
        viewer.until("document.querySelector('#route-body h3')?.textContent === 'KJFK KORD'")
        viewer.until("billow.map.getSource('route')?.serialize().data.geometry")
        expect_uncovered()
        # A banner that comes later.
        viewer.expected = ["500"]
        viewer.page.route("**/status*", lambda route: route.fulfill(status=500, body="{}"))
        viewer.page.evaluate("dispatchEvent(new Event('online'))")
        viewer.until("document.querySelector('#banners').textContent.includes('status')")
        expect_uncovered()
        # The user moves the map, so it stays.
        viewer.jump("{ zoom: 5 }")
        before = viewer.page.evaluate(camera)
        viewer.page.unroute_all()
        viewer.page.evaluate("dispatchEvent(new Event('online'))")
        viewer.until("!document.querySelector('#banners').textContent.includes('status')")
        viewer.until_shown()
        assert viewer.page.evaluate(camera) == before, (width, height)


def route_through_turbulence(viewer):
    """the alerts along a route are in groups, each with its severity or kind and its number"""
    viewer.open("#layers=hexagons")
    route, level = viewer.page.evaluate("""async () => {
        const answer = await fetch("collections/hexagons/items?minSeverity=1&minAltitude=20000&limit=10000");
        const { features } = await answer.json();
        const inside = features.filter(({ geometry }) => Math.abs(geometry.coordinates[0][0][0]) < 170);
        const worst = inside.reduce((a, b) => (b.properties.severity > a.properties.severity ? b : a));
        const [longitude, latitude] = worst.geometry.coordinates[0][0];
        // Degrees and minutes: a whole degree may be further away than the corridor is wide.
        const text = (number, digits) => {
            const minutes = Math.round(Math.abs(number) * 60);
            return String(Math.floor(minutes / 60)).padStart(digits, "0") + String(minutes % 60).padStart(2, "0");
        };
        const point = (offset) => `${text(latitude, 2)}${latitude < 0 ? "S" : "N"}`
            + `${text(longitude + offset, 3)}${longitude + offset < 0 ? "W" : "E"}`;
        return [`${point(-2)} ${point(2)}`, worst.properties.altitude / 100];
    }""")
    viewer.page.fill("#route-text", route)
    # An invalid level is reported, because a route without its level looks like any other.
    viewer.page.fill("#route-level", "high")
    viewer.page.click("#route-form .go")
    viewer.eventually(lambda: "Enter the level as FL370" in viewer.text("#route-problem"))
    assert viewer.page.get_attribute("#route-level", "aria-invalid") == "true" and "route=" not in viewer.hash()
    viewer.page.fill("#route-level", f"FL{level:03.0f}")
    viewer.page.click("#route-form .go")
    viewer.until("document.querySelector('#route-problem').hidden")
    viewer.until("document.querySelectorAll('#route-body .group').length > 0")
    groups = viewer.page.evaluate(
        "[...document.querySelectorAll('#route-body .group')].map((group) => [...group.querySelectorAll("
        "'summary span')].map((span) => span.textContent).concat(group.querySelectorAll('li').length))")
    assert all(title.endswith(("reported", "computed", "issued")) and int(count) == lines
               for title, count, lines in groups), groups


def route_suggestions(viewer):
    """a route has airports by name, IATA code and position; suggestions work by keyboard alone"""
    viewer.open("#layers=hexagons")
    viewer.page.focus("#route-text")
    viewer.page.keyboard.type("chicago o'h")
    viewer.until("() => document.querySelector('#route-places [aria-selected=true] strong')?.textContent === 'KORD'")
    active = viewer.page.get_attribute("#route-text", "aria-activedescendant")
    viewer.eventually(lambda: viewer.text(f"#{active} strong") == "KORD" and viewer.page.is_visible("#route-places"))
    viewer.page.keyboard.press("Enter")
    viewer.eventually(lambda: viewer.page.input_value("#route-text") == "KORD ")
    viewer.eventually(lambda: viewer.page.get_attribute("#route-text", "aria-expanded") == "false")
    viewer.page.keyboard.type("40.5N 80W london")
    viewer.until("document.querySelectorAll('#route-places [role=option]').length > 2")
    first = viewer.text("#route-places [aria-selected=true] strong")
    viewer.page.keyboard.press("ArrowDown")
    viewer.eventually(lambda: viewer.text("#route-places [aria-selected=true] strong") != first)
    viewer.page.keyboard.press("Escape")
    viewer.eventually(lambda: not viewer.page.is_visible("#route-places") and viewer.page.is_visible("#settings"))
    for _ in "london":
        viewer.page.keyboard.press("Backspace")
    viewer.page.keyboard.type("jfk")
    viewer.page.keyboard.press("Enter")
    viewer.until("document.querySelector('#route-body h3')?.textContent === 'KORD 4030N08000W KJFK'")
    viewer.eventually(lambda: "JFK means KJFK" in viewer.text("#route-note"))
    viewer.eventually(lambda: "John F Kennedy International Airport" in viewer.text("#route-body"))
    viewer.eventually(lambda: viewer.page.locator(".waypoint").count() == 3)
    # The server does not know this airport, and the page does not know the plan's fixes.
    viewer.page.fill("#route-text", "LSZB0900 N0350F210 DCT FUSSE L613 EDDS0100")
    viewer.page.click("#route-form .go")
    viewer.until("document.querySelector('#route-body h3')?.textContent === 'LSZB EDDS'")
    viewer.until("document.querySelector('#route-body').textContent.includes('planned FL210')")
    viewer.eventually(lambda: "FUSSE" in viewer.text("#route-note"))
    viewer.eventually(lambda: "The plan has no date, so it departs at " in viewer.text("#route-note"))
    viewer.eventually(lambda: "route=LSZB+EDDS&level=210&passage=plan,350kt," in viewer.hash())


def pick_points(viewer):
    """waypoints are picked on the map by click or keyboard, undone, and shown at once; the card opens with Done"""
    def camera():
        return viewer.page.evaluate("[billow.map.getZoom(), ...billow.map.getCenter().toArray()]")

    def focused():
        return viewer.page.evaluate("document.activeElement.id")

    # Without a position in the address, the map would zoom to a route.
    viewer.open("#layers=hexagons")
    viewer.jump("{ center: [-96, 39], zoom: 4 }")
    start = camera()
    viewer.page.click("#route-pick")
    viewer.page.wait_for_selector(".picking")
    viewer.page.mouse.click(500, 300)
    viewer.until("document.querySelector('.picking p').textContent.includes('Click the next point')")
    assert not viewer.page.is_visible("#details"), "a click picks, and asks nothing"
    viewer.page.mouse.click(640, 340)
    viewer.until("location.hash.includes('route=')")
    # No card takes the next click, and the map stays where it is.
    viewer.until("billow.map.getSource('route') && document.querySelectorAll('.waypoint').length === 2")
    assert not viewer.page.is_visible("#route"), "the card opens with Done"
    viewer.page.mouse.click(930, 300)
    viewer.until("document.querySelector('.picking p').textContent.startsWith('3 points')")
    viewer.until("document.querySelectorAll('.waypoint').length === 3")
    viewer.page.keyboard.press("Backspace")
    viewer.until("document.querySelector('.picking p').textContent.startsWith('2 points')")
    assert camera() == start
    viewer.page.focus("#map canvas")
    viewer.page.keyboard.press("Enter")
    viewer.until("document.querySelector('.picking p').textContent.startsWith('3 points')")
    viewer.until("document.querySelectorAll('.waypoint').length === 3")
    viewer.page.keyboard.press("Backspace")
    viewer.until("document.querySelector('.picking p').textContent.startsWith('2 points')")
    viewer.until("new URLSearchParams(location.hash.slice(1)).get('route').split(' ').length === 2")
    route = viewer.page.evaluate("new URLSearchParams(location.hash.slice(1)).get('route')").split(" ")
    assert all(re.fullmatch(r"\d{4}[NS]\d{5}[EW]", point) for point in route) and len(route) == 2, route
    viewer.page.keyboard.press("Escape")
    viewer.eventually(lambda: viewer.page.locator(".picking").count() == 0)
    viewer.eventually(lambda: viewer.page.get_attribute("#route-pick", "aria-pressed") == "false")
    assert focused() == "route-pick", focused()
    viewer.until("document.querySelector('#route-body h3')?.textContent.split(' ').length === 2")
    assert viewer.page.is_visible("#route")
    # With a route, its card closes for the picking, and Done opens it again.
    viewer.page.click("#route-pick")
    viewer.page.wait_for_selector("#route", state="hidden")
    viewer.page.click(".picking .go")
    viewer.page.wait_for_selector("#route", state="visible")
    assert focused() == "route-pick", focused()
    # On a phone the button is in the sheet, which is closed.
    viewer.page.set_viewport_size({"width": 390, "height": 844})
    viewer.page.click("#toggle")
    viewer.page.click("#route-pick")
    viewer.page.click(".picking .go")
    viewer.page.wait_for_selector("#route", state="visible")
    assert focused() == "route-close", focused()
    viewer.page.set_viewport_size({"width": 1000, "height": 700})
    # A click while the map takes the new size is none.
    viewer.until("billow.map.getCanvas().clientWidth === 1000 && document.querySelector('#map').ariaBusy === 'false'")
    viewer.page.mouse.click(500, 420)
    viewer.until("!document.querySelector('#details').hidden")


def route_loading(viewer):
    """the card of a route says at once that the route loads, also instead of an earlier route"""
    held = []
    viewer.page.route("**/profiles.json?*", lambda route: held.append(route))
    viewer.open("#layers=hexagons&map=4.00/39.000/-96.000&route=KJFK+KORD")
    viewer.until("document.querySelector('#route-body').textContent === 'KJFK KORDLoading the route…'")
    viewer.eventually(lambda: held)
    held.pop().continue_()
    viewer.until("document.querySelector('#route-body').textContent.includes('along the route')")
    viewer.page.evaluate("void (location.hash = location.hash.replace('KORD', 'KATL'))")
    viewer.until("document.querySelector('#route-body').textContent === 'KJFK KATLLoading the route…'")
    viewer.eventually(lambda: held)
    held.pop().continue_()
    viewer.until("document.querySelector('#route-body').textContent.includes('along the route')")


def follow_flight(viewer):
    """a flight is found by call sign and followed, its track is drawn, and changed alerts are announced"""
    # The simulated turbulence ahead changes at any time. This one changes only with the test.
    ahead = [{"text": "Light in 9 NM", "members": ["a"], "longitude": 0, "latitude": 0, "severity": 1}]

    def meet(answer):
        answer.update(clusters=ahead, hazards=[])
        answer.pop("field", None)

    viewer.change_answer("**/alerts", meet)
    # Banners are announced at the same place.
    viewer.page.add_init_script("""window.announced = [];
        addEventListener("DOMContentLoaded", () => {
            const node = document.querySelector("#announcement");
            new MutationObserver(() => announced.push(node.textContent)).observe(node,
                { childList: true, characterData: true, subtree: true });
        });""")
    viewer.open("#layers=hexagons&map=4.00/39.000/-96.000")
    viewer.page.fill("#flight-text", "NOSUCH9")
    viewer.page.click("#flight-form .go")
    viewer.until("document.querySelector('#flight-problem').textContent.includes('No aircraft')")
    sign, address = viewer.page.evaluate("""async () => {
        const { features } = await (await fetch("collections/traffic/items?limit=1000")).json();
        // A call sign may be that of two flights.
        const isOne = (sign) => features.filter(({ properties }) => properties.callsign === sign).length === 1;
        // The highest one lands last.
        const [{ properties }] = features.filter(({ properties }) =>
            properties.callsign && isOne(properties.callsign) && !properties.onGround)
            .sort((one, other) => (other.properties.altitude ?? 0) - (one.properties.altitude ?? 0));
        return [properties.callsign, properties.icao24];
    }""")
    viewer.page.fill("#flight-text", "")
    viewer.page.locator("#flight-text").press_sequentially(sign[:4].lower())
    viewer.until("(sign) => [...document.querySelectorAll('#flights option')].some(({ value }) => value === sign)"
                 " || document.querySelectorAll('#flights option').length === 12", sign)
    viewer.page.fill("#flight-text", sign.lower())
    viewer.page.click("#flight-form .go")
    viewer.until("(sign) => document.querySelector('#details-body').textContent.includes(`Ahead of ${sign}`)", sign)
    viewer.eventually(lambda: f"flight={address}" in viewer.hash())
    # The card has the level, the speed and the age of the position, and the map has the aircraft without its layer.
    text = viewer.page.inner_text("#details-body")
    assert re.search(r"FL\d{3}, \d+ kt, \d{3}° · seen .* ago", text), text
    assert viewer.page.locator(".place .followed path").count() == 1
    viewer.until("billow.map.getSource('flight-track') !== undefined")
    viewer.until("document.querySelectorAll('#details .group').length > 0")
    # The next response contains other alerts.
    ahead.append({**ahead[0], "text": "Severe in 9 NM", "severity": 4})
    viewer.jump("{ zoom: 7 }")
    viewer.page.check("#history input[value='4']", force=True)
    viewer.until("announced.some((text) => text.includes('Severe reported'))")
    # A notice names the time and what was ahead before. It stays until the user dismisses it, and marks the title.
    words = viewer.text(".notice p")
    changed = re.fullmatch(
        rf"Ahead of {sign} since \d\d:\d\dZ: .*Severe reported \(before: Light reported\)\.", words)
    assert changed, words
    viewer.until("document.title.startsWith('(!) ')")
    changes = "announced.filter((text) => text.startsWith('Ahead of')).length"
    assert viewer.page.evaluate(changes) == 1
    viewer.page.wait_for_timeout(2_500)
    assert viewer.page.evaluate(changes) == 1 and viewer.text(".notice p") == words
    for width, height in SIZES:
        viewer.page.set_viewport_size({"width": width, "height": height})
        viewer.eventually(lambda: not viewer.page.evaluate(LAYOUT_PROBLEMS, width <= 900 or height <= 560))
        assert viewer.page.is_visible(".notice button")
    viewer.page.set_viewport_size({"width": 1000, "height": 700})
    viewer.page.focus(".notice button")
    # Elsewhere Escape closes the card.
    viewer.page.keyboard.press("Escape")
    viewer.until("document.querySelector('.notice') === null && !document.title.startsWith('(!)')")
    # The focus is in the card, which still follows the flight.
    assert viewer.page.evaluate("document.activeElement.id") == "details" and f"flight={address}" in viewer.hash()
    # Other alerts after another filter are no news.
    viewer.page.select_option("#severity", "4")
    viewer.until("document.querySelector('#details-body').textContent.includes('Only Moderate-Occasionally Severe')")
    viewer.page.select_option("#severity", "0")
    viewer.until("!document.querySelector('#details-body').textContent.includes('Only Moderate-Occasionally Severe')")
    assert viewer.page.locator(".notice").count() == 0
    # A search without a result leaves the followed flight, and says so until the next one.
    viewer.page.fill("#flight-text", "NOSUCH9")
    viewer.page.click("#flight-form .go")
    viewer.until(
        "(sign) => document.querySelector('#flight-problem').textContent.includes(`still follows ${sign}`)", sign)
    # Another flight that is followed by its address ends these words.
    other = viewer.page.evaluate("""async (address) => {
        const { features } = await (await fetch("collections/traffic/items?limit=1000")).json();
        return features.map(({ properties }) => properties.icao24).find((icao24) => icao24 !== address);
    }""", address)
    viewer.page.evaluate("([one, other]) => { location.hash = location.hash.replace(one, other); }", [address, other])
    viewer.until("document.querySelector('#flight-problem').hidden")
    viewer.page.evaluate("([one, other]) => { location.hash = location.hash.replace(other, one); }", [address, other])
    viewer.until("(sign) => document.querySelector('#details-body').textContent.includes(`Ahead of ${sign}`)", sign)
    viewer.page.click("#flight-clear")
    viewer.until("document.querySelector('#details').hidden && !location.hash.includes('flight=')")
    # The link follows the same flight.
    viewer.page.unroute("**/alerts")
    viewer.open(f"#layers=hexagons&flight={address}")
    viewer.until("(sign) => document.querySelector('#details-body').textContent.includes(`Ahead of ${sign}`)", sign)
    # An aircraft's own card follows it too.
    viewer.page.click("#flight-clear")
    viewer.until("!location.hash.includes('flight=')")
    flight = viewer.page.evaluate("async (id) => (await fetch(`collections/traffic/items/${id}`)).json()", address)
    longitude, latitude = flight["geometry"]["coordinates"]
    # The aircraft flies on meanwhile, and may have left the place before the page has opened.
    viewer.page.route("**/collections/traffic/items?*", lambda route: route.fulfill(
        json={"type": "FeatureCollection", "features": [flight]}))
    viewer.open(f"#layers=traffic&map=9/{latitude}/{longitude}&place={latitude}/{longitude}")
    viewer.page.click(f"#details li:has-text('{sign}') button:text-is('Follow')")
    viewer.eventually(lambda: f"flight={address}" in viewer.hash())


def open_cards(viewer):
    """open cards of a place and of a route are in the address, and a link opens them"""
    viewer.open("#layers=hexagons&map=4.00/39.000/-96.000")
    viewer.page.mouse.click(560, 330)
    viewer.until("!document.querySelector('#details-body').textContent.includes('Loading')")
    viewer.eventually(lambda: "&place=" in viewer.hash())
    words, link = viewer.text("#details-body"), viewer.hash()
    viewer.page.keyboard.press("Escape")
    viewer.eventually(lambda: "place=" not in viewer.hash())
    viewer.page.goto("about:blank")
    viewer.open(link)
    viewer.until("!document.querySelector('#details').hidden")
    viewer.until("!document.querySelector('#details-body').textContent.includes('Loading')")
    viewer.eventually(lambda: viewer.text("#details-body").split("\n")[0] == words.split("\n")[0])
    # A link that is opened meanwhile shows its own cards.
    viewer.page.evaluate("location.hash = '#layers=hexagons&route=KSEA+KLAX'")
    viewer.until("document.querySelector('#details').hidden && !document.querySelector('#route').hidden")
    viewer.page.click("#route-close")
    viewer.until("location.hash.includes('routecard=closed')")
    link = viewer.hash()
    viewer.page.goto("about:blank")
    viewer.open(link)
    viewer.until("billow.map.getSource('route') !== undefined")
    assert not viewer.page.is_visible("#route"), "a closed card stays closed"
    viewer.page.click("#route-form .go")
    viewer.until("!document.querySelector('#route').hidden && !location.hash.includes('routecard')")


def take_along(viewer):
    """the link, the files and the snippets for other maps match the view, and each works"""
    viewer.open("#layers=hexagons,hazards&opacity=hazards:50&map=4.00/39.000/-96.000")
    viewer.page.click("#share")
    viewer.page.wait_for_selector("dialog.share[open]")
    viewer.eventually(lambda: viewer.page.input_value("#share-link") == viewer.page.url)
    links = viewer.page.evaluate(
        "[...document.querySelectorAll('.downloads a')].map(({ href, textContent }) => [textContent, href])")
    types = {"PNG": "image/png", "animated PNG": "image/apng", "GeoJSON": "application/geo+json",
             "CSV": "text/csv", "MBTiles": "application/vnd.sqlite3", "PMTiles": "application/vnd.pmtiles"}
    for what, url in links:
        answer = viewer.page.request.get(url, timeout=120_000)
        kind = types[what.split("(")[1].rstrip(")")]
        assert answer.ok and answer.headers["content-type"].startswith(kind), (what, url, answer.status)
    with viewer.page.expect_download() as download:
        viewer.page.click(".downloads a:has-text('Hexagons (CSV)')")
    assert re.fullmatch(r"billow-hexagons-live-\d{8}T\d{6}Z\.csv", download.value.suggested_filename)
    texts = dict(viewer.page.evaluate(
        "[...document.querySelectorAll('.share details')].map((node) => "
        "[node.dataset.title, node.querySelector('pre').textContent])"))
    for title, text in texts.items():
        for url in re.findall(r"https?://[^\"\s]+", text):
            url = url.replace("{z}/{x}/{y}", "4/3/6").replace("{r}", "@2x")
            assert viewer.page.request.get(url, timeout=120_000).ok, (title, url)
    # The lines for MapLibre draw the tiles on another site's page.
    other = viewer.context.new_page()
    other.set_content("<div id=map style='width: 600px; height: 400px'></div>")
    other.add_script_tag(path=str(ROOT / "Public/vendor/maplibre/maplibre-gl.js"))
    asked = []
    other.on("response", lambda response: "/tiles/" in response.url and asked.append((response.status, response.url)))
    lines = texts["MapLibre GL"]
    other.evaluate("""(lines) => new Promise((resolve) => {
        const style = { version: 8, sources: {}, layers: [] };
        const map = new maplibregl.Map({ container: "map", style });
        map.once("style.load", () => { new Function("map", lines)(map); map.once("idle", resolve); });
    })""", lines)
    pictures = [status for status, url in asked if ".png" in url]
    assert pictures and set(pictures) == {200}, asked
    viewer.page.keyboard.press("Escape")
    viewer.until("!document.querySelector('dialog.share')")


class Steps:
    """Counts what a user does: each click, choice, drag, typed text and key is a step."""

    MOST = 4

    def __init__(self, page):
        self.page, self.count = page, 0

    def __getattr__(self, name):
        assert name in ("click", "fill", "select_option", "press"), name

        def step(*arguments, **options):
            self.count += 1
            return getattr(self.page, name)(*arguments, **options)

        return step


def new_user(viewer):
    """a new user completes each of eight tasks in at most four steps, in a wide window and on a phone"""
    viewer.context.grant_permissions(["clipboard-read", "clipboard-write"])
    counts = {}

    def task(name, perform, width):
        viewer.page.goto("about:blank")
        viewer.open()
        steps = Steps(viewer.page)
        # On a phone the settings are a sheet.
        if width < 900 and perform in (route, levels, download, address, link, flight):
            steps.click("#toggle")
        perform(steps)
        counts[name, width] = steps.count

    def expect_map():
        """The answer is visible: no sheet covers it."""
        viewer.eventually(lambda: viewer.page.viewport_size["width"] > 900 or not viewer.page.is_visible("#settings"))

    def route(steps):
        steps.fill("#route-text", "KJFK–EGLL FL370")
        steps.press("#route-text", "Enter")
        expect_map()
        viewer.until("document.querySelector('#route-body h3')?.textContent === 'KJFK EGLL'")
        viewer.until("document.querySelector('#route-body').textContent.includes('planned FL370')")
        # The profile starts now and has the times of the flight, so it covers the next two hours.
        viewer.until("document.querySelectorAll('#route-body .plot path').length > 0")
        profiles = [url for url in viewer.requests if "/profiles.json" in url]
        assert profiles and all("departure=" in url for url in profiles) and "level=37000" in profiles[-1], profiles

    def loop(steps):
        steps.select_option("#span", "-6h")
        steps.click("#play")
        viewer.until("document.querySelector('#state-text').textContent === 'Playing'")
        viewer.until("document.querySelectorAll('#marks span').length === 19")

    def levels(steps):
        steps.select_option("#severity", "3")
        steps.fill("#lowest", "30")
        steps.fill("#highest", "40")
        viewer.until("document.querySelector('#filtered').textContent === 'Only FL300 – FL400, Moderate or worse'")
        if viewer.page.viewport_size["width"] < 900:
            viewer.eventually(lambda: "FL300 – FL400 · Moderate or worse" in viewer.text("#summary"))
            # The sheet has shrunk, so the map is visible without a further step.
            viewer.until("""(() => {
                const { top } = document.querySelector('#settings').getBoundingClientRect();
                const bar = document.querySelector('#top').getBoundingClientRect();
                return top >= innerHeight / 2 && top - bar.bottom > innerHeight / 5;
            })()""")
        viewer.until_shown()

    def download(steps):
        steps.click("#share")
        with viewer.page.expect_download() as file:
            steps.click(".downloads a:has-text('GeoJSON')")
        assert file.value.suggested_filename.endswith(".geojson"), file.value.suggested_filename

    def address(steps):
        steps.click("#share")
        steps.click("button:has-text('Copy address')")
        viewer.until("navigator.clipboard.readText().then((text) => text.includes('/{z}/{x}/{y}.png?'))")

    def link(steps):
        steps.click("#share")
        steps.click("button:has-text('Copy link')")
        viewer.until("navigator.clipboard.readText().then((text) => text === location.href)")

    def flight(steps):
        sign = viewer.page.evaluate("""async () => {
            const { features } = await (await fetch("collections/traffic/items?limit=1000")).json();
            const signs = features.map(({ properties }) => properties.callsign).filter(Boolean);
            return signs.find((sign) => signs.filter((other) => other === sign).length === 1);
        }""")
        steps.fill("#flight-text", sign)
        steps.press("#flight-text", "Enter")
        viewer.until(
            "(sign) => document.querySelector('#details-body').textContent.includes(`Ahead of ${sign}`)", sign)
        expect_map()

    def age(steps):
        viewer.eventually(lambda: re.match(r"Picture .*\d\d:\d\d.*Z · data .* old", viewer.text("#times")))

    for width, height in ((1440, 900), (390, 844)):
        viewer.page.set_viewport_size({"width": width, "height": height})
        for perform in (route, loop, levels, download, address, link, flight, age):
            task(perform.__name__, perform, width)
    assert all(count <= Steps.MOST for count in counts.values()), counts


def torn_picture(viewer):
    """a picture whose tiles have different fields says so instead of speaking of hatches, and is renewed at once"""
    viewer.page.goto(viewer.base)
    viewer.until_field("-120,30,-80,50")
    torn = [True]

    def answer(route):
        response = route.fetch()
        headers = dict(response.headers)
        if torn[0] and re.search(r"/\d+/\d*[13579]/\d+[.@]", route.request.url):
            headers.pop("x-field", None)
        route.fulfill(response=response, headers=headers)

    viewer.page.route("**/tiles/**/latest/**.png*", answer)
    viewer.page.goto("about:blank")
    viewer.open("#layers=gtg,hexagons&map=3/40/-95")
    viewer.eventually(lambda: "GTG is not in this picture, or only in a part" in viewer.text("#banners"))
    assert "hatched" not in viewer.text("#banners"), viewer.text("#banners")
    torn[0] = False
    viewer.eventually(lambda: "Hatched: no GTG" in viewer.text("#legend"))
    viewer.page.unroute_all(behavior="ignoreErrors")


def lost_contact(viewer):
    """the page reports lost contact, and continues when the server is reachable"""
    viewer.open()
    viewer.expected = ["ERR_FAILED", "ERR_INTERNET_DISCONNECTED", "Failed to load", "dynamically imported module"]
    viewer.page.route("**/*", lambda route: route.abort())
    viewer.page.evaluate("dispatchEvent(new Event('online'))")
    viewer.until("document.querySelector('#state-text').textContent === 'No contact'")
    # A response that was in flight still counts, so one evaluation checks both.
    viewer.until("""document.querySelector("#sources").textContent.includes("unknown")
        && !document.querySelector("#sources [data-level=good]")""")
    # Neither a chosen time nor a step takes effect later.
    for choose, words in ((lambda: viewer.page.check("#when input[value=past]", force=True), "Z is not saved on this"),
                          (lambda: viewer.page.click("#step-back"), "It is not saved on this device")):
        choose()
        viewer.eventually(lambda: words in viewer.text("#banners"))
        assert "time=" not in viewer.hash() and viewer.page.get_attribute("#dock", "data-open") == "false"
    viewer.page.unroute("**/*")
    viewer.page.evaluate("dispatchEvent(new Event('online'))")
    viewer.until("document.querySelector('#state-text').textContent.startsWith('Live')")
    viewer.until_shown()
    assert "time=" not in viewer.hash() and viewer.drawn() == {"/latest/"}, (viewer.hash(), viewer.drawn())


def ages_without_contact(viewer):
    """without contact each age on the page grows with the clock, and the cards of place and route name their time"""
    viewer.page.add_init_script("""window.ahead = 0;
        const { now } = Date;
        Date.now = () => now() + window.ahead;""")
    observed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 120))
    cell = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [
        [[-101, 38], [-99, 38], [-99, 40], [-101, 40], [-101, 38]]]}, "properties": {
            "h3": "842699dffffffff", "severity": 3, "reports": 2, "altitudeMin": 35000, "altitudeMax": 35000,
            "observedAt": observed}}
    point = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [-100, 39]}, "properties": {
        "icao24": "abc123", "callsign": "TEST1", "altitude": 35000, "severity": 2, "observedAt": observed}}
    alerts = {"clusters": [], "hazards": [], "stale": True, "dataTime": observed, "query": {
        "minAltitude": 34000, "maxAltitude": 36000, "distance": 100}}
    answers = {
        "hexagons/items?*bbox*": {"type": "FeatureCollection", "features": [cell, cell]},
        "pireps/items?*": {"type": "FeatureCollection", "features": [point]},
        "traffic/items?*": {"type": "FeatureCollection", "features": [point]},
        "traffic/items/abc123*": point,
    }

    def answering(answer):
        return lambda route: route.fulfill(json=answer)

    for pattern, answer in answers.items():
        viewer.page.route(f"**/collections/{pattern}", answering(answer))
    viewer.page.route("**/alerts", answering(alerts))
    details = "document.querySelector('#details-body').textContent"
    viewer.open("#layers=hexagons,pireps,traffic&map=6/39/-100&place=39/-100&route=KDEN+KMCI")
    viewer.until(f"{details}.split(' ago').length === 4")
    viewer.until("document.querySelectorAll('#route-body .plot').length === 1")
    viewer.expected = ["ERR_", "Failed to load"]

    requested = set()
    viewer.page.on("request", lambda request: requested.add(request))
    for end in ("requestfinished", "requestfailed"):
        viewer.page.on(end, lambda request: requested.discard(request))

    def lose_contact():
        """Loses contact, and puts the clock forward. A late response would tell the page of the server's clock."""
        viewer.page.route("**/*", lambda route: route.abort())
        viewer.page.evaluate("dispatchEvent(new Event('online'))")
        viewer.eventually(lambda: viewer.text("#state-text") == "No contact"
                          and all("/events" in request.url for request in requested))
        viewer.page.evaluate("window.ahead = 1_200_000")

    lose_contact()
    viewer.eventually(lambda: "2 min" not in re.sub(r"[23]\d min", "", viewer.page.text_content("#details-body")))
    words = viewer.page.text_content("#details-body")
    assert len(re.findall(r"2[2-9] min ago", words)) == 3 and len(re.findall(r"2[2-9] min(?! ago)", words)) == 2, words
    assert re.search(r"This card is of .+Z, with its distances", viewer.text("#details")), viewer.text("#details")
    words = viewer.page.text_content("#route-body")
    assert re.search(r"No contact with the server. These conditions were loaded at .+Z", words), words
    viewer.eventually(lambda: re.search(r"Picture .+, 2\d min old · data 2\d min old", viewer.text("#times")))
    viewer.eventually(lambda: re.search(r"2\d min ago", viewer.text("#frame-age")))
    viewer.eventually(lambda: re.search(r"unknown; last: .+, 2\d min", viewer.page.text_content("#sources")))
    # The card of a flight has the ages of its position, of stale data and of the report below it.
    viewer.page.unroute("**/*")
    viewer.page.evaluate("window.ahead = 0")
    viewer.open("#layers=hexagons&map=6/39/-100&flight=abc123")
    viewer.until(f"{details}.includes('The data is stale')")
    lose_contact()
    viewer.eventually(lambda: len(re.findall(r"2[2-9] min ago", viewer.page.text_content("#details-body"))) == 3)
    viewer.page.unroute_all(behavior="ignoreErrors")


def slow_settings(viewer):
    """a banner says so if the picture of new settings takes long, and is no announcement any more when it is there"""
    viewer.open("#layers=hexagons&map=4/39/-100")
    held = []
    viewer.page.route(re.compile(r"/tiles/.*minSeverity=3"), lambda route: held.append(route))
    viewer.page.select_option("#severity", "3")
    announced = lambda: viewer.page.text_content("#announcement")
    viewer.eventually(lambda: "The map does not show your new settings yet" in viewer.text("#banners"))
    viewer.eventually(lambda: announced().startswith("The map does not show your new settings yet"))
    assert viewer.text("#state-text") == "Loading…"
    viewer.page.unroute_all()
    for route in held:
        with contextlib.suppress(Exception):
            # The page may have given a request up.
            route.continue_()
    viewer.eventually(lambda: "new settings" not in viewer.text("#banners"))
    viewer.until_shown()
    assert "new settings" not in announced(), announced()


def words_of_pixels(viewer):
    """without contact the words keep the filter of the pixels, and a banner says that the new one is not on the map"""
    viewer.open("#layers=hexagons&map=4/39/-100&severity=3")
    viewer.eventually(lambda: viewer.text("#filtered") == "Only Moderate or worse")
    viewer.eventually(lambda: viewer.page.locator("#legend .filtered-out").count() == 3)
    viewer.expected = ["ERR_", "Failed to load"]
    viewer.page.route("**/*", lambda route: route.abort())
    viewer.page.select_option("#severity", "0")
    viewer.eventually(lambda: "The map does not show your new settings yet" in viewer.text("#banners"))
    assert viewer.text("#state-text") == "No contact" and viewer.page.get_attribute("#map", "aria-busy") == "true"
    assert viewer.text("#filtered") == "Only Moderate or worse"
    assert "Moderate or worse" in viewer.page.text_content("#summary")
    assert viewer.page.locator("#legend .filtered-out").count() == 3
    # The buttons are a part of the form.
    assert viewer.page.locator("#legend [data-severity='0'][aria-pressed=true][aria-busy=true]").count() == 1
    viewer.page.unroute("**/*")
    viewer.page.evaluate("dispatchEvent(new Event('online'))")
    viewer.eventually(lambda: viewer.page.locator("#legend .filtered-out").count() == 0)
    viewer.eventually(lambda: viewer.page.locator("#filtered").is_hidden())
    viewer.eventually(lambda: "new settings" not in viewer.text("#banners"))
    viewer.until_shown()


def missing_tiles(viewer):
    """a place whose tiles can't be loaded is hatched, in pictures and frames, in each size and scheme"""
    viewer.expected = ["503"]
    isBusy = False

    def answer(route):
        """Refuses the tiles east of 90° W, and all that could take their place."""
        zoom, column = map(int, re.search(r"/(\d+)/(\d+)/\d+(?:@2x)?\.png", route.request.url).groups())
        east = (column + 1) / 2 ** zoom * 360 - 180
        return route.fulfill(status=503) if isBusy and east > -90 else route.continue_()

    viewer.page.route("**/tiles/**/*.png*", answer)
    for width, height, scheme, layers in (
        (1000, 700, "light", "hexagons,gtg"), (390, 844, "dark", "pireps"),
        (820, 1180, "dark", "polygons,hexagons&opacity=polygons:10,hexagons:10"),
    ):
        isBusy = True
        viewer.page.goto("about:blank")
        viewer.page.emulate_media(color_scheme=scheme)
        viewer.page.set_viewport_size({"width": width, "height": height})
        viewer.open(f"#layers={layers}&map=4/39/-90")
        viewer.eventually(lambda: "HATCHED" in viewer.text("#banners"))
        viewer.eventually(lambda: viewer.text("#state-text") == "Problem")
        viewer.eventually(lambda: viewer.is_hatched(-88, 38) and not viewer.is_hatched(-92, 38))
        isBusy = False
        viewer.page.evaluate("dispatchEvent(new Event('online'))")
        viewer.eventually(lambda: not viewer.is_hatched(-88, 38) and "HATCHED" not in viewer.text("#banners"))
    # The frame on the map moves to a place whose tiles fail.
    viewer.jump("{ center: [-120, 39], zoom: 5 }")
    viewer.until_shown()
    viewer.page.clock.install()
    viewer.page.click("#step-back")
    viewer.until("billow.map.getStyle().layers.some(({ id }) => id.startsWith('timeline'))")
    isBusy = True
    viewer.jump("{ center: [-90, 39], zoom: 5 }")
    viewer.eventually(lambda: "HATCHED" in viewer.text("#banners"))
    viewer.eventually(lambda: viewer.is_hatched(-88, 38) and not viewer.is_hatched(-92, 38))
    isBusy = False
    # The frame requests failed tiles again after 15 s of the page's clock.
    viewer.page.clock.fast_forward(15_000)
    viewer.eventually(lambda: not viewer.is_hatched(-88, 38) and "HATCHED" not in viewer.text("#banners"))
    # An instant that the server refuses has no picture anywhere.
    viewer.expected += ["410", "400", "404"]
    viewer.page.goto("about:blank")
    viewer.page.goto(f"{viewer.base}/#layers=hexagons&map=4/39/-90&time=20010101T000000Z", wait_until="load")
    viewer.eventually(lambda: "The picture" in viewer.text("#banners"))
    viewer.eventually(lambda: viewer.is_hatched(-88, 38) and viewer.is_hatched(-92, 38))


def scaled_tiles(viewer):
    """while the server is silent, a zoom shows older tiles scaled, and only places without any are hatched"""
    held = []

    def release():
        viewer.page.unroute("**/tiles/**/*.png*")
        for route in held:
            # The page may have ended the request.
            with contextlib.suppress(Exception):
                route.continue_()
        held.clear()

    viewer.open("#layers=hexagons,pireps&map=5/39/-96")
    viewer.page.route("**/tiles/**/*.png*", lambda route: held.append(route))
    for zoom in (6, 7):
        viewer.jump(f"{{ zoom: {zoom} }}")
        viewer.eventually(lambda: held)
        # The old tiles stay, and a hatch would take seconds to come.
        for _ in range(12):
            viewer.page.wait_for_timeout(250)
            assert not viewer.is_hatched(-96, 39), zoom
    # No tile is there for another place. Zoomed out, the map still has those of the middle.
    viewer.jump("{ center: [40, 50] }")
    viewer.eventually(lambda: viewer.is_hatched(40, 50))
    viewer.jump("{ center: [-96, 39], zoom: 5 }")
    release()
    viewer.eventually(lambda: not viewer.is_hatched(-96, 39))
    viewer.until_shown()
    viewer.page.route("**/tiles/**/*.png*", lambda route: held.append(route))
    viewer.jump("{ zoom: 3.2 }")
    viewer.eventually(lambda: viewer.is_hatched(-70, 39))
    assert not viewer.is_hatched(-96, 39)
    release()


def resting(viewer):
    """a hidden page sends no requests, and is live again as soon as it is visible"""
    viewer.page.clock.install()
    viewer.open("#layers=hexagons")
    see = """(state) => {
        Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    viewer.page.evaluate(see, "hidden")
    viewer.page.wait_for_timeout(1_000)
    viewer.requests.clear()
    # Data arrives every 10 s, and the page polls every 15 to 30 s of its clock.
    viewer.page.wait_for_timeout(11_000)
    for _ in range(3):
        viewer.page.clock.fast_forward(15_000)
        viewer.page.wait_for_timeout(500)
    assert not viewer.requests, viewer.requests
    viewer.page.evaluate(see, "visible")
    viewer.until("document.querySelector('#state-text').textContent.startsWith('Live')")
    deadline = time.monotonic() + WAIT_MILLISECONDS / 1000
    while not all(any(part in url for url in viewer.requests) for part in ("/status", "/events")):
        assert time.monotonic() < deadline, viewer.requests
        viewer.page.wait_for_timeout(100)


def lost_module(viewer):
    """a page that lacks a part of itself says so, and shows no picture that nothing renews"""
    viewer.expected = ["ERR_FAILED"]
    viewer.page.route("**/js/missing-areas.js", lambda route: route.abort())
    viewer.page.goto(f"{viewer.base}/#layers=hexagons", wait_until="load")
    viewer.eventually(lambda: "could not be loaded. Reload it" in viewer.text(".fatal"))
    viewer.until("!document.querySelector('#map canvas')")
    viewer.page.unroute("**/js/missing-areas.js")


def lost_graphics(viewer):
    """a lost graphics context has a banner, and the map returns with it, in the same view"""
    longitude, latitude = viewer.busy_place()
    link = f"#layers=hexagons&map=4/{latitude}/{longitude}"
    viewer.open(link)
    part = (400, 150, 500, 300)
    viewer.eventually(lambda: viewer.vivid(*part) > 500)
    viewer.page.evaluate("""() => {
        window.lost = billow.map.getCanvas().getContext("webgl2").getExtension("WEBGL_lose_context");
        lost.loseContext();
    }""")
    viewer.eventually(lambda: "graphics context was lost" in viewer.text("#banners"))
    viewer.expected = ["WebGL", "context"]
    with viewer.page.expect_navigation():
        viewer.page.evaluate("void setTimeout(() => lost.restoreContext())")
    viewer.until_shown()
    viewer.eventually(lambda: viewer.vivid(*part) > 500 and "graphics" not in viewer.text("#banners"))
    assert f"map=4.00/{latitude}.000" in viewer.hash(), viewer.hash()


def visible_again(viewer):
    """a page that becomes visible asks for the timeline's frames at once, because the live one may be old"""
    viewer.open("#layers=hexagons&span=-1h&map=4/39/-96")
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#state-text').textContent === 'Past'")
    viewer.page.keyboard.press("End")
    viewer.until("document.querySelector('#state-text').textContent.startsWith('Live')")
    viewer.until_shown()
    # Without its timers, the page requests only what the event makes it request.
    viewer.page.evaluate("""() => {
        const last = setTimeout(() => {});
        window.setTimeout = () => 0;
        for (let id = 1; id <= last; id += 1) clearTimeout(id);
    }""")
    viewer.page.wait_for_timeout(1_000)
    viewer.requests.clear()
    viewer.page.evaluate("void document.dispatchEvent(new Event('visibilitychange'))")
    viewer.eventually(lambda: any("/timeline.json" in url for url in viewer.requests))


def offline(viewer):
    """a page that was opened before works without the server, with its last picture, and is not live"""
    viewer.expected = ["ERR_", "Failed to load", "Failed to fetch", "MIME"]
    context = viewer.browser.new_context(viewport={"width": 1000, "height": 700})
    try:
        page = viewer.page = context.new_page()
        page.set_default_timeout(WAIT_MILLISECONDS)
        loaded_urls = set()
        page.on("requestfinished", lambda request: loaded_urls.add(request.url))
        viewer.open("#layers=hexagons&map=4.00/39.000/-96.000")
        viewer.until("navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller !== null)")
        page.reload(wait_until="load")
        viewer.until_shown()
        viewer.until("""async () => (await (await caches.open("billow-data")).keys()).some(({ url }) =>
            url.includes("/tiles/hexagons/latest/"))
            && (await caches.keys()).some((name) => name.startsWith("billow-release-"))""")
        page.wait_for_timeout(1_000)
        viewer.eventually(lambda: "Live" in viewer.text("#state-text"))
        # A click does not wait for the worker, which stores no features.
        viewer.until("""async () => {
            const { href } = new URL("collections/hexagons", document.baseURI);
            await (await fetch(href)).text();
            return performance.getEntriesByName(href).some(
                ({ workerMatchedSourceType }) => workerMatchedSourceType === "network");
        }""")
        # The browser stores the timeline's frames.
        loaded = """(() => {
            const marks = [...document.querySelectorAll("#marks span")];
            return marks.length > 1 && marks.every((mark) => mark.hasAttribute("data-ready"));
        })()"""
        page.focus("#scrubber")
        page.keyboard.press("Home")
        viewer.until(loaded)
        page.click("#to-live")
        viewer.eventually(lambda: "Live" in viewer.text("#state-text"))
        # The worker saves what the page has loaded, and misses nothing of it.
        for part in ("/tiles/hexagons.json?", "/legend.json?", "/styles", "/status", "/timeline.json?layers="):
            viewer.until("""async (part) => (await (await caches.open("billow-data")).keys()).some(({ url }) =>
                url.includes(part))""", part)
        context.set_offline(True)
        page.reload(wait_until="load")
        viewer.until("document.querySelector('#state-text').textContent === 'No contact'")
        viewer.until("document.querySelector('#frame-time').textContent.endsWith('Z')")
        viewer.eventually(lambda: "saved on this device" in viewer.text("#banners"))
        viewer.eventually(lambda: "ago" in viewer.text("#frame-age"))
        # Elsewhere the device has no tiles.
        viewer.eventually(lambda: "HATCHED" not in viewer.text("#banners"))
        viewer.jump("{ center: [130, -25], zoom: 5 }")
        viewer.eventually(lambda: "HATCHED" in viewer.text("#banners") and viewer.is_hatched(130, -25))
        viewer.jump("{ center: [-96, 39], zoom: 4 }")
        viewer.eventually(lambda: "HATCHED" not in viewer.text("#banners") and not viewer.is_hatched(-96, 39))
        # Tiles that were saved at another time are next to those of this picture, and the page says so.
        def is_mixed():
            """Makes a tile older, and returns whether the page says so. The worker may save the tile again."""
            page.evaluate("""async () => {
                const cache = await caches.open("billow-data");
                const tile = (await cache.keys()).find(({ url }) => url.includes("/tiles/hexagons/latest/"));
                const saved = await cache.match(tile);
                const headers = new Headers(saved.headers);
                headers.set("X-Frame-Time", new Date(Date.now() - 7_200_000).toISOString());
                await cache.put(tile, new Response(await saved.blob(), { headers }));
            }""")
            page.reload(wait_until="load")
            viewer.eventually(lambda: viewer.text("#times").startswith("Picture "))
            return "were saved at different times, from" in viewer.text("#banners")

        viewer.eventually(is_mixed)
        # The header states the age of the oldest one, and no younger age of the data.
        viewer.eventually(lambda: viewer.text("#times").count("2 h 0") == 2)
        viewer.eventually(lambda: viewer.page.locator("#legend li").count() == 5)
        viewer.until("billow.map.getStyle().layers.some(({ paint }) => paint?.['raster-opacity'] === 1)")
        page.focus("#scrubber")
        page.keyboard.press("Home")

        def frames_are_ready():
            """The frames of the saved timeline, but for those of data that arrived after the frames had been loaded."""
            templates = page.evaluate("""async () => {
                const cache = await caches.open("billow-data");
                const key = (await cache.keys()).find(({ url }) => url.includes("/timeline.json?layers="));
                return (await (await cache.match(key)).json()).layers[0].frames.map(({ tiles }) => tiles);
            }""")
            ends = [template.split("{z}/{x}/{y}") for template in templates]
            counts = [sum(url.startswith(start) and url.endswith(end) for url in loaded_urls) for start, end in ends]
            known = [index for index, count in enumerate(counts) if count == max(counts) > 0]
            assert len(known) > len(templates) - 3, counts
            return page.evaluate("""(known) => {
                const marks = document.querySelectorAll("#marks span");
                return known.every((index) => marks[index]?.hasAttribute("data-ready"));
            }""", known)

        viewer.eventually(frames_are_ready)
        viewer.eventually(lambda: viewer.drawn() and viewer.drawn() != {"/latest/"})
        page.click("#to-live")
        # The status page is saved, and nothing of it counts as the state of now. Other pages have a notice.
        page.goto(f"{viewer.base}/status", wait_until="load")
        viewer.eventually(lambda: viewer.text("#state") == "can't be reached")
        viewer.eventually(lambda: re.search(
            r"No contact .+ data saved on this device\. Last update: .+Z, .+ ago", viewer.text("#banners")))
        assert "SIMULATED" in viewer.text("#banners") and "last response" in viewer.text("#about")
        rows = page.locator("#sources tbody tr").count()
        assert rows > 0 and viewer.text("#sources").count("unknown") == rows, viewer.text("#sources")
        for path in ("examples/", "status?f=json", "collections/hexagons/items?f=html", "maps/hexagons.png?width=64"):
            page.goto(f"{viewer.base}/{path}", wait_until="load")
            assert viewer.text("h1") == "No contact with the server", path
        page.click("a")
        viewer.eventually(lambda: "saved on this device" in viewer.text("#banners"))
        context.set_offline(False)
        page.evaluate("dispatchEvent(new Event('online'))")
        viewer.until("document.querySelector('#state-text').textContent.startsWith('Live')")
        viewer.until("document.querySelector('#frame-time').textContent === 'Live'")
    finally:
        context.close()
        viewer.page = viewer.context.new_page()


class Prefixes:
    """A proxy with the same server below several paths of one origin, as `with Prefixes(base) as address`. While its
    event `responds` is cleared, it accepts requests and stays silent. With `gives_page`, it still gives the page
    and its files."""

    def __init__(self, base):
        responds = self.responds = threading.Event()
        responds.set()
        self.gives_page, prefixes = False, self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                _, prefix, path = self.path.split("/", 2)
                if path and not path.startswith("assets/") or not prefixes.gives_page:
                    responds.wait()
                headers = {name: value for name, value in self.headers.items()
                           if name.lower() not in ("host", "connection", "accept-encoding", "x-api-key")}
                try:
                    # The events would never end.
                    answer = None if path.startswith("events") else urlopen(Request(f"{base}/{path}", headers=headers))
                except HTTPError as error:
                    answer = error
                status = answer.status if answer else 404
                body = answer.read() if answer else b""
                kind = answer.headers.get("Content-Type", "") if answer else ""
                if "json" in kind:
                    body = body.replace(f"{base}/".encode(), f"http://{self.headers['Host']}/{prefix}/".encode())
                self.send_response(status)
                for name, value in answer.headers.items() if answer else ():
                    if name.lower() not in ("content-length", "connection", "transfer-encoding", "date", "server"):
                        self.send_header(name, value)
                # A body of 304 has the length of another response.
                if status != 304:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    # The page may have aborted the request.
                    with contextlib.suppress(BrokenPipeError):
                        self.wfile.write(body)

            do_HEAD = do_GET

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def two_servers(viewer):
    """two servers of one origin never read one another's key, first tiles or saved files"""
    viewer.expected = ["404", "ERR_"]
    context = viewer.browser.new_context(viewport={"width": 1000, "height": 700})
    own_page, own_base = viewer.page, viewer.base
    try:
        page = viewer.page = context.new_page()
        page.set_default_timeout(WAIT_MILLISECONDS)
        given = {}
        page.on("request", lambda request: given.setdefault(
            (urlparse(request.url).path.split("/")[1], request.headers.get("x-api-key")), request.url))
        with Prefixes(own_base) as address:
            for path in ("/a", "/b"):
                viewer.base = address + path
                viewer.open("#layers=hexagons")
                # The page saves its files, and then its data, under the names of its own server.
                for name in ("release-", "data"):
                    viewer.until("async (name) => (await caches.keys()).some((each) => each.startsWith(name))",
                                 f"{path}/ billow-{name}")
                stored = page.evaluate("Object.keys(localStorage)")
                assert f"{path}/ billow-first-picture" in stored, stored
            names = page.evaluate("caches.keys()")
            assert all(re.match(r"/[ab]/ billow-", name) for name in names), names
            # A key of the first server is for that one alone.
            page.evaluate("sessionStorage.setItem('/a/ billow-key', 'secret')")
            given.clear()
            for path in ("/b", "/a"):
                viewer.base = address + path
                page.goto("about:blank")
                viewer.open("#layers=pireps")
            assert ("a", "secret") in given and ("b", None) in given and ("b", "secret") not in given, given
    finally:
        context.close()
        viewer.page, viewer.base = own_page, own_base


def silent_server(viewer):
    """if the server is silent, a saved page opens with its saved picture and time, and it never says that it is live"""
    context = viewer.browser.new_context(viewport={"width": 1000, "height": 700})
    own_page, own_base, proxy = viewer.page, viewer.base, Prefixes(viewer.base)
    try:
        page = viewer.page = context.new_page()
        page.set_default_timeout(WAIT_MILLISECONDS)
        page.add_init_script("""window.states = [];
            window.warnings = [];
            new MutationObserver(() => {
                for (const [id, texts] of [["state-text", states], ["banners", warnings]]) {
                    const text = document.getElementById(id)?.textContent;
                    if (text && texts.at(-1) !== text) texts.push(text);
                }
            }).observe(document, { subtree: true, childList: true, characterData: true });""")
        with proxy as address:
            viewer.base = f"{address}/a"
            viewer.open("#layers=hexagons&map=4.00/39.000/-96.000")
            viewer.until("navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller !== null)")
            # Without these, the page first waits for its own timeouts.
            viewer.until("""async () => {
                const saved = await (await caches.open("/a/ billow-data")).keys();
                return ["/tiles/hexagons.json?", "/status", "/styles", "/tiles/hexagons/latest/"].every(
                    (part) => saved.some(({ url }) => url.includes(part)));
            }""")
            # The worker saves the tiles of a complete picture one after the other.
            tiles = len(set(viewer.page.evaluate("""performance.getEntriesByType("resource")
                .map(({ name }) => name).filter((name) => name.includes("/tiles/hexagons/latest/"))""")))
            viewer.until("""async (count) => (await (await caches.open("/a/ billow-data")).keys()).filter(
                ({ url }) => url.includes("/tiles/hexagons/latest/")).length >= count""", tiles)
            proxy.responds.clear()
            page.reload(wait_until="commit")
            viewer.until("window.states.includes('No contact')")
            viewer.eventually(lambda: "saved on this device" in viewer.text("#banners"))
            # The prefetched tiles wait for the server, and the map has the saved ones instead.
            viewer.until_shown()
            viewer.eventually(lambda: viewer.text("#times").startswith("Picture "))
            viewer.eventually(lambda: "ago" in viewer.text("#frame-age"))
            viewer.eventually(lambda: "HATCHED" not in viewer.text("#banners") and not viewer.is_hatched(-96, 39))
            states = page.evaluate("states")
            assert not any("Live" in state for state in states), states
            proxy.responds.set()
            viewer.eventually(lambda: "Live" in viewer.text("#state-text"))
            # If the server gives the page and no data, nothing waits for the page's own timeouts.
            proxy.gives_page = True
            proxy.responds.clear()
            page.evaluate("localStorage.clear()")
            page.reload(wait_until="commit")
            viewer.until("window.states.includes('No contact')")
            # Some seconds later the worker ends the requests, and the words change.
            viewer.until("window.warnings.some((text) => text.includes('the server is silent'))")
            viewer.until_shown()
            viewer.eventually(lambda: "ago" in viewer.text("#frame-age"))
            assert "timed out" not in viewer.text("#banners"), viewer.text("#banners")
    finally:
        proxy.responds.set()
        context.close()
        viewer.page, viewer.base = own_page, own_base


def key_entry(viewer):
    """a server that requires a key gets the typed one, a wrong key is asked again, and tabs don't share it"""
    viewer.expected = ["401"]

    def guard(route):
        headers = dict(route.request.headers)
        given = headers.pop("x-api-key", None)
        path = urlparse(route.request.url).path
        if given == "right" or not path.startswith(("/tiles", "/status", "/events", "/legend")):
            # The real server has no keys.
            return route.continue_(headers=headers)
        body = {
            "type": "about:blank", "status": 401, "code": "key-refused",
            "detail": "No such key" if given else "A key is needed",
        }
        return route.fulfill(status=401, json=body, content_type="application/problem+json")

    viewer.page.route("**/*", guard)
    viewer.page.goto(f"{viewer.base}/", wait_until="load")
    viewer.page.wait_for_selector("dialog.key[open]")
    viewer.eventually(lambda: "A key is needed" in viewer.text("dialog.key"))
    for control in viewer.page.locator("dialog.key :is(button, input)").all():
        assert control.bounding_box()["height"] >= 44, control
    viewer.page.fill("dialog.key input", "wrong")
    # Enter uses the key.
    viewer.page.press("dialog.key input", "Enter")
    viewer.until("() => document.querySelector('dialog.key')?.textContent.includes('No such key')")
    viewer.page.fill("dialog.key input", "right")
    viewer.page.click("dialog.key button[value=use]")
    viewer.until_shown()
    kept = viewer.page.evaluate("sessionStorage.getItem('billow-key')")
    assert kept == "right", kept
    assert viewer.page.evaluate("localStorage.length") == 0, "the key is kept for other tabs"
    viewer.until("document.querySelectorAll('dialog').length === 0")


def narrow_screen(viewer):
    """on a phone a button opens and closes the settings, and the map has room"""
    viewer.page.set_viewport_size({"width": 390, "height": 780})
    viewer.open()
    viewer.eventually(lambda: not viewer.page.is_visible("#settings"))
    viewer.page.click("#toggle")
    viewer.page.wait_for_selector("#settings", state="visible")
    viewer.eventually(lambda: viewer.page.get_attribute("#toggle", "aria-expanded") == "true")
    viewer.page.keyboard.press("Escape")
    viewer.page.wait_for_selector("#settings", state="hidden")


def take_pictures(viewer):
    """a downloaded picture and loop show land, coasts and names, and say "Not for navigation" and their sources"""
    # Much land and water, and little turbulence: no layer but pilot reports.
    viewer.open("#layers=pireps&map=5.00/41.000/-96.000")
    viewer.until("billow.map.queryRenderedFeatures({ layers: ['airports', 'cities'] }).length > 3")
    viewer.page.click("#share")
    seen = {}
    for name in "Picture (PNG)", "Loop (animated PNG)":
        url = viewer.page.get_attribute(f".downloads a:text-is('{name}')", "href")
        with viewer.page.expect_download(timeout=300_000) as download:
            viewer.page.click(f".downloads a:text-is('{name}')")
        saved = Path(download.value.path()).read_bytes()
        assert ("legend=false" in url) == ("Loop" in name), url
        server = viewer.page.request.get(url, timeout=120_000).body()
        seen[name] = viewer.page.evaluate("""async ([saved, server]) => {
            const pixels = async (text) => {
                const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
                const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
                const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
                context.drawImage(image, 0, 0);
                return context.getImageData(0, 0, image.width, image.height);
            };
            const [file, bare] = [await pixels(saved), await pixels(server)];
            const counts = { clear: 0, changed: 0, strip: file.height - bare.height, light: 0, dark: 0 };
            for (let at = 0; at < file.data.length; at += 4) {
                const [red, green, blue, opacity] = file.data.subarray(at, at + 4);
                if (opacity < 255) counts.clear += 1;
                if (at >= bare.data.length) {
                    counts[red > 200 ? "light" : "dark"] += 1;
                } else if (Math.abs(red - bare.data[at]) > 40) counts.changed += 1;
            }
            return counts;
        }""", [base64.b64encode(data).decode() for data in (saved, server)])
        frames = [data.count(b"fcTL") for data in (saved, server)]
        assert frames[0] == frames[1] and (frames[0] > 5) == ("Loop" in name), frames
    for name, counts in seen.items():
        assert counts["clear"] == 0, ("the land and the sea are opaque", name, counts)
        # The strip has the legend, which would cover turbulence on the map.
        assert 200 < counts["strip"] < 400 and counts["light"] > 10 * counts["dark"] > 1000, (name, counts)
    assert seen["Picture (PNG)"]["changed"] > 100, ("names", seen)


def take_route_along(viewer):
    """a downloaded picture and loop show the route's corridor and waypoints in the map's places"""
    viewer.open("#layers=hexagons&severities=4&map=5.00/40.000/-82.000")
    viewer.until("billow.map.queryRenderedFeatures({ layers: ['airports', 'cities'] }).length > 3")
    # The corridor lies below the time stamp, too: its western end is beyond the corner.
    viewer.page.evaluate("location.hash += '&route=KORD+KJFK+4430N10500W&level=370&routecard=closed'")
    viewer.until("billow.map.getLayer('route-line') !== undefined")
    viewer.until("document.querySelectorAll('.waypoint').length === 3")
    viewer.page.wait_for_timeout(500)
    places = viewer.page.evaluate("""() => {
        const rect = billow.map.getContainer().getBoundingClientRect();
        return [...document.querySelectorAll(".waypoint")].slice(0, 2).map((node) => {
            const { left, top } = node.getBoundingClientRect();
            return [left - rect.left + 6, top - rect.top + 6];
        });
    }""")
    width = viewer.page.evaluate("billow.map.getContainer().clientWidth")
    theme = viewer.page.evaluate("document.body.dataset.theme")
    line = [0x8f, 0xc4, 0xff] if theme == "dark" else [0x15, 0x52, 0xc4]
    # Pixels of the corridor's outline on the map.
    outline = viewer.page.evaluate("""() => {
        const { coordinates } = billow.map.getStyle().sources["route-outline"].data.geometry;
        const { clientWidth, clientHeight } = billow.map.getContainer();
        return coordinates.flat().map((place) => billow.map.project(place)).map(({ x, y }) => [x, y])
            .filter(([x, y]) => x > 20 && x < clientWidth - 150 && y > 60 && y < clientHeight - 80);
    }""")
    assert len(outline) > 3, outline
    viewer.page.click("#share")
    for name in "Picture (PNG)", "Loop (animated PNG)":
        with viewer.page.expect_download(timeout=300_000) as download:
            viewer.page.click(f".downloads a:text-is('{name}')")
        saved = Path(download.value.path()).read_bytes()
        seen = viewer.page.evaluate("""async ([text, places, outline, width, line]) => {
            const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
            const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
            const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
            context.drawImage(image, 0, 0);
            const scale = image.width / width;
            const near = ([x, y], colour, reach) => {
                const { data } = context.getImageData(Math.round(x * scale) - reach, Math.round(y * scale) - reach,
                    2 * reach + 1, 2 * reach + 1);
                let count = 0;
                for (let at = 0; at < data.length; at += 4) {
                    if (colour.every((value, index) => Math.abs(value - data[at + index]) < 40)) count += 1;
                }
                return count;
            };
            return {
                dots: places.map((place) => near(place, [0x15, 0x52, 0xc4], 3)),
                names: places.map(([x, y]) => near([x + 28 / scale, y], [0x15, 0x52, 0xc4], 8)),
                lines: outline.filter((place) => near(place, line, 2) > 0).length,
            };
        }""", [base64.b64encode(saved).decode(), places, outline, width, line])
        assert all(count > 20 for count in seen["dots"]) and all(count > 60 for count in seen["names"]), (name, seen)
        assert seen["lines"] >= 0.9 * len(outline), (name, seen, len(outline))


def route_across_antimeridian(viewer):
    """no line crosses a route's corridor at the antimeridian, and its borders go on there"""
    viewer.open("#layers=hexagons&route=RJTT+KLAX")
    viewer.until("billow.map.getLayer('route-line') !== undefined")
    found = """(latitude) => {
        const { x, y } = billow.map.project([180, latitude]);
        return billow.map.queryRenderedFeatures([[x - 2, y - 2], [x + 2, y + 2]],
            { layers: ["route-line"] }).length;
    }"""
    # The corridor lies from 46.94 to 47.77 degrees north there. Near zoom 6, that is 40 pixels.
    viewer.page.evaluate("billow.map.jumpTo({ center: [180, 47.35], zoom: 6 })")
    viewer.until(f"({found})(47.769) > 0 && ({found})(46.939) > 0")
    assert viewer.page.evaluate(found, 47.35) == 0


def take_exact_pictures(viewer):
    """a downloaded picture shows smooth air and pale layers exactly as the page does"""
    # The part of the map without cards.
    part = {"x": 350, "y": 100, "width": 500, "height": 440}
    viewer.open("#layers=gtg,hazards&severities=0,3&opacity=gtg:30&map=4.00/39.000/-96.000")
    page = viewer.settled_picture(part.values())
    viewer.page.click("#share")
    with viewer.page.expect_download(timeout=120_000) as download:
        viewer.page.click(".downloads a:text-is('Picture (PNG)')")
    saved = Path(download.value.path()).read_bytes()
    # Means of squares, because lines and edges differ a little: the map scales its tiles.
    share = viewer.page.evaluate("""async ([page, saved, { x, y, width, height }]) => {
        const means = async (text, left, top) => {
            const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
            const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }), left, top, width,
                height, { resizeWidth: width / 10, resizeHeight: height / 10, resizeQuality: "high" });
            const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
            context.drawImage(image, 0, 0);
            return context.getImageData(0, 0, image.width, image.height).data;
        };
        const [one, other] = [await means(page, 0, 0), await means(saved, x, y)];
        const differing = one.filter((value, place) => Math.abs(value - other[place]) > 12).length;
        return differing / one.length;
    }""", [*(base64.b64encode(each).decode() for each in (page, saved)), part])
    assert share < 0.12, share


LAYOUT_PROBLEMS = """(touch) => {
    const rect = (node) => node.getBoundingClientRect();
    const isSeen = (node) => node.checkVisibility({ checkVisibilityCSS: true }) && rect(node).width > 2;
    const cards = [...document.querySelectorAll(
        ".bar, .settings, .legend, .dock, .banner, .right > *, .maplibregl-ctrl-group")].filter(isSeen);
    const found = [];
    for (const [index, card] of cards.entries()) {
        const a = rect(card);
        if (a.left < 0 || a.top < 0 || a.right > innerWidth || a.bottom > innerHeight) {
            found.push(`${card.className} is cut off`);
        }
        for (const other of cards.slice(index + 1)) {
            const b = rect(other);
            if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) {
                found.push(`${card.className} covers ${other.className}`);
            }
        }
    }
    const controls = "button, select, summary, a, .chips label, .segments label";
    for (const control of document.querySelectorAll(controls)) {
        if (!touch || !isSeen(control) || control.closest(".maplibregl-ctrl-attrib-inner")) continue;
        const { width, height } = rect(control);
        if (width < 44 || height < 44) found.push(`${control.id || control.textContent} ${width}x${height}`);
    }
    return found;
}"""
# The last size is a window of 1440 x 900 at a page zoom of 200 %.
SIZES = [(1440, 900), (1024, 768), (820, 1180), (390, 844), (360, 640), (844, 390), (720, 450)]


def layouts(viewer):
    """at every size nothing is cut off, no card covers another, and each control is large enough to touch"""
    earlier = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(int(time.time()) // 60 * 60 - 3 * 3600))
    for hash in ("#map=4/37/-92", f"#map=4/37/-92&time={earlier}", "#map=2/37/-92&route=KORD+KJFK"):
        viewer.page.goto("about:blank")
        viewer.open(hash)
        viewer.until("(hash) => !hash.includes('route') || !document.querySelector('#route').hidden", hash)
        for width, height in SIZES:
            viewer.page.set_viewport_size({"width": width, "height": height})
            viewer.until_shown()
            touch = width <= 900 or height <= 560
            # The page sets the cards' heights in the style sheet only after they have changed.
            deadline = time.monotonic() + WAIT_MILLISECONDS / 1000
            while problems := viewer.page.evaluate(LAYOUT_PROBLEMS, touch):
                assert time.monotonic() < deadline, (hash, width, height, problems)
                viewer.page.wait_for_timeout(250)
            # Only where the legend is hidden, a button opens it.
            assert viewer.page.is_visible(".legend-button") != viewer.page.is_visible("#legend"), (hash, width, height)
            if "route" not in hash:
                continue
            # The legend and the buttons of the map are within reach.
            if not viewer.page.is_visible("#legend"):
                viewer.page.click(".legend-button button")
                assert viewer.page.is_visible("#legend") and viewer.page.is_visible("#legend ul"), (width, height)
                viewer.page.click(".legend-button button")
            assert viewer.page.is_visible(".maplibregl-ctrl-zoom-in"), (width, height)
            # The open settings cover neither the state nor a warning.
            was_open = viewer.page.get_attribute("#toggle", "aria-expanded") == "true"
            if not was_open:
                viewer.page.click("#toggle")
            covered = viewer.page.evaluate("""() => {
                const { left, top, right, bottom } = document.querySelector(".settings").getBoundingClientRect();
                return [...document.querySelectorAll(".state, .banner")].map((node) => node.getBoundingClientRect())
                    .filter((one) => one.left < right && one.right > left && one.top < bottom && one.bottom > top)
                    .length;
            }""")
            slider = viewer.page.evaluate("""() => document.querySelector(".ticks").getBoundingClientRect().bottom
                <= document.querySelector(".settings").getBoundingClientRect().bottom""")
            if not was_open:
                viewer.page.click("#toggle")
            assert covered == 0, (width, height)
            assert slider or touch, ("the altitude is visible without scrolling", width, height)
            # In small windows the attribution waits for its button.
            viewer.until("(isSmall) => !isSmall || !document.querySelector('.maplibregl-ctrl-attrib-inner')"
                         ".checkVisibility()", touch)
            # The timeline stays usable beside or below the card of a route.
            assert viewer.page.is_visible("#play"), (hash, width, height)
            assert viewer.page.is_visible("#scrubber"), (hash, width, height)


def low_route(viewer):
    """in a low window the card of a route begins with its facts and the whole profile, also with many airports"""
    viewer.page.set_viewport_size({"width": 844, "height": 390})
    for route in ("KJFK+KDEN+KSFO", "KJFK+KORD+KDEN+KSFO+KLAX+KPHX+KDFW+KATL+KMIA"):
        viewer.page.goto("about:blank")
        viewer.open(f"#layers=gtg,hexagons&map=4/40/-95&route={route}&level=370")
        viewer.until("document.querySelectorAll('#route-body .plot .distance').length > 1")
        cut = """() => {
            const card = document.querySelector("#route").getBoundingClientRect();
            const close = document.querySelector("#route-close").getBoundingClientRect();
            const seen = [...document.querySelectorAll(
                "#route-body > h3, #route-body > .note, #route-body .names, #route-body .plot span")];
            const past = document.querySelector("#route-body .side-view");
            return seen.filter((node) => !(past.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING)
                || past.contains(node)).filter((node) => {
                const range = document.createRange();
                range.selectNodeContents(node);
                return [...range.getClientRects()].some(({ left, right, top, bottom }) =>
                    top < card.top || bottom > card.bottom || left < card.left || right > card.right
                    || (right > close.left && top < close.bottom && bottom > close.top));
            }).map(({ textContent }) => textContent);
        }"""
        assert viewer.page.evaluate("document.querySelector('#route').scrollTop") == 0
        viewer.eventually(lambda: not viewer.page.evaluate(cut))


def live_button(viewer):
    """on an upright phone the button Live does not cover the time of a forecast"""
    viewer.page.set_viewport_size({"width": 390, "height": 844})
    viewer.open()
    viewer.until_field("-102,36,-98,40")
    instant = time.strftime("%Y%m%dT%H%M00Z", time.gmtime(time.time() + 5 * 3600))
    viewer.open(f"#layers=gtg,hexagons&map=4/39/-100&time={instant}")
    viewer.eventually(lambda: "forecast, in " in viewer.text("#frame-age"))
    apart = viewer.page.evaluate("""() => {
        const button = document.querySelector("#to-live").getBoundingClientRect();
        const text = document.createRange();
        text.selectNodeContents(document.querySelector(".clock"));
        const { width, left } = button;
        return width > 0 && [...text.getClientRects()].every(({ right }) => right <= left);
    }""")
    assert apart, viewer.text("#frame-age")


def many_warnings(viewer):
    """three warnings cover nothing else and leave a part of the map; on a small phone a tap shows all their words"""
    def make_stale(body):
        # Of another day, which is named too.
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 86_400))
        body["billow"].update(stale=True, incomplete=True, completeSince=since)

    viewer.expected = ["503"]
    viewer.change_answer("**/tiles/*.json*", make_stale)
    viewer.page.route("**/tiles/**/*.png*", lambda route: route.fulfill(status=503))
    viewer.lack_data()
    viewer.open("#layers=hexagons&map=4/37/-92")
    viewer.eventually(lambda: all(
        words in viewer.text("#banners") for words in ("SIMULATED", "HATCHED", "stale", "INCOMPLETE")))
    for width, height in SIZES:
        viewer.page.set_viewport_size({"width": width, "height": height})
        viewer.eventually(lambda: not viewer.page.evaluate(LAYOUT_PROBLEMS, width <= 900 or height <= 560))
        # From the lowest banner to the timeline.
        viewer.until("""() => {
            const banners = document.querySelector("#banners").getBoundingClientRect();
            return document.querySelector("#dock").getBoundingClientRect().top - banners.bottom > 60;
        }""")
    viewer.page.set_viewport_size({"width": 360, "height": 640})
    cut = """[...document.querySelectorAll(".banner p")]
        .filter((text) => text.scrollWidth > text.clientWidth || text.scrollHeight > text.clientHeight + 1).length"""
    viewer.eventually(lambda: viewer.page.evaluate(cut) > 0)
    viewer.page.click(".banner:last-child")
    viewer.eventually(lambda: viewer.page.evaluate(cut) == 0)


def place_beside_card(viewer):
    """in small windows the map moves so that the card of a place does not cover its mark, also of a link"""
    viewer.open()
    viewer.until_field("-104,33,-88,45")
    is_beside = """() => {
        const [mark, card] = [".place", "#details"].map(
            (each) => document.querySelector(each).getBoundingClientRect());
        const loaded = !document.querySelector("#details-body").textContent.includes("Loading");
        return loaded && !billow.map.isMoving() && card.height > 0
            && (mark.right < card.left || mark.bottom < card.top);
    }"""
    for width, height, x, y in ((844, 390, 600, 210), (390, 844, 150, 430)):
        viewer.page.set_viewport_size({"width": width, "height": height})
        viewer.page.goto("about:blank")
        viewer.open("#layers=hexagons,gtg&map=4/37/-92")
        viewer.page.mouse.click(x, y)
        viewer.until("!document.querySelector('#details').hidden")
        viewer.until(is_beside)
    for width, height in ((390, 844), (820, 1180)):
        viewer.page.set_viewport_size({"width": width, "height": height})
        viewer.page.goto("about:blank")
        # Nobody reports turbulence here, so the card begins with a sentence.
        viewer.open("#layers=hexagons,gtg&map=5/-20/-130&place=-20/-130")
        viewer.until(is_beside.replace("mark.bottom < card.top", "mark.bottom < card.top || mark.left > card.right"))
        # The button to close the card covers none of its words.
        assert viewer.page.evaluate("""() => {
            const button = document.querySelector("#details-close").getBoundingClientRect();
            const words = [];
            const texts = document.createTreeWalker(document.querySelector("#details-body"), NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) {
                const range = document.createRange();
                range.selectNodeContents(texts.currentNode);
                words.push(...range.getClientRects());
            }
            return words.filter(({ left, right, top, bottom }) => left < button.right - 8
                && right > button.left + 8 && top < button.bottom - 8 && bottom > button.top + 8).length;
        }""") == 0, (width, height)


def place_of_link(viewer):
    """the place of a link lies on the map, and no card covers it, also beside a route"""
    for width, height in ((820, 1180), (1024, 768), (390, 844)):
        viewer.page.set_viewport_size({"width": width, "height": height})
        viewer.page.goto("about:blank")
        viewer.open("#layers=hexagons&map=4/45/-60&route=KJFK+EGLL&level=370&place=44/-68")
        viewer.until("""() => {
            const mark = document.querySelector(".place")?.getBoundingClientRect();
            if (!mark || billow.map.isMoving()
                || document.querySelector("#details-body").textContent.includes("Loading")) return false;
            const cards = [...document.querySelectorAll(".bar, .settings, .legend, .dock, .right > *")]
                .filter((card) => card.checkVisibility({ checkVisibilityCSS: true }))
                .map((card) => card.getBoundingClientRect());
            return mark.left >= 0 && mark.right <= innerWidth && mark.top >= 0 && mark.bottom <= innerHeight
                && !cards.some(({ left, right, top, bottom }) => mark.left < right && mark.right > left
                    && mark.top < bottom && mark.bottom > top);
        }""")


def short_tab_order(viewer):
    """the page has few tab stops, and arrow keys, Home and End reach every control of a group"""
    viewer.page.set_viewport_size({"width": 1440, "height": 900})
    viewer.open("#layers=hexagons,pireps&map=4/39/-96")
    viewer.until("document.querySelectorAll('#legend [role=toolbar] button').length === 5")
    focused = "document.activeElement === document.body ? null : document.activeElement"

    def stops():
        """Returns what has the focus after each Tab, until the focus leaves the page or begins anew."""
        viewer.page.evaluate("document.body.tabIndex = -1; document.body.focus()")
        found = []
        while len(found) < 60:
            viewer.page.keyboard.press("Tab")
            name = viewer.page.evaluate(f"""() => {{
                const node = {focused};
                return node && (node.id || `${{node.closest("[id]").id}} ${{node.className || node.value}}`);
            }}""")
            if name is None or name in found:
                break
            found.append(name)
        return found

    found = stops()
    assert 20 <= len(found) <= 27, (len(found), found)
    assert "play" in found and "scrubber" in found and not any("step" in name for name in found), found
    for group, selector in (
        ("#layers", "input"), ("#legend ul", "button"), ("#player", "button"),
        (".maplibregl-ctrl-bottom-right", ".maplibregl-ctrl-group:not(.legend-button) button"),
    ):
        controls = viewer.page.locator(f"{group} {selector}")
        assert viewer.page.get_attribute(group, "role") == "toolbar", group
        controls.first.focus()
        for number in range(controls.count()):
            assert controls.nth(number).evaluate("(node) => node === document.activeElement"), (group, number)
            viewer.page.keyboard.press("ArrowRight")
        # The order is a ring, and the last control that had the focus is the tab stop.
        assert controls.first.evaluate("(node) => node === document.activeElement"), group
        viewer.page.keyboard.press("End")
        tab_stops = controls.evaluate_all("(all) => all.map((node) => node.tabIndex)")
        assert tab_stops == [-1] * (len(tab_stops) - 1) + [0], (group, tab_stops)
        viewer.page.keyboard.press("Home")
        assert controls.first.evaluate("(node) => node.tabIndex === 0 && node === document.activeElement"), group
    # The keys of a control stay: Space shows another layer, and Enter hides a severity.
    viewer.page.focus("#layers input")
    viewer.page.keyboard.press("ArrowRight")
    viewer.page.keyboard.press("Space")
    viewer.eventually(lambda: "polygons" in viewer.hash())
    # The button of a form is a tab stop as soon as it has something to do.
    assert viewer.page.get_attribute("#route-form .go", "tabindex") == "-1"
    viewer.page.focus("#route-text")
    viewer.page.keyboard.type("KJFK KORD")
    assert viewer.page.get_attribute("#route-form .go", "tabindex") == "0"


def escape_in_dialog(viewer):
    """Escape in a dialog closes the dialog alone, the card behind it stays, and the button to close stays in sight"""
    viewer.open("#layers=hexagons&map=4/39/-96&place=39/-100")
    viewer.until("!document.querySelector('#details').hidden")
    viewer.page.click("#share")
    viewer.page.wait_for_selector("dialog.share[open]")
    # A click beside the dialog's controls leaves the focus on none of them.
    viewer.page.click("#share-title")
    viewer.page.keyboard.press("Escape")
    viewer.until("!document.querySelector('dialog')")
    assert viewer.page.is_visible("#details") and "place=" in viewer.hash(), viewer.hash()
    viewer.page.keyboard.press("Escape")
    viewer.until("document.querySelector('#details').hidden")
    viewer.page.set_viewport_size({"width": 844, "height": 390})
    viewer.page.click("#toggle")
    viewer.page.click("#share")
    viewer.page.wait_for_selector("dialog.share[open]")
    top, covering, image = viewer.page.evaluate("""() => {
        const dialog = document.querySelector("dialog.share");
        dialog.scrollTo(0, dialog.scrollHeight);
        const { left, top, bottom } = dialog.querySelector(".close").getBoundingClientRect();
        const seen = document.elementFromPoint(left + 5, (top + bottom) / 2);
        return [dialog.scrollTop, seen?.className, getComputedStyle(dialog).backgroundColor];
    }""")
    assert top > 100 and covering == "close" and "rgba" not in image, (top, covering, image)


# The ids of the visible choices that are narrower than their longest text.
CUT_CHOICES = """(selector) => [...document.querySelectorAll(selector)].filter((select) => {
    const { width } = select.getBoundingClientRect();
    const copy = select.cloneNode(true);
    Object.assign(copy.style, { width: "max-content", maxWidth: "none", position: "absolute" });
    select.after(copy);
    const whole = copy.getBoundingClientRect().width;
    copy.remove();
    return width > 0 && width < whole;
}).map(({ id }) => id)"""


def whole_choices(viewer):
    """no choice of the settings is cut off, and the header names pale layers, on each size of window"""
    viewer.page.set_viewport_size({"width": 1440, "height": 900})
    # This selection has the choice "Set in the legend".
    viewer.open("#layers=hexagons,pireps&opacity=hexagons:30&severities=1,3&map=4/39/-96")
    assert viewer.text("#pale") == "Paler than the legend: Hexagons 30 %"

    def are_settings_open():
        """Opens the settings, which the page folds some time after the window became small."""
        if viewer.page.get_attribute("#toggle", "aria-expanded") == "false":
            assert "Hexagons at 30 %" in viewer.text("#summary")
            viewer.page.click("#toggle")
        return viewer.page.evaluate("document.querySelector('#severity').checkVisibility()")

    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        viewer.page.set_viewport_size({"width": width, "height": height})
        viewer.eventually(are_settings_open)
        cut = viewer.page.evaluate(CUT_CHOICES, ".settings select")
        assert not cut, (cut, width)


def whole_spans(viewer):
    """the choices of the timeline's span and speed are whole on each size of window, beside the button Live"""
    earlier = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(int(time.time()) // 60 * 60 - 3 * 3600))
    viewer.open(f"#map=4/37/-92&time={earlier}")
    for width, height in SIZES:
        viewer.page.set_viewport_size({"width": width, "height": height})
        cut = viewer.page.evaluate(CUT_CHOICES, ".dock select")
        assert not cut, (cut, width, height)


def route_beside_place(viewer):
    """the card of a place leaves the route's card on a tablet, and elsewhere leads back to it"""
    link = "#layers=hexagons&map=4/39/-96&route=KSEA+KJFK&place=39/-96"
    viewer.page.set_viewport_size({"width": 820, "height": 1180})
    viewer.open(link)
    viewer.until("document.querySelectorAll('#route-body .plot').length === 1")
    viewer.until("!document.querySelector('#details-body').textContent.includes('Loading')")
    def cards():
        return [viewer.page.locator(card).bounding_box() for card in ("#route", "#details")]

    # Both are below the middle of the window, and above the timeline, which grows with its scale.
    viewer.until("document.querySelector('#scale .hours')")
    viewer.eventually(lambda: all(
        card["y"] > 580 and card["y"] + card["height"] <= viewer.page.locator("#dock").bounding_box()["y"]
        for card in cards()))
    route, place = cards()
    assert route["x"] + route["width"] <= place["x"] and place["x"] + place["width"] <= 820, (route, place)
    assert not viewer.page.is_visible("#details-route")
    viewer.page.set_viewport_size({"width": 390, "height": 844})
    viewer.eventually(lambda: not viewer.page.is_visible("#route"))
    viewer.page.click("#details-route")
    viewer.eventually(lambda: viewer.page.is_visible("#route-body h3") and not viewer.page.is_visible("#details"))
    # Without a route there is nothing to lead back to.
    viewer.page.evaluate("location.hash = '#layers=hexagons&map=4/39/-96&place=39/-96'")
    viewer.until("!document.querySelector('#details').hidden && document.querySelector('#route').hidden")
    assert not viewer.page.is_visible("#details-route")


def readers_settings(viewer):
    """with forced colours a selected layer is distinct, and with reduced motion nothing is animated"""
    viewer.page.emulate_media(forced_colors="active", reduced_motion="reduce")
    viewer.open()
    colour = "(checked) => getComputedStyle(document.querySelector(`#layers input${checked} + span`)).backgroundColor"
    chosen, other = (viewer.page.evaluate(colour, each) for each in (":checked", ":not(:checked)"))
    assert chosen != other, chosen
    for button in viewer.page.locator("form .go").all():
        assert button.evaluate("(node) => getComputedStyle(node).borderTopWidth") == "1px", button
    viewer.page.click("#share")
    viewer.page.wait_for_selector("dialog.share[open]")
    assert viewer.page.evaluate("document.getAnimations().length") == 0
    viewer.page.keyboard.press("Escape")
    viewer.page.click("#play")
    viewer.until("document.querySelector('#state-text').textContent === 'Playing'")
    assert viewer.page.evaluate("document.getAnimations().length") == 0
    # What is filled in the timeline stays distinct from what is hollow.
    viewer.until("document.querySelector('.own-frames i')")
    assert viewer.page.evaluate(
        "getComputedStyle(document.querySelector('.own-frames i')).forcedColorAdjust") == "none"


def on_paper(viewer):
    """on paper are the map, the legend, the time, the state and the warnings, and no control; the map does not move"""
    viewer.open("#route=KJFK+EGLL")
    viewer.until("document.querySelector('#route-body h3')?.textContent === 'KJFK EGLL'")
    viewer.until_shown()
    place = "billow.map.getCenter().toArray()"
    viewer.page.wait_for_timeout(2_000)
    before = viewer.page.evaluate(place)
    viewer.page.emulate_media(media="print")
    for part in (
            "#state", "#times", "#frame-time", "#legend ul", "#legend .caution:last-child",
            ".banner[data-level=simulated]"):
        assert viewer.page.is_visible(part), part
    seen = viewer.page.evaluate("""() => [...document.querySelectorAll("button, input, select, summary")].filter(
        (node) => node.checkVisibility({ checkVisibilityCSS: true }) && !node.closest(".legend ul"))
        .map((node) => node.id || node.textContent)""")
    assert not seen, seen
    viewer.page.wait_for_timeout(500)
    assert viewer.page.evaluate(place) == before


def level_colours(viewer):
    """the number of severe reports at each level has the style's colour of moderate turbulence"""
    viewer.open("#layers=hexagons&style=colour-blind&map=2/40/-60")
    viewer.page.hover("#altitude")
    viewer.until("document.querySelectorAll('#histogram i').length > 0")
    fill = viewer.page.get_attribute("#legend [data-severity='3'] .swatch path", "fill")
    viewer.until("""(fill) => {
        const sample = Object.assign(document.createElement("i"), { style: `color: ${fill}` });
        document.body.append(sample);
        const wanted = getComputedStyle(sample).color;
        sample.remove();
        return getComputedStyle(document.querySelector("#histogram i")).backgroundColor === wanted;
    }""", fill)


def accessible(viewer):
    """axe finds no violation in any state of the page, nor on the example pages"""
    from axe_playwright_python.sync_playwright import Axe

    def judge(state):
        found = Axe().run(viewer.page).response["violations"]
        assert not found, (state, [(each["id"], each["nodes"][0]["html"][:200]) for each in found])

    # At some hours the simulated air along the route is smooth.
    viewer.change_answer("**/alerts", lambda answer: answer["clusters"].append(
        {"text": "Moderate in 9 NM", "members": ["a"], "longitude": -80, "latitude": 41, "severity": 3}))
    viewer.open()
    judge("live")
    viewer.page.click("#share")
    viewer.page.click(".share details:nth-of-type(2) summary")
    judge("with the dialog to share")
    viewer.page.keyboard.press("Escape")
    viewer.page.focus("#route-text")
    viewer.page.keyboard.type("KORD new yo")
    viewer.until("!document.querySelector('#route-places').hidden")
    judge("with suggested airports")
    viewer.page.keyboard.press("Enter")
    viewer.page.keyboard.press("Enter")
    viewer.until("document.querySelectorAll('#route-body .group, #route-body .stretches').length > 0")
    viewer.page.click("#route-pick")
    viewer.page.wait_for_selector(".picking")
    judge("with a route, picking points")
    viewer.page.keyboard.press("Escape")
    viewer.page.click("#route-clear")
    viewer.page.check("#one-level", force=True)
    viewer.until("!document.querySelector('#histogram').hidden")
    judge("with one level and the reports of all levels")
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#state-text').textContent === 'Past'")
    viewer.page.select_option("#severity", "2")
    viewer.page.focus("#map canvas")
    viewer.page.keyboard.press("Enter")
    viewer.until("!document.querySelector('#details-body').textContent.includes('Loading')")
    judge("past, filtered, with a card")
    viewer.page.set_viewport_size({"width": 390, "height": 844})
    judge("phone with a card")
    viewer.page.keyboard.press("Escape")
    viewer.page.emulate_media(color_scheme="dark")
    viewer.page.click("#toggle")
    viewer.page.wait_for_selector("#settings", state="visible")
    judge("phone with settings, dark")
    pages = ("maplibre", "leaflet", "openlayers", "deck", "changes")
    for path in ("examples/", *(f"examples/{page}.html" for page in pages)):
        viewer.page.goto(f"{viewer.base}/{path}", wait_until="load")
        viewer.until("document.querySelector('#age')?.textContent !== 'Loading…'")
        judge(path)
    for scheme in ("light", "dark"):
        # An example page would load itself again for the other scheme, which aborts the next navigation.
        viewer.page.goto("about:blank")
        viewer.page.emulate_media(color_scheme=scheme)
        viewer.page.goto(f"{viewer.base}/status", wait_until="load")
        viewer.until("document.querySelectorAll('#sources tbody tr').length > 0")
        judge(f"status page, {scheme}")


def examples(viewer):
    """each example page draws turbulence on its map, and shows the age of the data"""
    viewer.page.goto(f"{viewer.base}/examples/", wait_until="load")
    pages = viewer.page.evaluate(
        "[...document.querySelectorAll('li a')].map(({ href }) => href).filter((href) => href.endsWith('.html'))")
    assert len(pages) == 5, pages
    held = []
    for url in pages:
        viewer.requests.clear()
        held.clear()
        viewer.page.route(re.compile(r"/changes/hexagons\?"), lambda route: held.append(route))
        viewer.page.goto(url, wait_until="load")
        if url.endswith("changes.html"):
            # Before the answer, the map has none of the colours that are counted below.
            viewer.eventually(lambda: held)
            assert viewer.pixels_of_severities(300, 150, 600, 400) == 0
        for route in held:
            route.continue_()
        viewer.page.unroute(re.compile(r"/changes/hexagons\?"))
        viewer.until("document.querySelector('#age').textContent.startsWith('Data of')")
        viewer.eventually(lambda: "SIMULATED" in viewer.text("#age"))
        if url.endswith("changes.html"):
            # At some hours a route has smooth air alone, so white counts too.
            kind, least, count = "/changes/hexagons?", 150, viewer.pixels_of_severities
        else:
            kind, least, count = "/tiles/", 500, viewer.vivid
        deadline = time.monotonic() + WAIT_MILLISECONDS / 1000
        while (painted := count(300, 150, 600, 400)) < least:
            assert time.monotonic() < deadline, (url, painted)
            viewer.page.wait_for_timeout(250)
        viewer.eventually(lambda: any(kind in each for each in viewer.requests))
        script = viewer.page.request.get(url.replace(".html", ".js")).text()
        lines = [line for line in script.splitlines() if line.strip() and not line.startswith("//")]
        assert len(lines) <= 20, (url, len(lines))


def examples_like_viewer(viewer):
    """the example pages have the viewer's style by day and night, and their legend covers no text in small windows"""
    pages = ("maplibre", "leaflet", "openlayers", "deck", "changes")
    for scheme, style in (("light", "day"), ("dark", "night")):
        # An example page would load itself again for the other scheme.
        viewer.page.goto("about:blank")
        viewer.requests.clear()
        viewer.page.emulate_media(color_scheme=scheme)
        viewer.open("#layers=hexagons")
        assert all(f"style={style}" in url for url in viewer.tiles()), viewer.tiles()
        for page in pages:
            viewer.requests.clear()
            viewer.page.goto(f"{viewer.base}/examples/{page}.html", wait_until="load")
            viewer.eventually(lambda: page == "changes" or viewer.tiles())
            viewer.until("document.querySelector('#age').textContent.startsWith('Data of')")
            asked = [url for url in viewer.requests if "/legend.json" in url or "/tiles/" in url]
            assert asked and all(f"style={style}" in url for url in asked), asked
            viewer.until("document.querySelector('.legend img').naturalWidth > 0")
            legend = viewer.page.evaluate("document.querySelector('.legend img').currentSrc")
            assert f"style={style}" in legend, legend
            for width, height in ((1000, 700), (720, 450), (844, 390), (390, 844), (600, 360)):
                viewer.page.set_viewport_size({"width": width, "height": height})
                about, legend = (viewer.page.locator(part).bounding_box() for part in (".about", ".legend img"))
                words = (page, width, height, about, legend)
                assert about["y"] + about["height"] <= legend["y"] or about["x"] + about["width"] <= legend["x"], words
                for box in (about, legend):
                    assert box["x"] >= 0 and box["y"] >= 0, words
                    assert box["x"] + box["width"] <= width and box["y"] + box["height"] <= height, words
                assert legend["height"] >= 150, words
            viewer.page.set_viewport_size({"width": 1000, "height": 700})


COPY = """
    const { CollectionCopy } = await import("/js/changes.js");
    const parameters = { bbox: "-130,15,-60,60" };
    const copy = new CollectionCopy({ collection: "traffic", parameters, pause: 500 });
    window.changes = { full: 0, delta: 0 };
    copy.addEventListener("change", ({ detail }) => { changes[detail.full ? "full" : "delta"] += 1; });
    await copy.start();
    window.copy = copy;
"""


def copied(viewer):
    """a copy follows the server by changes alone, equals what the server has, and is there without the server"""
    viewer.page.goto(f"{viewer.base}/examples/", wait_until="load")
    viewer.page.evaluate(f"(async () => {{ {COPY} }})()")
    viewer.until("changes.full === 1 && changes.delta >= 3 && copy.features.size > 0")
    # Until an answer of the server is of the state that the copy has.
    viewer.until("""async () => {
        const url = "/changes/traffic?bbox=-130%2C15%2C-60%2C60";
        const all = await (await fetch(url, { cache: "no-store" })).json();
        const text = (features) => JSON.stringify(features.sort((a, b) => (a.id < b.id ? -1 : 1)));
        return all.features.length > 0 && text(all.features) === text([...copy.features.values()]);
    }""")
    viewer.eventually(lambda: viewer.page.evaluate("copy.state.stored && copy.state.connected"))
    requests = [url for url in viewer.requests if "/changes/traffic?" in url]
    assert any("since=" in url for url in requests) and any("/events?bbox=" in url for url in viewer.requests), requests

    # After a restart without a connection the copy is there.
    viewer.page.evaluate("copy.stop()")
    size = viewer.page.evaluate("copy.features.size")
    viewer.page.reload(wait_until="load")
    viewer.expected += ["ERR_FAILED", "/changes/traffic", "/events"]
    viewer.page.route(re.compile(r"/(changes/|events\?)"), lambda route: route.abort())
    viewer.page.evaluate(f"(async () => {{ {COPY} }})()")
    viewer.until("window.copy !== undefined")
    assert viewer.page.evaluate("copy.features.size") == size
    assert viewer.page.evaluate("copy.state.stored && !copy.state.connected && copy.state.dataTime !== null")
    # With a connection again, changes suffice.
    viewer.page.unroute(re.compile(r"/(changes/|events\?)"))
    viewer.requests.clear()
    viewer.page.evaluate("copy.update()")
    viewer.until("copy.state.connected")
    first = next(url for url in viewer.requests if "/changes/traffic?" in url)
    assert "since=" in first, first
    viewer.page.evaluate("copy.forget()")


TIMELINE_PAGE = """<!doctype html><meta charset="utf-8"><style>html, body, #map { margin: 0; height: 100% }</style>
<link rel="stylesheet" href="/vendor/STYLE"><div id="map"></div><script src="/vendor/SCRIPT"></script>
<script type="module">
    import * as timeline from "/timeline.js";
    const map = MAP;
    const clock = new timeline.TimelineClock({ speed: 2 });
    const frames = new timeline.TimelinePlayer(new timeline.NAMEFrames(map, LIBRARY), { url: "/timeline.json", clock,
        layer: "hexagons", start: "-1h", end: "now", intervals: 4 });
    const points = new timeline.TimelinePoints(
        new timeline.NAMEPoints(map, LIBRARY), { url: "/collections/pireps/items", clock });
    Object.assign(window, { times: new Set(), problems: [], frames });
    frames.addEventListener("frame", ({ detail }) => detail.ready && times.add(detail.time));
    for (const part of [frames, points]) {
        part.addEventListener("problem", ({ detail }) => detail && problems.push(detail));
    }
    await frames.load();
    await points.load();
    clock.play();
</script>"""
TIMELINE_MAPS = {
    "Leaflet": ("leaflet/leaflet.css", "leaflet/leaflet.js", "L", "L.map('map').setView([39, -96], 4)"),
    "OpenLayers": ("openlayers/ol.css", "openlayers/ol.js", "ol",
                   "new ol.Map({ target: 'map', view: new ol.View({ center: [-10.7e6, 4.7e6], zoom: 4 }) })"),
}
MAPLIBRE = """await new Promise((resolve) => {
        const style = { version: 8, sources: {}, layers: [] };
        const made = new maplibregl.Map({ container: "map", style, center: [-96, 39], zoom: 3 });
        made.once("style.load", () => resolve(made));
    })"""


def timeline_elsewhere(viewer):
    """timeline.js plays frames and points on Leaflet and OpenLayers, and the map is never blank"""
    for name, (style, script, library, code) in TIMELINE_MAPS.items():
        page = TIMELINE_PAGE.replace("STYLE", style).replace("SCRIPT", script).replace("NAME", name)
        page = page.replace("LIBRARY", library).replace("MAP", code)
        viewer.page.route("**/timeline-page", lambda route: route.fulfill(body=page, content_type="text/html"))
        viewer.page.goto(f"{viewer.base}/timeline-page", wait_until="load")
        viewer.eventually(lambda: viewer.vivid(0, 0, 1000, 700) > 500)
        least = []
        deadline = time.monotonic() + WAIT_MILLISECONDS / 1000
        while viewer.page.evaluate("times.size") < 3:
            least.append(viewer.vivid(0, 0, 1000, 700))
            assert time.monotonic() < deadline, (name, viewer.page.evaluate("[...times]"))
        assert min(least, default=500) >= 500, (name, least)
        assert viewer.page.evaluate("problems") == [], name
        viewer.page.evaluate("frames.destroy()")
        viewer.page.unroute("**/timeline-page")


ADAPTER_PAGE = TIMELINE_PAGE[:TIMELINE_PAGE.index("    const clock")] + """
    const adapter = new timeline.NAMEFrames(map, LIBRARY);
    const handle = adapter.add(`${location.origin}/tiles/hexagons/latest/{z}/{x}/{y}.png${location.search}`);
    window.state = () => adapter.hasFailed(handle) ? "failed" : adapter.isReady(handle) ? "ready" : "loading";
</script>"""
ADAPTERS = {
    **TIMELINE_MAPS,
    "MapLibre": ("maplibre/maplibre-gl.css", "maplibre/maplibre-gl.js", "{}", MAPLIBRE),
    "MapLibreCanvas": ("maplibre/maplibre-gl.css", "maplibre/maplibre-gl.js", "{}", MAPLIBRE),
}


def timeline_missing_tiles(viewer):
    """on every map, a frame whose tiles the server refuses or does not have has failed, and is never ready"""
    viewer.expected = ["Failed to load", "AJAXError", "404", "403", "500"]
    for name, (style, script, library, code) in ADAPTERS.items():
        page = ADAPTER_PAGE.replace("STYLE", style).replace("SCRIPT", script).replace("NAME", name)
        page = page.replace("LIBRARY", library).replace("MAP", code)
        viewer.page.route("**/adapter-page?*", lambda route: route.fulfill(body=page, content_type="text/html"))
        for status in (200, 404, 403, 500):
            if status != 200:
                viewer.page.route(f"**/tiles/**opacity=0.{status}", lambda route: route.fulfill(status=status, body=""))
            viewer.page.goto(f"{viewer.base}/adapter-page?opacity=0.{status}", wait_until="load")
            viewer.until("window.state && window.state() !== 'loading'")
            state = viewer.page.evaluate("state()")
            assert state == ("ready" if status == 200 else "failed"), (name, status, state)
        viewer.page.unroute("**/adapter-page?*")


def timeline_lost_tiles(viewer):
    """on every map, tiles of the visible frame that fail after a move are named, and come later; the others stay"""
    viewer.expected = ["Failed to load", "AJAXError", "503"]
    viewer.page.clock.install()
    moves = {
        "Leaflet": "map.setView([39, 90], 4, { animate: false })",
        "OpenLayers": "map.getView().setCenter([10e6, 4.7e6])",
        "MapLibre": "map.jumpTo({ center: [90, 39] })", "MapLibreCanvas": "map.jumpTo({ center: [90, 39] })",
    }
    for name, (style, script, library, code) in ADAPTERS.items():
        page = ADAPTER_PAGE.replace("STYLE", style).replace("SCRIPT", script).replace("NAME", name)
        page = page.replace("LIBRARY", library).replace("MAP", code)
        known = f"Object.assign(window, {{ handle, adapter, move: () => void {moves[name]} }});"
        page = page.replace("window.state =", f"{known} window.state =")
        viewer.page.route("**/adapter-page", lambda route: route.fulfill(body=page, content_type="text/html"))
        viewer.page.goto(f"{viewer.base}/adapter-page", wait_until="load")
        viewer.until("window.state && window.state() === 'ready'")
        viewer.page.evaluate("adapter.show(handle, null)")
        states = "Object.fromEntries(adapter.states)"
        assert set(viewer.page.evaluate(f"Object.values({states})")) == {"loaded"}, name
        refused = re.compile(r"/tiles/.+/\d+/\d*[02468]/\d+\.png")
        viewer.page.route(refused, lambda route: route.fulfill(status=503, body=""))
        viewer.page.evaluate("move()")
        viewer.eventually(lambda: "failed" in viewer.page.evaluate(f"Object.values({states})"))
        viewer.eventually(lambda: viewer.page.evaluate("state()") == "failed")
        found = viewer.page.evaluate(states)
        wrong = [key for key, state in found.items()
                 if state == "failed" and int(key.split("/")[1]) % 2 or "/" not in key]
        assert not wrong, (name, found)
        viewer.page.unroute(refused)
        # The adapters request failed tiles again after 15 s of the page's clock.
        viewer.page.clock.fast_forward(15_000)
        viewer.until("state() === 'ready'")
        assert set(viewer.page.evaluate(f"Object.values({states})")) == {"loaded"}, name
        viewer.page.unroute("**/adapter-page")


def status_page(viewer):
    """the status page lists sources and layers, updates ages, reports lost contact, and links to the map"""
    viewer.page.clock.install()
    viewer.page.goto(f"{viewer.base}/status", wait_until="load")
    viewer.until("document.querySelectorAll('#sources tbody tr').length >= 4")
    viewer.eventually(lambda: viewer.text("#state") == "is serving" and "SIMULATED" in viewer.text("#banners"))
    rows = viewer.page.evaluate("[...document.querySelectorAll('#layers tbody th')].map((node) => node.innerText)")
    named = viewer.page.evaluate("import('./js/layers.js').then(({ LAYERS }) => LAYERS.map(({ name }) => name))")
    assert sorted(rows) == sorted(named), (rows, named)
    before = viewer.text("#about")
    viewer.eventually(lambda: viewer.text("#about") != before)
    viewer.expected = ["ERR_FAILED", "Failed to load"]
    viewer.page.route("**/status", lambda route: route.abort())
    # The page polls every 10 s of its clock.
    viewer.page.clock.fast_forward(10_000)
    viewer.eventually(lambda: viewer.text("#state") == "can't be reached")
    viewer.eventually(lambda: "No contact with the server" in viewer.text("#banners"))
    viewer.eventually(lambda: viewer.text("#sources").count("unknown") == len(
        viewer.page.query_selector_all("#sources tbody tr")))
    viewer.page.unroute("**/status")
    viewer.page.clock.fast_forward(10_000)
    viewer.eventually(lambda: viewer.text("#state") == "is serving")
    viewer.page.click("text=Map")
    viewer.page.wait_for_selector("#map")


def ahead_first(viewer):
    """what lies ahead of a followed flight comes first: in its card, also while it loads, and above a route's card"""
    viewer.page.set_viewport_size({"width": 1440, "height": 900})
    address = viewer.page.request.get(f"{viewer.base}/collections/traffic/items?limit=1000").json()
    address = next(feature["properties"]["icao24"] for feature in address["features"]
                   if not feature["properties"].get("onGround") and feature["properties"].get("altitude", 0) > 20000)
    waiting, released = [], []
    viewer.page.route("**/alerts", lambda route: route.continue_() if released else waiting.append(route))
    viewer.open(f"#layers=hexagons,traffic&route=KORD+KJFK&flight={address}")
    heading = "document.querySelector('#details-body > section:first-child h3')?.textContent"
    viewer.until("document.querySelectorAll('#details-body > section').length > 1")
    assert viewer.page.evaluate(heading).startswith("Ahead of "), viewer.text("#details-body")
    released.append(True)
    while waiting:
        waiting.pop().continue_()
    viewer.until(f"{heading}?.startsWith('Ahead of ') && !{heading.replace(' h3', '')}.includes('Loading')")
    # The alerts come before the aircraft's own level, and no id of a cell is shown.
    assert viewer.page.evaluate("""() => {
        const nodes = [...document.querySelector("#details .alerts").children];
        const first = nodes.findIndex((node) => node.matches(".group")
            || node.textContent.startsWith("No turbulence reported"));
        return first > 0 && nodes.slice(0, first).every((node) => node.matches("h3, .problem"));
    }"""), viewer.text("#details .alerts")
    ids = "/8[0-9a-f]{14}/.test(document.querySelector('#details-body').innerText)"
    viewer.eventually(lambda: not viewer.page.evaluate(ids))
    viewer.until("!document.querySelector('#route').hidden")
    above = """() => document.querySelector("#details").getBoundingClientRect().bottom
        <= document.querySelector("#route").getBoundingClientRect().top"""
    assert viewer.page.evaluate(above)
    viewer.page.unroute_all(behavior="ignoreErrors")
    # A place that the user opens lies below the route's card.
    viewer.page.click("#flight-clear")
    viewer.page.evaluate("location.hash += '&place=40/-85'")
    viewer.until("!document.querySelector('#details').hidden")
    viewer.until(f"!({above})()")


def lost_flight(viewer):
    """a followed flight without a position at the map's time has no card, symbol, track or area of another time"""
    address = viewer.page.request.get(f"{viewer.base}/collections/traffic/items?limit=1000").json()
    # A flight that has just begun has no track yet.
    flight = next(each["properties"] for each in address["features"] if each["properties"].get("callsign")
                  and not each["properties"].get("onGround") and each["properties"].get("altitude", 0) > 20000)
    link = f"#layers=hexagons,gtg&map=5/39/-96&flight={flight['icao24']}"
    shapes = """() => ["flight-track", "ahead"].map((id) => billow.map.getSource(id)?.serialize().data)
        .filter((data) => data && (data.geometry || data.features?.length)).length"""
    card = "document.querySelector('#details-body').textContent"
    viewer.open(link)
    viewer.until(f"{card}.includes('Ahead of')")
    viewer.until(f"({shapes})() === 2")
    ahead = time.strftime("%Y%m%dT%H0000Z", time.gmtime(time.time() + 7200))
    viewer.page.evaluate("(hash) => { location.hash = hash }", f"{link}&time={ahead}")
    viewer.until(f"{card}.includes('A forecast has no positions of aircraft')")
    assert "Ahead of" not in viewer.text("#details-body"), viewer.text("#details-body")
    assert viewer.page.evaluate(shapes) == 0 and viewer.page.locator(".place").count() == 0
    viewer.page.evaluate("(hash) => { location.hash = hash }", link)
    viewer.until(f"{card}.includes('Ahead of')")
    # The same holds for an instant without a position, and the card can still be closed.
    viewer.expected = ["404"]
    viewer.page.route("**/collections/traffic/items/*", lambda route: route.fulfill(
        status=404, json={"code": "not-found", "status": 404, "detail": "none"}))
    viewer.page.check("#history input[value='4']", force=True)
    viewer.until(f"{card}.includes('This flight is not tracked now')")
    assert viewer.page.evaluate(shapes) == 0 and viewer.page.locator(".place").count() == 0
    viewer.page.click("#details-close")
    viewer.until("document.querySelector('#details').hidden && !location.hash.includes('flight=')")


ALL = [
    # The longest come first, so that no browser waits for another at the end.
    zoomed_out, new_user, timeline_lost_tiles, route_uncovered, frame_like_picture, resting, silent_server,
    missing_tiles, offline, copied, accessible, frame_in_parts, two_servers, live_picture, first_load, second_visit,
    remembered_tiles, remembered_picture, first_picture, first_picture_changes, busy_with_all_layers, play_and_pause,
    frames_described, filtered_frame, steps_from_live, space_plays, scrub, incomplete_frame, field_in_view, one_time,
    forecast_instant, timeline_ahead, timeline_scale, number_of_frames, counted_frames, counted_forecasts, slow_tiles,
    filters_keep_playing, ground, names_beside_labels, names_beside_reports, online_base_map, globe, toggle_layers,
    order_and_opacity, filters, origin_filters, filtered_cards, one_level, slider_by_keys, incomplete_instant,
    absent_field, typed_instant, bad_link, link_during_move, instant_without_data, inspect_place, inspect_beside, route,
    level_of_plan, passage_of_plan, differing_stretches, route_ahead, route_without_field, wrong_route,
    route_without_contact, route_without_places, route_through_turbulence, route_suggestions, pick_points,
    route_loading, follow_flight, ahead_first, lost_flight, open_cards, take_along, route_across_antimeridian,
    take_route_along, take_pictures, take_exact_pictures, torn_picture, lost_contact, ages_without_contact,
    slow_settings, words_of_pixels, lost_module, lost_graphics, visible_again, key_entry, narrow_screen, layouts,
    low_route, live_button, many_warnings, place_beside_card, route_beside_place, place_of_link, short_tab_order,
    escape_in_dialog, whole_choices, whole_spans, readers_settings, on_paper, level_colours, examples,
    examples_like_viewer, timeline_elsewhere, timeline_missing_tiles, status_page, unknown_layer, outside_span,
    scaled_tiles, late_source, timeline_key, more_settings, symbols_beside_banners, waypoints_beside_reports,
    hidden_severity,
]
# The tests that look at pixels of the map.
SHARP = {
    remembered_picture, first_picture, frame_like_picture, zoomed_out, globe, missing_tiles, scaled_tiles,
    lost_graphics, offline, silent_server, take_pictures, take_route_along, take_exact_pictures, examples,
    timeline_elsewhere,
}
