#!/usr/bin/python3
"""Loads everything that Billow offers to QGIS as layers, through PyQGIS, and renders it.

Usage: Tests/Clients/qgis_layers.py URL PICTURES
    URL       the address of a server of the demo's data
    PICTURES  the folder for the pictures of what QGIS drew

Each layer must be valid, have the server's number of features, and show the colours of the severities. Pictures of
tiles must equal Billow's own tiles. The pictures are over a grey ground, of the place with most turbulence.

Runs in Debian's Python, which has python3-qgis. `Scripts/check-clients` starts it.
"""
import os
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree
from collections import Counter
from math import atan, degrees, pi, sinh
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PyQt5.QtCore import QDateTime, QSize, Qt  # noqa: E402
from PyQt5.QtGui import QColor, QImage, QPainter  # noqa: E402
from qgis.core import (  # noqa: E402
    QgsApplication, QgsCoordinateReferenceSystem, QgsCoordinateTransform, QgsDateTimeRange, QgsMapBoxGlStyleConverter,
    QgsMapBoxGlStyleConversionContext, QgsMapRendererParallelJob, QgsMapSettings, QgsPointXY, QgsProject,
    QgsRasterLayer, QgsRectangle, QgsVectorLayer, QgsVectorTileLayer, Qgis)

from common import FILLS, GROUND, SEVERITIES, Findings, between, features, get, instant, middle, tile  # noqa: E402

EDGE = 20037508.342789244
ZOOM, COLUMNS, ROWS, TILE = 6, 4, 3, 256
WIDTH, HEIGHT = COLUMNS * TILE, ROWS * TILE
MERCATOR, DEGREES = "EPSG:3857", "EPSG:4326"
findings = Findings("qgis")


# MARK: Pictures


def crs(name):
    return QgsCoordinateReferenceSystem(name)


def render(layers, extent, name, system=MERCATOR, time=None, width=WIDTH, height=HEIGHT):
    """Draws layers over the ground, and keeps the picture."""
    settings = QgsMapSettings()
    settings.setLayers(layers)
    settings.setDestinationCrs(crs(system))
    settings.setExtent(extent)
    settings.setOutputSize(QSize(width, height))
    settings.setBackgroundColor(QColor(*GROUND))
    settings.setTransformContext(QgsProject.instance().transformContext())
    if time:
        at = QDateTime.fromString(time, Qt.ISODate)
        settings.setTemporalRange(QgsDateTimeRange(at, at))
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    for error in job.errors():
        findings.check(False, f"{name} is rendered without an error", error.message)
    picture = job.renderedImage()
    picture.save(str(pictures / f"{name}.png"))
    return picture


def pixels(picture):
    """Rows of pixels, three bytes each."""
    plain = picture.convertToFormat(QImage.Format_RGB888)
    step, bits = plain.bytesPerLine(), plain.constBits()
    bits.setsize(step * plain.height())
    data = bytes(bits)
    return b"".join(data[row * step:row * step + 3 * plain.width()] for row in range(plain.height()))


def around(data, width, choose):
    """Each channel's least or largest value in the 3 by 3 pixels around each pixel."""
    step = 3 * width
    rows = [data[at:at + step] for at in range(0, len(data), step)]
    found = []
    for above, row, below in zip([rows[0], *rows], rows, [*rows[1:], rows[-1]]):
        tall = bytes(map(choose, above, row, below))
        found.append(bytes(map(choose, tall[:3] + tall[:-3], tall, tall[3:] + tall[-3:])))
    return b"".join(found)


def differing(one, other, tolerance=8):
    """The share of pixels of two pictures that differ.

    QGIS places pictures at whole pixels, one up or down as it rounds. A place between two pixels is resampled there.
    So a pixel is equal if each channel lies within the other picture's 3 by 3 pixels around it, and the other way
    round. A picture of many colours has a palette, hence the tolerance.
    """
    a, b, width = pixels(one), pixels(other), one.width()

    def outside(data, field):
        least, most = around(field, width, min), around(field, width, max)
        return {at // 3 for at, (value, low, high) in enumerate(zip(data, least, most))
                if not low - tolerance <= value <= high + tolerance}

    return len(outside(a, b) | outside(b, a)) / (width * one.height())


def severities_of(picture, colours=SEVERITIES):
    """The pixels of each severity's colour."""
    data = pixels(picture)
    counted = Counter(data[at:at + 3] for at in range(0, len(data), 3))
    found = Counter()
    for colour, count in counted.items():
        for severity, wanted in colours.items():
            if all(abs(part - other) <= 3 for part, other in zip(colour, wanted)):
                found[severity] += count
    return dict(sorted(found.items()))


def shows(picture, what, expected, colours=SEVERITIES, least=20):
    """Checks that a picture has the colours of the severities that are there."""
    found = severities_of(picture, colours)
    missing = [severity for severity in expected if found.get(severity, 0) < least]
    findings.check(not missing, f"{what}: severities {expected} are seen", f"pixels {found}")


def equals(picture, other, what):
    share = differing(picture, other)
    findings.check(share <= 0.0005, f"{what}: as Billow's own tiles", f"{share:.3%} of the pixels differ")


def places(picture, extent, cells, what, system=MERCATOR, colours=SEVERITIES):
    """Checks that the middles of cells have their severity's colour: a layer that is shifted or turned has not."""
    change = QgsCoordinateTransform(crs(DEGREES), crs(system), QgsProject.instance())
    right, of = 0, 0
    for (x, y), severity in cells:
        place = change.transform(QgsPointXY(x, y))
        column = int((place.x() - extent.xMinimum()) / extent.width() * picture.width())
        row = int((extent.yMaximum() - place.y()) / extent.height() * picture.height())
        if severity and 0 <= column < picture.width() and 0 <= row < picture.height():
            colour = QColor(picture.pixel(column, row)).getRgb()[:3]
            of += 1
            right += all(abs(part - wanted) <= 6 for part, wanted in zip(colour, colours[severity]))
    findings.check(of > 30 and right / of > 0.97, f"{what}: cells lie where they should", f"{right} of {of}")


# MARK: What the server has


def cells_of(base, query):
    """The middle and the severity of hexagons."""
    return [(middle(feature), feature["properties"]["severity"])
            for feature in features(base, f"hexagons/items?limit=10000{query}")
            if feature["geometry"]["type"] == "Polygon"]


class View:
    """The block of tiles with most kinds of turbulence, as a picture of Billow's own tiles shows it."""

    def __init__(self, base, cells):
        weights = {}
        for place, severity in cells:
            weights.setdefault(tile(*place, ZOOM), []).append(severity)

        def weight(corner):
            kinds = Counter(severity for x in range(COLUMNS) for y in range(ROWS)
                            for severity in weights.get((corner[0] + x, corner[1] + y), []))
            return sum(min(count, 60) for severity, count in kinds.items() if severity > 0), sum(kinds.values())

        corners = {(x - dx, y - dy) for x, y in weights for dx in range(COLUMNS) for dy in range(ROWS)}
        corners = [c for c in corners if 0 <= c[0] <= 2 ** ZOOM - COLUMNS and 0 <= c[1] <= 2 ** ZOOM - ROWS]
        self.base, self.x, self.y = base, *max(sorted(corners), key=weight)
        side = 2 * EDGE / 2 ** ZOOM
        west, north = self.x * side - EDGE, EDGE - self.y * side
        self.extent = QgsRectangle(west, north - ROWS * side, west + COLUMNS * side, north)
        self.cells = [cell for cell in cells
                      for column, line in [tile(*cell[0], ZOOM)]
                      if 0 <= column - self.x < COLUMNS and 0 <= line - self.y < ROWS]
        counted = Counter(severity for _, severity in self.cells)
        self.expected = [severity for severity in sorted(FILLS) if counted[severity] >= 5]

    def degrees(self):
        def latitude(row):
            return degrees(atan(sinh(pi * (1 - 2 * row / 2 ** ZOOM))))
        west, east = (360 * column / 2 ** ZOOM - 180 for column in (self.x, self.x + COLUMNS))
        return QgsRectangle(west, latitude(self.y + ROWS), east, latitude(self.y))

    def tiles(self, template):
        """Billow's own tiles, beside each other over the ground."""
        picture = QImage(WIDTH, HEIGHT, QImage.Format_ARGB32_Premultiplied)
        picture.fill(QColor(*GROUND))
        painter = QPainter(picture)
        for x in range(COLUMNS):
            for y in range(ROWS):
                address = template.format(z=ZOOM, x=self.x + x, y=self.y + y)
                painter.drawImage(x * TILE, y * TILE, QImage.fromData(get(self.base + address)))
        painter.end()
        return picture


def quoted(address):
    return urllib.parse.quote(address, safe=":/")


# MARK: Layers of pictures


def xyz(view, time):
    for name, when in [("xyz", time), ("xyz-latest", "latest")]:
        path = f"/tiles/hexagons/{when}/{{z}}/{{x}}/{{y}}.png"
        layer = QgsRasterLayer(
            f"type=xyz&url={quoted(view.base + path)}&zmin=0&zmax=22&crs={MERCATOR}", name, "wms")
        if findings.check(layer.isValid(), f"{name}: the layer is valid", layer.error().message()):
            picture = render([layer], view.extent, name)
            equals(picture, view.tiles(path), name)
            shows(picture, name, view.expected)
            if when == time:
                places(picture, view.extent, view.cells, name)


def wmts(view, time, iso, earlier_iso):
    service = quoted(f"{view.base}/wmts/1.0.0/WMTSCapabilities.xml")
    common = (f"contextualWMSLegend=0&crs={MERCATOR}&dpiMode=7&format=image/png&layers=hexagons&styles=skypath"
              f"&tileMatrixSet=WebMercatorQuad&url={service}")
    kinds = [("wmts", "", "latest"), ("wmts-time", f"&tileDimensions=Time%3D{quoted(iso)}", time),
             ("wmts-earlier", f"&tileDimensions=Time%3D{quoted(earlier_iso)}", earlier(earlier_iso))]
    drawn = {}
    for name, dimension, when in kinds:
        layer = QgsRasterLayer(common + dimension, name, "wms")
        if findings.check(layer.isValid(), f"{name}: the layer is valid", layer.error().message()):
            drawn[name] = render([layer], view.extent, name)
            equals(drawn[name], view.tiles(f"/tiles/hexagons/{when}/{{z}}/{{x}}/{{y}}.png"), name)
    if "wmts-time" in drawn:
        shows(drawn["wmts-time"], "wmts-time", view.expected)
        share = differing(drawn["wmts-time"], drawn["wmts-earlier"])
        findings.check(share > 0.001, "wmts: another time is another picture", f"{share:.3%} of the pixels differ")
        own = view.tiles(f"/tiles/hexagons/{time}/{{z}}/{{x}}/{{y}}.png")
        nearer, farther = differing(drawn["wmts-time"], own), differing(drawn["wmts-earlier"], own)
        findings.check(nearer < farther, "wmts: a time has the tiles of that time", f"{nearer:.3%}, {farther:.3%}")


def earlier(iso):
    return iso.replace("-", "").replace(":", "")


def wms(view, time, iso, earlier_iso):
    for system, extent in [(MERCATOR, view.extent), (DEGREES, view.degrees())]:
        # In degrees the view is lower than in Mercator's projection.
        height = round(WIDTH * extent.height() / extent.width())
        name = f"wms-{system[5:]}"
        layer = QgsRasterLayer(
            f"contextualWMSLegend=0&crs={system}&dpiMode=7&format=image/png&layers=hexagons&styles=skypath"
            f"&url={quoted(view.base + '/wms')}", name, "wms")
        if findings.check(layer.isValid(), f"{name}: the layer is valid", layer.error().message()):
            picture = render([layer], extent, name, system, height=height)
            shows(picture, name, view.expected)
            if system == DEGREES:
                places(picture, extent, cells_of(view.base, ""), name, system)
    # What the dialog of QGIS takes from the capabilities for the temporal controller.
    root = ElementTree.fromstring(get(f"{view.base}/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities"))
    space = {"wms": "http://www.opengis.net/wms"}
    layers = {layer.find("wms:Name", space).text: layer for layer in root.iterfind(".//wms:Layer", space)
              if layer.find("wms:Name", space) is not None}
    dimension = next(each for each in layers["hexagons"].iterfind("wms:Dimension", space)
                     if each.get("name").lower() == "time")
    layer = QgsRasterLayer(
        f"allowTemporalUpdates=true&contextualWMSLegend=0&crs={MERCATOR}&dpiMode=7&format=image/png&layers=hexagons"
        f"&styles=skypath&temporalSource=provider&timeDimensionExtent={quoted(dimension.text.strip())}&type=wmst"
        f"&url={quoted(view.base + '/wms')}", "wms-time", "wms")
    if not findings.check(layer.isValid(), "wms-time: the layer is valid", layer.error().message()):
        return
    range = layer.dataProvider().temporalCapabilities().availableTemporalRange()
    findings.check(
        layer.dataProvider().temporalCapabilities().hasTemporalCapabilities() and not range.isInfinite(),
        "wms-time: QGIS knows its times", f"{range.begin().toString(Qt.ISODate)} to {range.end().toString(Qt.ISODate)}")
    layer.temporalProperties().setIsActive(True)
    picture = render([layer], view.extent, "wms-time", time=iso)
    equals(picture, view.tiles(f"/tiles/hexagons/{time}/{{z}}/{{x}}/{{y}}.png"), "wms-time")
    shows(picture, "wms-time", view.expected)
    places(picture, view.extent, view.cells, "wms-time")
    before = render([layer], view.extent, "wms-earlier", time=earlier_iso)
    equals(before, view.tiles(f"/tiles/hexagons/{earlier(earlier_iso)}/{{z}}/{{x}}/{{y}}.png"), "wms-earlier")
    share = differing(picture, before)
    findings.check(share > 0.001, "wms-time: another time is another picture", f"{share:.3%} of the pixels differ")


# MARK: Layers of features


def oapif(view):
    def keys(collection):
        return {feature["id"] for feature in features(view.base, f"{collection}/items?limit=10000")}

    for collection in ["hexagons", "hazards", "pireps", "polygons", "forecast", "advisories", "tracks", "traffic"]:
        layer = QgsVectorLayer(
            f" restrictToRequestBBOX='0' typename='{collection}' "
            f"url='{view.base}/ogc' version='OGC_API_FEATURES'", collection, "OAPIF")
        if not findings.check(layer.isValid(), f"oapif {collection}: the layer is valid", layer.error().message()):
            continue

        def read():
            layer.dataProvider().reloadData()
            return {feature["id"] for feature in layer.getFeatures()}

        names = [field.name() for field in layer.fields()]
        if "id" not in names:
            findings.check(False, f"oapif {collection}: QGIS has the ids", names)
            continue
        count, lacks, more = between(lambda: keys(collection), read)
        findings.check(not lacks and not more and count, f"oapif {collection}: every feature is there",
                       f"{count}; {len(lacks)} are lacking, {len(more)} too many")
        if collection == "hexagons":
            style_by_severity(layer)
            shows(render([layer], view.extent, "oapif-hexagons"), "oapif", view.expected)


def style_by_severity(layer):
    """Colours by severity, as a person would choose them."""
    from qgis.core import QgsCategorizedSymbolRenderer, QgsFillSymbol, QgsRendererCategory
    categories = []
    for severity, (fill, opacity) in FILLS.items():
        colour = ",".join(str(int(fill[at:at + 2], 16)) for at in (1, 3, 5)) + f",{round(255 * opacity)}"
        symbol = QgsFillSymbol.createSimple({"color": colour, "outline_style": "no"})
        categories.append(QgsRendererCategory(severity, symbol, str(severity)))
    layer.setRenderer(QgsCategorizedSymbolRenderer("severity", categories))


def vector_tiles(view, time):
    path = f"/tiles/hexagons/{time}/{{z}}/{{x}}/{{y}}.mvt"
    layer = QgsVectorTileLayer(f"type=xyz&url={quoted(view.base + path)}&zmin=0&zmax=22", "vector tiles")
    if not findings.check(layer.isValid(), "vector tiles: the layer is valid", layer.error().message()):
        return
    plain = render([layer], view.extent, "vector-tiles-default")
    ground = sum(1 for at in range(0, WIDTH * HEIGHT * 3, 3) if pixels_at(plain, at) == bytes(GROUND))
    findings.check(ground < 0.98 * WIDTH * HEIGHT, "vector tiles: QGIS draws them in its own style",
                   f"{1 - ground / WIDTH / HEIGHT:.1%} of the pixels")
    # QGIS 3.22 reads no number in the expression `match` of docs/embedding.md, so each severity has a layer.
    style = {"version": 8, "sources": {}, "layers": [
        {"id": f"severity-{severity}", "type": "fill", "source": "billow", "source-layer": "hexagons",
         "filter": ["==", "severity", severity], "paint": {"fill-color": fill, "fill-opacity": opacity}}
        for severity, (fill, opacity) in FILLS.items()]}
    converter = QgsMapBoxGlStyleConverter()
    context = QgsMapBoxGlStyleConversionContext()
    result = converter.convert(style, context)
    findings.check(result == QgsMapBoxGlStyleConverter.Success, "vector tiles: QGIS reads a MapLibre style",
                   f"{converter.errorMessage()} {converter.warnings()}")
    layer.setRenderer(converter.renderer())
    picture = render([layer], view.extent, "vector-tiles")
    shows(picture, "vector tiles", view.expected)
    places(picture, view.extent, view.cells, "vector tiles")


def pixels_at(picture, at, cache={}):
    if id(picture) not in cache:
        cache.clear()
        cache[id(picture)] = pixels(picture)
    return cache[id(picture)][at:at + 3]


def packages(view, time, folder):
    for collection in ["hexagons", "observations", "hazards", "pireps", "tracks", "traffic"]:
        # Aircraft are known from the server's start on, and the rest at the instant of the pictures.
        query = "" if collection in ("observations", "tracks", "traffic") else f"?time={time}"
        file = folder / f"{collection}.gpkg"
        file.write_bytes(get(f"{view.base}/export/{collection}.gpkg{query}"))
        layer = QgsVectorLayer(f"{file}|layername={collection}", collection, "ogr")
        if not findings.check(layer.isValid(), f"gpkg {collection}: the layer is valid", layer.error().message()):
            continue
        findings.check(layer.featureCount() > 0, f"gpkg {collection}: it has features", layer.featureCount())
        if query:
            has_all(view, layer, f"{collection}/items?limit=10000&time={time}", f"gpkg {collection}")
        kinds = {field.name(): field.typeName() for field in layer.fields()}
        findings.check(kinds.get("observedAt", kinds.get("validFrom")) == "DateTime" or collection == "tracks",
                       f"gpkg {collection}: times are times")
        if collection in ("hexagons", "observations"):
            findings.check(layer.renderer().type() == "categorizedSymbol" and layer.renderer().classAttribute() ==
                           "severity", f"gpkg {collection}: it opens in its own style", layer.renderer().type())
        picture = render([layer], view.extent, f"gpkg-{collection}")
        if collection == "hexagons":
            shows(picture, "gpkg hexagons", view.expected)
            places(picture, view.extent, view.cells, "gpkg hexagons")
        elif collection == "observations":
            shows(picture, "gpkg observations", [severity for severity in view.expected if severity > 0])


def has_all(view, layer, query, what):
    """Compares the ids. A late report of the instant may have come between the two readings."""
    wanted = {feature["id"] for feature in features(view.base, query)}
    seen = {feature["id"] for feature in layer.getFeatures()}
    findings.check(len(seen ^ wanted) <= len(wanted) // 1000, f"{what}: every feature is there",
                   f"{len(seen)}; {len(wanted - seen)} are lacking, {len(seen - wanted)} too many")


def by_address(view, time):
    """Layer, Add Vector Layer, Protocol: QGIS gives the address to GDAL."""
    names = [f"hexagons.geojson?time={time}", "observations.geojsonl", f"hexagons.gpkg?time={time}"]
    for name in names:
        layer = QgsVectorLayer(f"/vsicurl/{view.base}/export/{name}", name, "ogr")
        if not findings.check(layer.isValid(), f"by address {name}: the layer is valid", layer.error().message()):
            continue
        if "time" in name:
            has_all(view, layer, f"hexagons/items?limit=10000&time={time}", f"by address {name}")
        elif name.startswith("observations"):
            wanted = get(f"{view.base}/export/{name}").count(b'"type":"Feature"')
            seen = sum(1 for _ in layer.getFeatures())
            findings.check(0 <= wanted - seen < 2_000, f"by address {name}: every row of a file of 20 MB is there",
                           f"{seen} of {wanted}")


def packs(view, time, folder):
    box = view.degrees()
    query = (f"?bbox={box.xMinimum() + 0.01},{box.yMinimum() + 0.01},{box.xMaximum() - 0.01},{box.yMaximum() - 0.01}"
             f"&time={time}&minzoom=3&maxzoom={ZOOM}")
    file = folder / "pictures.mbtiles"
    file.write_bytes(get(f"{view.base}/export/hexagons.mbtiles{query}"))
    layer = QgsRasterLayer(f"type=mbtiles&url={quoted(f'file://{file}')}", "mbtiles", "wms")
    if findings.check(layer.isValid(), "mbtiles: the layer is valid", layer.error().message()):
        picture = render([layer], view.extent, "mbtiles")
        equals(picture, view.tiles(f"/tiles/hexagons/{time}/{{z}}/{{x}}/{{y}}.png"), "mbtiles")
    file = folder / "vectors.mbtiles"
    file.write_bytes(get(f"{view.base}/export/hexagons.mbtiles{query}&tiles=mvt"))
    layer = QgsVectorTileLayer(f"type=mbtiles&url={file}", "vector mbtiles")
    if findings.check(layer.isValid(), "mbtiles of vectors: the layer is valid", layer.error().message()):
        picture = render([layer], view.extent, "mbtiles-vectors")
        ground = sum(1 for at in range(0, WIDTH * HEIGHT * 3, 3) if pixels_at(picture, at) == bytes(GROUND))
        findings.check(ground < 0.98 * WIDTH * HEIGHT, "mbtiles of vectors: QGIS draws them",
                       f"{1 - ground / WIDTH / HEIGHT:.1%} of the pixels")


def main():
    base = sys.argv[1].rstrip("/")
    time, iso = instant(base, 3)
    _, earlier_iso = instant(base, 93)
    hexagons = cells_of(base, f"&time={time}")
    view = View(base, hexagons)
    print(f"QGIS {Qgis.QGIS_VERSION.split('-')[0]}; {len(hexagons)} hexagons at {iso}; zoom {ZOOM}, tile {view.x}/"
          f"{view.y}, {len(view.cells)} in view, severities {view.expected}", flush=True)
    view.tiles(f"/tiles/hexagons/{time}/{{z}}/{{x}}/{{y}}.png").save(str(pictures / "billow.png"))
    with TemporaryDirectory() as folder:
        folder = Path(folder)
        findings.part("xyz", xyz, view, time)
        findings.part("wmts", wmts, view, time, iso, earlier_iso)
        findings.part("wms", wms, view, time, iso, earlier_iso)
        findings.part("oapif", oapif, view)
        findings.part("vector tiles", vector_tiles, view, time)
        findings.part("gpkg", packages, view, time, folder)
        findings.part("by address", by_address, view, time)
        findings.part("packs", packs, view, time, folder)


if len(sys.argv) != 3:
    sys.exit("usage: Tests/Clients/qgis_layers.py URL PICTURES")
pictures = Path(sys.argv[2])
pictures.mkdir(parents=True, exist_ok=True)
# A profile of its own: a person's settings and cache change nothing, and remain.
profile = TemporaryDirectory()
os.environ["QGIS_CUSTOM_CONFIG_PATH"] = profile.name
QgsApplication.setPrefixPath("/usr", True)
application = QgsApplication([], False)
application.initQgis()
try:
    main()
finally:
    QgsProject.instance().clear()
# QGIS may crash when it is taken apart, which says nothing about Billow.
sys.stdout.flush()
try:
    findings.end()
except SystemExit as end:
    sys.stderr.flush()
    os._exit(end.code)
