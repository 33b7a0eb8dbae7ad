"""Asks a server as OWSLib does: reads {"base": address} from standard input and writes what is wrong as a JSON list of
sentences. The layer `hexagons` must show something at 5° E 50° N, and nothing at 8° E 50° N."""

import json
import sys
import zlib

from owslib.ogcapi.maps import Maps
from owslib.util import ServiceException
from owslib.wms import WebMapService
from owslib.wmts import WebMapTileService

wrong = []
base = json.load(sys.stdin)["base"]


def check(holds, sentence):
    if not holds:
        wrong.append(sentence)


def png(data):
    """Width, height and whether there is more than one colour in the picture, by its bytes alone."""
    check(data[:8] == b"\x89PNG\r\n\x1a\n", f"no PNG: {data[:80]!r}")
    size = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    rows, at = b"", 8
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 8] == b"IDAT":
            rows += data[at + 8 : at + 8 + length]
        at += 12 + length
    return size, len(set(zlib.decompress(rows))) > 2


for version in ["1.3.0", "1.1.1"]:
    wms = WebMapService(f"{base}/wms", version=version)
    layer = wms["hexagons"]
    check("skypath" in layer.styles, f"{version}: styles {list(layer.styles)}")
    check(layer.timepositions and "/PT1M" in layer.timepositions[0], f"{version}: times {layer.timepositions}")
    check(layer.defaulttimeposition == "current", f"{version}: default time {layer.defaulttimeposition}")
    check(layer.elevations == ["0/60000/1000"], f"{version}: elevations {layer.elevations}")
    check(layer.boundingBoxWGS84 == (-180.0, -90.0, 180.0, 90.0), f"{version}: box {layer.boundingBoxWGS84}")
    check({"EPSG:3857", "EPSG:4326"} <= set(layer.crsOptions), f"{version}: systems {layer.crsOptions}")
    for place, shows in [((4.2, 49.2, 5.8, 50.8), True), ((7.9, 49.9, 8.1, 50.1), False)]:
        # OWSLib hands boxes on as they are, and swaps none.
        if version == "1.3.0":
            asked = {"srs": "CRS:84", "bbox": place}
        else:
            asked = {"srs": "EPSG:4326", "bbox": place}
        answer = wms.getmap(
            layers=["hexagons"], styles=["skypath"], size=(200, 100), format="image/png", transparent=True,
            time="current", **asked)
        size, is_drawn = png(answer.read())
        check(size == (200, 100), f"{version}: {size}")
        check(is_drawn == shows, f"{version}: {place} is {'drawn' if is_drawn else 'empty'}")
    info = wms.getfeatureinfo(
        layers=["hexagons"], query_layers=["hexagons"], srs="CRS:84" if version == "1.3.0" else "EPSG:4326",
        bbox=(4.9, 49.9, 5.1, 50.1), size=(201, 201), format="image/png", info_format="application/json",
        xy=(100, 100))
    features = json.loads(info.read())["features"]
    check(len(features) == 1 and features[0]["properties"]["severity"] == 3, f"{version}: {features}")
    legend = layer.styles["skypath"]["legend"]
    check(legend.startswith(base), f"{version}: legend {legend}")
    try:
        wms.getmap(layers=["clouds"], styles=[""], srs="EPSG:3857", bbox=(0, 0, 1e6, 1e6), size=(10, 10),
                   format="image/png")
        wrong.append(f"{version}: an unknown layer is drawn")
    except ServiceException as error:
        check("clouds" in str(error), f"{version}: {error}")

for address in [f"{base}/wmts", f"{base}/wmts/1.0.0/WMTSCapabilities.xml"]:
    wmts = WebMapTileService(address)
    layer = wmts["hexagons"]
    check(list(wmts.tilematrixsets) == ["WebMercatorQuad"], f"{list(wmts.tilematrixsets)}")
    check("skypath" in layer.styles, f"{list(layer.styles)}")
    tile = wmts.gettile(
        layer="hexagons", tilematrixset="WebMercatorQuad", tilematrix="7", row=43, column=65, format="image/png")
    size, is_drawn = png(tile.read())
    check(size == (256, 256) and is_drawn, f"{address}: {size} {is_drawn}")

maps = Maps(f"{base}/ogc")
picture = maps.map("hexagons", width=300, height=200, bbox=[4, 49, 7, 51])
size, is_drawn = png(picture.getvalue())
check(size == (300, 200) and is_drawn, f"OGC API Maps: {size} {is_drawn}")

json.dump(wrong, sys.stdout)
