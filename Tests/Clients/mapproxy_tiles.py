"""Re-serves a server by MapProxy, with the settings that the documents have, and compares the pictures.

Usage: Tests/Clients/mapproxy_tiles.py URL PICTURES

The snippets are read from docs/embedding.md and docs/http/ogc.md, and only the server's address is replaced.
"""
import re
import socket
import subprocess
import sys
import time as clock
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError

from PIL import Image

from common import Findings, busiest, features, get

findings = Findings("mapproxy")
ROOT = Path(__file__).resolve().parent.parent.parent
EDGE = 20037508.342789244


def snippet(document):
    """The YAML below the name of MapProxy."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.search(r"MapProxy\**\n\n```yaml\n(.*?)```", text, re.DOTALL)[1]


def pixels(data):
    return Image.open(BytesIO(data)).convert("RGBA")


def different(one, other):
    """The number of pixels that differ. Transparent pixels have no colour."""
    if one.size != other.size:
        return other.width * other.height
    a, b = one.tobytes(), other.tobytes()
    pairs = ((a[at:at + 4], b[at:at + 4]) for at in range(0, len(a), 4))
    return sum(p != q and (p[3] or q[3]) != 0 for p, q in pairs)


class Proxy:
    """MapProxy's own server, with settings."""

    def __init__(self, folder, settings):
        folder.mkdir()
        (folder / "mapproxy.yaml").write_text(settings)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.log = open(folder / "log", "w+")
        self.process = subprocess.Popen(
            [str(Path(sys.executable).parent / "mapproxy-util"), "serve-develop", "-b", f"127.0.0.1:{port}",
             str(folder / "mapproxy.yaml")], stdout=self.log, stderr=self.log)

    def __enter__(self):
        for _ in range(300):
            try:
                get(f"{self.url}/demo/")
                return self
            except (URLError, RuntimeError):
                if self.process.poll() is not None:
                    break
                clock.sleep(0.2)
        self.log.seek(0)
        raise RuntimeError(f"MapProxy did not start: {self.log.read()[-600:]}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def tile(self, layer, zoom, x, y):
        side = 2 * EDGE / 2 ** zoom
        west, north = x * side - EDGE, EDGE - y * side
        return get(f"{self.url}/service?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS={layer}&STYLES=&SRS=EPSG:3857"
                   f"&BBOX={west!r},{north - side!r},{west + side!r},{north!r}&WIDTH=256&HEIGHT=256"
                   "&FORMAT=image/png&TRANSPARENT=true")


def compare(proxy, base, layer, places, name, pictures):
    for zoom, x, y in places:
        # A minute may turn between the two.
        for _ in range(3):
            theirs = proxy.tile(layer, zoom, x, y)
            ours = get(f"{base}/tiles/hexagons/latest/{zoom}/{x}/{y}.png")
            count = different(pixels(theirs), pixels(ours))
            if count == 0:
                break
        (pictures / f"{name}-{zoom}-{x}-{y}.png").write_bytes(theirs)
        drawn = sum(1 for alpha in pixels(ours).tobytes()[3::4] if alpha)
        findings.check(count == 0 and drawn, f"{name}: tile {zoom}/{x}/{y} has Billow's pixels",
                       f"{count} differ, {drawn} are drawn")


def main():
    base, pictures = sys.argv[1].rstrip("/"), Path(sys.argv[2])
    pictures.mkdir(parents=True, exist_ok=True)
    cells = features(base, "hexagons/items?limit=10000")
    places = [(zoom, *busiest(cells, zoom)) for zoom in (3, 5, 6, 8)]
    local = "http://127.0.0.1:8080"
    tiles = snippet("docs/embedding.md").replace(local, base)
    of_wms = ('services: { demo: {}, wms: { srs: ["EPSG:3857", "EPSG:4326"] } }\n'
              "layers: [{ name: turbulence, title: Turbulence, sources: [billow] }]\n"
              + snippet("docs/http/ogc.md").replace(local, base))
    with TemporaryDirectory() as folder:
        for name, settings in [("mapproxy-tiles", tiles), ("mapproxy-wms", of_wms)]:
            with Proxy(Path(folder) / name, settings) as proxy:
                capabilities = get(f"{proxy.url}/service?SERVICE=WMS&REQUEST=GetCapabilities&VERSION=1.1.1").decode()
                findings.check("<Name>turbulence</Name>" in capabilities, f"{name}: the layer is offered")
                findings.part(name, compare, proxy, base, "turbulence", places, name, pictures)
    findings.end()


if len(sys.argv) != 3:
    sys.exit("usage: Tests/Clients/mapproxy_tiles.py URL PICTURES")
main()
