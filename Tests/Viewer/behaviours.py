"""What a person does with the viewer. Each function is a test, and its text says what must hold."""
import json
import time
from urllib.parse import urlparse

WAIT_MILLISECONDS = 300_000


class Viewer:
    """The viewer's page in a browser of its own. Errors of its console and failed requests are problems."""

    def __init__(self, browser, base):
        self.browser, self.base = browser, base

    def __enter__(self):
        self.context = self.browser.new_context(viewport={"width": 1000, "height": 700})
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
        """Asks from outside: the page's own policy forbids scripts that are texts."""
        deadline = time.monotonic() + WAIT_MILLISECONDS / 1000
        while not self.page.evaluate(expression, argument):
            assert time.monotonic() < deadline, f"not within {WAIT_MILLISECONDS} ms: {expression}"
            self.page.wait_for_timeout(50)

    def text(self, selector):
        return self.page.inner_text(selector)

    def hash(self):
        return self.page.evaluate("location.hash")

    def tiles(self):
        return [url for url in self.requests if "/tiles/" in url and ".png" in url]

    def drawn(self):
        """The instants of the rasters on the map that can be seen, as in their addresses."""
        return set(self.page.evaluate("""() => {
            const { layers, sources } = billow.map.getStyle();
            const seen = layers.filter(({ type, paint }) => type === "raster" && paint["raster-opacity"] > 0);
            return seen.map(({ source }) => sources[source].tiles[0].match(/(\\/\\w+\\/)\\{z\\}/)[1]);
        }"""))

    def change_answer(self, pattern, change):
        """Answers some requests with what the server says, changed."""
        def answer(route):
            response = route.fetch()
            body = response.json()
            change(body)
            route.fulfill(response=response, body=json.dumps(body))

        self.page.route(pattern, answer)


def live_picture(viewer):
    """the page shows a live picture, says that it is simulated, and explains its colours"""
    viewer.open()
    assert viewer.text("#state-text").startswith("Live"), viewer.text("#state-text")
    assert "SIMULATED DATA" in viewer.text("#banners")
    assert viewer.page.locator("#legend li").count() == 5
    assert viewer.page.locator("#sources li").count() > 0
    assert viewer.tiles()


def busy_with_all_layers(viewer):
    """with six live layers, to which data comes all the time, the page comes to rest and stays so"""
    viewer.open("#layers=hexagons,forecast,hazards,tracks,traffic,pireps")
    looks = []
    for _ in range(25):
        viewer.page.wait_for_timeout(500)
        looks.append(viewer.page.get_attribute("#map", "aria-busy"))
    # Longer than data needs to come, which is ten seconds.
    assert set(looks) == {"false"}, looks


def play_and_pause(viewer):
    """play shows one frame after the other, pause holds the frame, and Live gives the map back"""
    viewer.open()
    viewer.page.click("#play")
    viewer.until("document.querySelector('#play').dataset.playing === 'true'")
    assert viewer.page.get_attribute("#play", "aria-label") == "Pause"
    seen = set()
    viewer.until("document.querySelectorAll('#marks span').length === 13")
    for _ in range(3):
        seen.add(viewer.text("#frame-time"))
        viewer.until(
            "(before) => document.querySelector('#frame-time').textContent !== before", viewer.text("#frame-time"),
        )
    assert len(seen) >= 3, seen
    assert viewer.text("#state-text") == "Playing"
    viewer.page.click("#play")
    viewer.until("document.querySelector('#play').dataset.playing === 'false'")
    held = viewer.text("#frame-time")
    viewer.page.wait_for_timeout(2_000)
    assert viewer.text("#frame-time") == held
    viewer.page.click("#to-live")
    viewer.until("document.querySelector('#frame-time').textContent === 'Live'")
    viewer.until("document.querySelector('#state-text').textContent.startsWith('Live')")
    viewer.until_shown()


def space_plays(viewer):
    """the space bar plays and pauses, but not where it means something else"""
    viewer.open()
    viewer.page.evaluate("document.activeElement?.blur()")
    viewer.page.keyboard.press("Space")
    viewer.until("document.querySelector('#play').dataset.playing === 'true'")
    viewer.page.keyboard.press("Space")
    viewer.until("document.querySelector('#play').dataset.playing === 'false'")
    viewer.page.focus("#severity")
    viewer.page.keyboard.press("Space")
    viewer.page.keyboard.press("Escape")
    assert viewer.page.get_attribute("#play", "data-playing") == "false"


def scrub(viewer):
    """the scrubber shows the frame at its place, with its age, and says that it is not live"""
    viewer.open()
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#frame-age').textContent.includes('ago')")
    viewer.until_shown()
    first = viewer.text("#frame-time")
    assert "Past picture" in viewer.text("#banners"), viewer.text("#banners")
    assert viewer.text("#state-text") == "Past"
    viewer.page.keyboard.press("ArrowRight")
    viewer.until("(before) => document.querySelector('#frame-time').textContent !== before", first)
    assert viewer.page.input_value("#scrubber") == "1"
    viewer.page.click("#banners button")
    viewer.until("document.querySelector('#frame-time').textContent === 'Live'")


def incomplete_frame(viewer):
    """a frame that lacks data says so, under the clock and in a banner"""
    def lack(manifest):
        for layer in manifest["layers"]:
            for frame in layer["frames"]:
                frame["incomplete"] = True

    viewer.change_answer("**/timeline.json*", lack)
    viewer.open()
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#frame-age').textContent.endsWith('incomplete')")
    viewer.until("document.querySelector('#banners').textContent.includes('INCOMPLETE: some data')")


def one_time(viewer):
    """form, timeline, header and address say the same instant, whether it was played, paused, typed or linked"""
    start = int(time.time()) // 60 * 60 - 3 * 3600
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(start))
    viewer.open(f"#time={stamp}")
    clock = time.strftime("%H:%MZ", time.gmtime(start))
    assert viewer.text("#frame-time") == clock, viewer.text("#frame-time")
    assert viewer.text("#state-text") == "Past"
    # Live is live, also after the timeline was used from an instant.
    viewer.page.click("#play")
    viewer.until("document.querySelector('#play').dataset.playing === 'true'")
    viewer.until("document.querySelector('#state-text').textContent === 'Playing'")
    viewer.page.click("#play")
    viewer.until("document.querySelector('#play').dataset.playing === 'false'")
    viewer.page.click("#to-live")
    viewer.until("document.querySelector('#state-text').textContent.startsWith('Live')")
    viewer.until_shown()
    assert viewer.text("#frame-time") == "Live" and "time=" not in viewer.hash(), viewer.hash()
    assert viewer.drawn() == {"/latest/"}, viewer.drawn()
    assert viewer.page.is_checked("#when input[value=live]")
    # Paused in the past, the form and the address say so.
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#state-text').textContent === 'Past'")
    viewer.until_shown()
    assert viewer.page.is_checked("#when input[value=past]")
    shown = viewer.text("#frame-time").rstrip("Z")
    assert shown in viewer.page.input_value("#instant"), (shown, viewer.page.input_value("#instant"))
    assert f"T{shown.replace(':', '')}" in viewer.hash(), (shown, viewer.hash())
    # A link that is opened meanwhile counts, for the map too.
    viewer.page.evaluate("(stamp) => { location.hash = `#time=${stamp}` }", stamp)
    viewer.until("(clock) => document.querySelector('#frame-time').textContent === clock", clock)
    viewer.until_shown()
    assert viewer.drawn() == {f"/{stamp}/"}, viewer.drawn()
    assert viewer.page.input_value("#instant").endswith(clock.rstrip("Z"))


def forecast_instant(viewer):
    """an instant to come is a forecast and names what is not observed yet; one before all data says so too"""
    ahead = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(int(time.time()) + 3600))
    viewer.open(f"#layers=hexagons,hazards&time={ahead}")
    assert viewer.text("#state-text") == "Forecast", viewer.text("#state-text")
    assert "Nothing is observed then yet: Hexagons" in viewer.text("#banners"), viewer.text("#banners")
    assert "forecast, in" in viewer.text("#frame-age"), viewer.text("#frame-age")
    before = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(int(time.time()) - 5 * 86_400))
    viewer.page.evaluate("(stamp) => { location.hash = `#time=${stamp}` }", before)
    viewer.until("document.querySelector('#banners').textContent.includes('little or nothing is stored')")


def timeline_ahead(viewer):
    """the timeline reaches to forecasts, which it marks and says to be such"""
    viewer.open("#layers=hexagons,hazards")
    viewer.page.select_option("#span", "+2h")
    assert viewer.page.input_value("#scrubber") == "6", "live is in the middle of the span"
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("End")
    viewer.until("document.querySelector('#state-text').textContent === 'Forecast'")
    assert "forecast, in" in viewer.text("#frame-age"), viewer.text("#frame-age")
    assert viewer.page.locator("#marks [data-forecast]").count() > 0
    viewer.page.click("#step-back")
    viewer.until("document.querySelector('#frame-next').textContent === ''")
    viewer.page.click("#to-live")
    viewer.until("document.querySelector('#state-text').textContent.startsWith('Live')")


def slow_tiles(viewer):
    """while the tiles of a frame load, the time shown is that of the pixels shown"""
    viewer.open()
    network = viewer.context.new_cdp_session(viewer.page)
    network.send("Network.enable")
    throughput = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    network.send("Network.emulateNetworkConditions", {"latency": 4_000, **throughput})
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#frame-next').textContent.startsWith('loading')")
    for _ in range(6):
        assert viewer.text("#frame-time") == "Live", viewer.text("#frame-time")
        assert viewer.text("#state-text") == "Loading…", viewer.text("#state-text")
        viewer.page.wait_for_timeout(300)
    network.send("Network.emulateNetworkConditions", {"latency": 0, **throughput})
    viewer.until("document.querySelector('#state-text').textContent === 'Past'")
    viewer.until_shown()
    assert viewer.text("#frame-next") == "" and viewer.text("#frame-time") != "Live"


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


def toggle_layers(viewer):
    """a layer that is ticked is drawn and stands in the address, and the last one can't be taken off"""
    viewer.open("#layers=hexagons")
    viewer.page.check("#layers input[value=traffic]", force=True)
    viewer.until_shown()
    assert "layers=hexagons,traffic" in viewer.hash(), viewer.hash()
    viewer.until("() => document.querySelector('.symbols img')?.getAttribute('src').includes('traffic')")
    assert any("/tiles/hexagons,traffic/" in url for url in viewer.tiles()), viewer.tiles()[-3:]
    viewer.page.uncheck("#layers input[value=hexagons]", force=True)
    viewer.until_shown()
    assert "layers=traffic" in viewer.hash()
    viewer.page.locator("#layers input[value=traffic]").dispatch_event("click")
    assert viewer.page.is_checked("#layers input[value=traffic]")


def filters(viewer):
    """history, altitude and severity are asked for, said at the top and kept in the address"""
    viewer.open()
    viewer.page.check("#history input[value='4']", force=True)
    viewer.page.select_option("#severity", "3")
    viewer.page.focus("#lowest")
    for _ in range(3):
        viewer.page.keyboard.press("ArrowRight")
    parts = ("min=3000", "severity=3", "hours=4")
    viewer.until(" && ".join(f"location.hash.includes('{part}')" for part in parts))
    viewer.until_shown()
    assert viewer.text("#band") == "FL030 and above"
    assert viewer.text("#filtered") == "Only FL030 and above, Moderate or worse"
    wanted = ("hours=4", "minAltitude=3000", "minSeverity=3")
    assert any(all(part in url for part in wanted) for url in viewer.tiles()), viewer.tiles()[-3:]
    assert viewer.page.locator("#legend .left-out").count() == 3, viewer.page.inner_html("#legend")
    # By the legend any of them can be left out, and comes back.
    viewer.page.click("#legend button[data-severity='1']")
    viewer.until("location.hash.includes('severities=1,3,4')")
    viewer.until_shown()
    assert viewer.text("#filtered").endswith("Light and Moderate and Moderate-Occasionally Severe")
    assert any("severity=1%2C3%2C4" in url for url in viewer.tiles()), viewer.tiles()[-1]
    assert viewer.page.get_attribute("#legend button[data-severity='2']", "aria-pressed") == "false"
    assert viewer.page.input_value("#severity") == "some"
    viewer.page.click("#legend button[data-severity='2']")
    viewer.until("location.hash.includes('severity=1')")
    viewer.page.click("#all-levels")
    viewer.until("!location.hash.includes('min=')")


def incomplete_instant(viewer):
    """a picture at an instant that lacks data says so in a banner, and that it is not live"""
    def lack(tiles):
        tiles.setdefault("billow", {}).update(incomplete=True, completeSince="2026-01-01T00:00:00Z")

    viewer.change_answer("**/tiles/*.json?*time=*", lack)
    viewer.open()
    assert "INCOMPLETE" not in viewer.text("#banners")
    viewer.page.check("#when input[value=past]", force=True)
    viewer.until(
        "document.querySelector('#banners').textContent.includes('INCOMPLETE: some data of this picture is missing')"
    )
    viewer.page.click("#earlier")
    viewer.until_shown()
    words = viewer.text("#banners")
    assert "Past picture" in words and "The log is complete since" in words, words
    assert "time=" in viewer.hash()
    viewer.page.check("#when input[value=live]", force=True)
    viewer.until("!document.querySelector('#banners').textContent.includes('INCOMPLETE')")


def typed_instant(viewer):
    """an instant that can't be meant is refused where it was typed, and nothing changes"""
    viewer.open()
    viewer.page.check("#when input[value=past]", force=True)
    viewer.until("location.hash.includes('time=')")
    before = viewer.hash()
    refused = (
        ("noon", "Please give a UTC date"), ("2999-01-01 00:00", "still to come"), ("2000-01-01 00:00", "log begins"),
    )
    for text, words in refused:
        viewer.page.fill("#instant", text)
        viewer.page.keyboard.press("Enter")
        viewer.until("(words) => document.querySelector('#instant-problem').textContent.includes(words)", words)
        assert viewer.page.get_attribute("#instant", "aria-invalid") == "true"
    assert viewer.hash() == before


def bad_link(viewer):
    """a link that can't be read is named, and the rest of it counts"""
    viewer.open("#hours=9&severity=2")
    assert 'hours is "9"' in viewer.text("#banners"), viewer.text("#banners")
    assert viewer.page.input_value("#severity") == "2"
    viewer.page.evaluate("location.hash = '#severity=1'")
    viewer.until("document.querySelector('#severity').value === '1'")
    viewer.until("!document.querySelector('#banners').textContent.includes('This link')")


def inspect_place(viewer):
    """Enter on the map tells what is at its middle, and Escape closes that"""
    viewer.open()
    viewer.page.focus("#map canvas")
    viewer.page.keyboard.press("Enter")
    viewer.until(
        "() => !document.querySelector('#details').hidden"
        " && !document.querySelector('#details-body').textContent.includes('Looking')")
    assert len(viewer.text("#details-body")) > 10
    viewer.page.keyboard.press("Escape")
    viewer.until("document.querySelector('#details').hidden")


def inspect_beside(viewer):
    """a click some pixels beside a cell finds the worst one there, and says where it lies and why it is drawn so"""
    viewer.open("#layers=hexagons&map=4/37/-95")
    places = viewer.page.evaluate("""async () => {
        const answer = await fetch("collections/hexagons/items?hours=2&minSeverity=3&bbox=-105,28,-80,46&limit=500");
        const { features } = await answer.json();
        return features.map(({ geometry, properties }) => {
            const { x, y } = billow.map.project(geometry.coordinates[0][0]);
            return { x, y, severity: properties.severity };
        });
    }""")
    on_map = [place for place in places if 340 < place["x"] < 940 and 60 < place["y"] < 540]
    assert on_map, f"{len(places)} cells, none of them on the map"
    names = ["Smooth", "Light", "Light-Moderate", "Moderate", "Moderate-Occasionally Severe"]
    for place in on_map[:: max(1, len(on_map) // 8)][:8]:
        viewer.page.mouse.click(place["x"] - 5, place["y"] + 5)
        viewer.until("!document.querySelector('#details-body').textContent.includes('Looking')")
        heading = viewer.text("#details-body h3")
        assert names.index(heading) >= place["severity"], (place, heading)
        words = viewer.text("#details-body")
        assert "report" in words and "of the last 2 h" in words, words
        viewer.page.click("#details-close")


def route(viewer):
    """a route that is typed has its corridor, lists with times and levels, its side view, and stands in the address"""
    viewer.open()
    viewer.page.fill("#route-text", "nowhere")
    viewer.page.click("#route-form .go")
    assert "two places" in viewer.text("#route-problem")
    viewer.page.fill("#route-text", "KORD DCT KJFK N0450F370 RNAV9")
    viewer.page.click("#route-form .go")
    viewer.until("document.querySelector('#route-body h3')?.textContent === 'KORD KJFK'")
    words = viewer.text("#route-body")
    assert "NM wide" in words and "planned FL370" in words and "Hexagons on the way" in words, words
    assert viewer.page.locator("#route-body tr.own th").inner_text() == "FL370"
    assert "RNAV9" in viewer.text("#route-note"), viewer.text("#route-note")
    viewer.until("document.querySelector('#route-body img.profile').src.startsWith('blob:')")
    viewer.until("document.querySelector('#route-body img.profile').naturalWidth === 640")
    assert "route=KORD+KJFK&level=370" in viewer.hash(), viewer.hash()
    data = viewer.page.get_attribute("#route-body a[download]", "href")
    assert viewer.page.evaluate("async (url) => (await (await fetch(url)).json()).type", data) == "FeatureCollection"
    # Who opens the link sees the same.
    viewer.open("#route=KSEA+KLAX&level=350")
    viewer.until("document.querySelector('#route-body h3')?.textContent === 'KSEA KLAX'")
    assert viewer.page.input_value("#route-level") == "FL350"
    viewer.page.click("#route-clear")
    viewer.until("document.querySelector('#route').hidden && !location.hash.includes('route=')")


def lost_contact(viewer):
    """where the server can't be reached any more the page says so, and goes on when it is back"""
    viewer.open()
    viewer.expected = ["ERR_FAILED", "ERR_INTERNET_DISCONNECTED", "Failed to load"]
    viewer.page.route("**/*", lambda route: route.abort())
    viewer.page.evaluate("dispatchEvent(new Event('online'))")
    viewer.until("document.querySelector('#state-text').textContent === 'No contact'")
    words = viewer.text("#sources")
    assert "not known now" in words and viewer.page.locator("#sources [data-level=good]").count() == 0, words
    viewer.page.unroute("**/*")
    viewer.page.evaluate("dispatchEvent(new Event('online'))")
    viewer.until("document.querySelector('#state-text').textContent.startsWith('Live')")


def key_entry(viewer):
    """a server that wants a key is given the one that is typed, a wrong one again, and no other tab has it"""
    viewer.expected = ["401"]

    def guard(route):
        headers = dict(route.request.headers)
        given = headers.pop("x-api-key", None)
        path = urlparse(route.request.url).path
        if given == "right" or not path.startswith(("/tiles", "/status", "/events", "/legend")):
            # The server itself has no keys.
            return route.continue_(headers=headers)
        body = {
            "type": "about:blank", "status": 401, "code": "key-refused",
            "detail": "No such key" if given else "A key is needed",
        }
        return route.fulfill(status=401, json=body, content_type="application/problem+json")

    viewer.page.route("**/*", guard)
    viewer.page.goto(f"{viewer.base}/", wait_until="load")
    viewer.page.wait_for_selector("dialog.key[open]")
    assert "A key is needed" in viewer.text("dialog.key"), viewer.text("dialog.key")
    viewer.page.fill("dialog.key input", "wrong")
    viewer.page.click("dialog.key button[value=use]")
    viewer.until("() => document.querySelector('dialog.key')?.textContent.includes('No such key')")
    viewer.page.fill("dialog.key input", "right")
    viewer.page.click("dialog.key button[value=use]")
    viewer.until_shown()
    kept = viewer.page.evaluate("sessionStorage.getItem('billow-key')")
    assert kept == "right", kept
    assert viewer.page.evaluate("localStorage.length") == 0, "the key is kept for other tabs"
    viewer.until("document.querySelectorAll('dialog').length === 0")


def narrow_screen(viewer):
    """on a phone the settings open and close by a button, and leave the map room"""
    viewer.page.set_viewport_size({"width": 390, "height": 780})
    viewer.open()
    assert not viewer.page.is_visible("#settings")
    viewer.page.click("#toggle")
    viewer.page.wait_for_selector("#settings", state="visible")
    assert viewer.page.get_attribute("#toggle", "aria-expanded") == "true"
    viewer.page.keyboard.press("Escape")
    viewer.page.wait_for_selector("#settings", state="hidden")


LAYOUT_PROBLEMS = """(touch) => {
    const rect = (node) => node.getBoundingClientRect();
    const isSeen = (node) => node.checkVisibility({ checkVisibilityCSS: true }) && rect(node).width > 2;
    const cards = [...document.querySelectorAll(".bar, .settings, .legend, .dock, .banner")].filter(isSeen);
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
SIZES = [(1440, 900), (1024, 768), (820, 1180), (390, 844), (844, 390)]


def layouts(viewer):
    """at every size nothing of the page is cut off, no card covers another, and a finger finds each control"""
    viewer.open("#map=4/37/-92")
    for width, height in SIZES:
        viewer.page.set_viewport_size({"width": width, "height": height})
        viewer.until_shown()
        touch = width <= 900 or height <= 560
        for _ in range(20):
            problems = viewer.page.evaluate(LAYOUT_PROBLEMS, touch)
            if not problems:
                break
            # The style sheet is told the cards' heights after they have changed.
            viewer.page.wait_for_timeout(250)
        assert not problems, (width, height, problems)


def accessible(viewer):
    """axe finds nothing in any state of the page: live, past, with a card, on a phone with its settings"""
    from axe_playwright_python.sync_playwright import Axe

    def judge(state):
        found = Axe().run(viewer.page).response["violations"]
        assert not found, (state, [(each["id"], each["nodes"][0]["html"][:200]) for each in found])

    viewer.open()
    judge("live")
    viewer.page.focus("#scrubber")
    viewer.page.keyboard.press("Home")
    viewer.until("document.querySelector('#state-text').textContent === 'Past'")
    viewer.page.select_option("#severity", "2")
    viewer.page.focus("#map canvas")
    viewer.page.keyboard.press("Enter")
    viewer.until("!document.querySelector('#details-body').textContent.includes('Looking')")
    judge("past, filtered, with a card")
    viewer.page.set_viewport_size({"width": 390, "height": 844})
    judge("phone with a card")
    viewer.page.keyboard.press("Escape")
    viewer.page.emulate_media(color_scheme="dark")
    viewer.page.click("#toggle")
    viewer.page.wait_for_selector("#settings", state="visible")
    judge("phone with settings, dark")


def status_page(viewer):
    """the status page names the sources, and leads back to the map"""
    viewer.page.goto(f"{viewer.base}/status", wait_until="load")
    assert "simulator" in viewer.text("body")


ALL = [
    live_picture, busy_with_all_layers, play_and_pause, space_plays, scrub, incomplete_frame, one_time,
    forecast_instant, timeline_ahead, slow_tiles, filters_keep_playing, toggle_layers, filters, incomplete_instant,
    typed_instant, bad_link, inspect_place, inspect_beside, route, lost_contact, key_entry, narrow_screen, layouts,
    accessible, status_page,
]
