"""Shows a server on pages of another origin, in headless Chromium: with the code that docs/embedding.md has for
MapLibre, Leaflet and OpenLayers, and as a RainViewer client.

Usage: Tests/Clients/pages.py URL PICTURES

Only the server's address in the documents' code is replaced. The libraries are those that Billow packages, loaded from
its own address. Each page must show the colours of severities, without a failed request or an error in its console.
"""
import http.server
import importlib.machinery
import importlib.util
import re
import sys
import threading
from collections import Counter
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from common import FILLS, SEVERITIES, Findings, busiest, features, get_json

findings = Findings("pages")
DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs" / "embedding.md"
ZOOM = 6
SCREENSHOT = DOCUMENT.parent.parent / "Scripts" / "screenshot"

PAGE = """<!doctype html><meta charset="utf-8"><title>{name}</title>
<style>html, body, #map {{ margin: 0; height: 100%; background: #404040 }}</style>
<link rel="stylesheet" href="{base}/vendor/{style}"><div id="map"></div>
<script src="{base}/vendor/{script}"></script><script type="module">{code}</script>"""

LEAFLET = """
const map = window.map = L.map("map", {{ fadeAnimation: false }}).setView([{latitude}, {longitude}], {zoom});
"""
MAPLIBRE = """
const style = {{ version: 8, sources: {{}}, layers: [
    {{ id: "ground", type: "background", paint: {{ "background-color": "#404040" }} }}] }};
const map = window.map = new maplibregl.Map({{
    container: "map", style, center: [{longitude}, {latitude}], zoom: {zoom} - 1, fadeDuration: 0 }});
await map.once("load");
"""
OPENLAYERS = """
const layer = {code}
window.map = new ol.Map({{ target: "map", layers: [layer], view: new ol.View({{
    center: ol.proj.fromLonLat([{longitude}, {latitude}]), zoom: {zoom} }}) }});
"""
# How RainViewer's documentation puts a tile's address together: host, path of the frame, size, colours, options.
RAINVIEWER = """
const api = await (await fetch("{base}/public/weather-maps.json")).json();
const frames = [...api.radar.past, ...(api.radar.nowcast ?? [])];
const address = (frame) => `${{api.host}}${{frame.path}}/256/{{z}}/{{x}}/{{y}}/2/1_1.png`;
const layers = frames.map((frame) => L.tileLayer(address(frame), {{ opacity: 0.01, zIndex: frame.time }}).addTo(map));
const shown = api.radar.past.length - 1;
layers[shown].setOpacity(1);
layers.forEach((layer, number) => number === shown || layer.remove());
window.frames_ = frames.length;
"""


def code(heading):
    """The code below a heading of the document, for this server."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return re.search(rf"^## {heading}$.*?```js\n(.*?)```", text, re.DOTALL | re.MULTILINE)[1]


def serve(pages):
    """Serves pages by their paths, at an address of its own."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = pages.get(self.path, "").encode()
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def colours(png, wanted):
    """The pixels of each severity's colour."""
    data = Image.open(BytesIO(png)).convert("RGB").tobytes()
    counted, found = Counter(data[at:at + 3] for at in range(0, len(data), 3)), Counter()
    for colour, count in counted.items():
        for severity, parts in wanted.items():
            if all(abs(part - other) <= 4 for part, other in zip(colour, parts)):
                found[severity] += count
    return dict(sorted(found.items()))


def main():
    base, pictures = sys.argv[1].rstrip("/"), Path(sys.argv[2])
    pictures.mkdir(parents=True, exist_ok=True)
    cells = features(base, "hexagons/items?limit=10000&minSeverity=1")
    x, y = busiest(cells, ZOOM)
    side = 360 / 2 ** ZOOM
    near = [each["geometry"]["coordinates"][0][0] for each in cells if each["geometry"]["type"] == "Polygon"
            and busiest([each], ZOOM) == (x, y)]
    values = {"base": base, "zoom": ZOOM, "longitude": x * side - 180 + side / 2,
              "latitude": sum(latitude for _, latitude in near) / len(near)}
    local = "http://127.0.0.1:8080"

    def page(name, style, script, text):
        return PAGE.format(name=name, style=style, script=script, code=text.replace(local, base), base=base)

    leaflet, maplibre = ("leaflet/leaflet.css", "leaflet/leaflet.js"), (
        "maplibre/maplibre-gl.css", "maplibre/maplibre-gl.js")
    openlayers = ("openlayers/ol.css", "openlayers/ol.js")
    pages = {
        "/leaflet": page("Leaflet", *leaflet, LEAFLET.format(**values) + code("Leaflet")),
        "/maplibre": page("MapLibre", *maplibre, MAPLIBRE.format(**values) + code("MapLibre GL")),
        "/maplibre-vectors": page("Vector tiles", *maplibre, MAPLIBRE.format(**values) + code("Vector tiles")),
        "/openlayers": page("OpenLayers", *openlayers, OPENLAYERS.format(**values, code=code("OpenLayers"))),
        "/rainviewer": page("RainViewer", *leaflet, LEAFLET.format(**values) + RAINVIEWER.format(**values)),
    }
    opaque = {severity: tuple(int(fill[at:at + 2], 16) for at in (1, 3, 5)) for severity, (fill, _) in FILLS.items()}
    other = serve(pages)
    with sync_playwright() as playwright:
        browser = screenshot_script().launch(playwright)
        for path in pages:
            findings.part(path[1:], show, browser, other + path, path[1:], pictures,
                          opaque if path == "/maplibre-vectors" else SEVERITIES)
        browser.close()
    frames = get_json(f"{base}/public/weather-maps.json")
    findings.check(frames["radar"]["past"] and frames["host"].startswith("http"), "rainviewer: there are frames",
                   len(frames["radar"]["past"]))
    findings.end()


def screenshot_script():
    loader = importlib.machinery.SourceFileLoader("screenshot", str(SCREENSHOT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("screenshot", loader))
    loader.exec_module(module)
    return module


def show(browser, url, name, pictures, wanted):
    problems = []
    page = browser.new_page(viewport={"width": 800, "height": 600})
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: message.type == "error" and problems.append(message.text))
    page.on("response", lambda answer: answer.status >= 400 and "favicon" not in answer.url
            and problems.append(f"{answer.status} {answer.url}"))
    page.goto(url, wait_until="networkidle", timeout=60_000)
    for _ in range(60):
        png = page.screenshot()
        found = colours(png, wanted)
        if sum(count for severity, count in found.items() if severity) > 100:
            break
        page.wait_for_timeout(500)
    (pictures / f"page-{name}.png").write_bytes(png)
    page.close()
    problems = [problem for problem in problems if "favicon" not in problem and "404 (Not Found)" not in problem]
    findings.check(sum(count for severity, count in found.items() if severity) > 100,
                   f"{name}: turbulence is seen from another origin", f"pixels {found}")
    findings.check(not problems, f"{name}: no request fails, and the console has no error", problems[:3])


if len(sys.argv) != 3:
    sys.exit("usage: Tests/Clients/pages.py URL PICTURES")
main()
