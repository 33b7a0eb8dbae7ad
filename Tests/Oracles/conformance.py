"""Replays the abstract tests of the OGC API standards that a server claims. It is no certification.

Reads {"base": address} from standard input, and writes {"passed": the names of the tests, "wrong": sentences} as JSON.
The server must have observations of now, and hexagons on both sides of the antimeridian are welcome.

Sources: OGC 17-069r4 annex A (Features, part 1: core, geojson, oas30), OGC 20-057 annex A (Tiles, part 1), OGC 20-058
annex A (Maps, part 1), OGC 19-086r6 annex A (EDR: core, collections, json, oas30, queries). Only Python's library is
used.
"""

import json
import re
import sys
from datetime import datetime, timedelta
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urljoin
from urllib.request import Request, urlopen

BASE = json.load(sys.stdin)["base"]
passed, wrong = [], []
GEOJSON, HTML = "application/geo+json", "text/html"


class Answer:
    def __init__(self, url, accept=None, method="GET"):
        self.url = url
        request = Request(urljoin(BASE + "/", url), method=method, headers={"Accept": accept} if accept else {})
        try:
            response = urlopen(request, timeout=120)
        except HTTPError as error:
            response = error
        self.status, self.headers, self.body = response.status, response.headers, response.read()
        self.type = (self.headers["Content-Type"] or "").split(";")[0]

    def json(self):
        return json.loads(self.body)


def test(name):
    """Runs a function as a test. An exception is a failure."""
    def run(body):
        try:
            body()
            passed.append(name)
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    return run


def holds(condition, *words):
    if not condition:
        raise AssertionError(" ".join(str(word)[:300] for word in words))


def get(url, accept=None, status=200, type=None):
    answer = Answer(url, accept)
    holds(answer.status == status, url, "is", answer.status, answer.body[:300])
    holds(type is None or answer.type == type, url, "is", answer.type, "instead of", type)
    return answer


def links(document, rel):
    return [link for link in document.get("links", []) if link["rel"] == rel]


def follow(link, accept=None):
    answer = get(link["href"], accept)
    holds("type" not in link or answer.type == link["type"].split(";")[0], link, "gives", answer.type)
    return answer


ROOT = get("/ogc").json()
CLASSES = get("/conformance").json()["conformsTo"]
COLLECTIONS = get("/collections").json()
IDS = [each["id"] for each in COLLECTIONS["collections"]]
API = get("/openapi.json?f=oas30").json()


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def corners(value):
    """All positions of a geometry."""
    if isinstance(value, dict):
        value = value["coordinates"]
    return [value] if isinstance(value[0], (int, float)) else [place for part in value for place in corners(part)]


def parameter(path, name):
    """A parameter of an operation of the description, with its reference resolved."""
    for each in API["paths"][path]["get"]["parameters"]:
        if "$ref" in each:
            each = API["components"]["parameters"][each["$ref"].split("/")[-1]]
        if each["name"] == name:
            return each
    raise AssertionError(f"{path} has no parameter {name}")


# MARK: Features, part 1: core

@test("features: /conf/core/root-op, root-success")
def _():
    for address in ["/ogc", "/?f=json"]:
        document = get(address, type="application/json").json()
        for rel in ["self", "conformance", "data", "service-desc", "service-doc"]:
            holds(links(document, rel), address, "has no link", rel)
    holds(get("/", accept="application/json").type == "application/json", "/ for a program")


@test("features: /conf/core/api-definition-op, api-definition-success")
def _():
    for rel in ["service-desc", "service-doc"]:
        for link in links(ROOT, rel):
            follow(link)
    versions = {follow(link).json()["openapi"][:3] for link in links(ROOT, "service-desc")}
    holds(versions == {"3.0", "3.1"}, versions)


@test("features: /conf/core/conformance-op, conformance-success")
def _():
    for name in ["core", "geojson", "oas30"]:
        holds(f"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/{name}" in CLASSES, name, "is not claimed")
    holds(follow(links(ROOT, "conformance")[0]).json()["conformsTo"] == CLASSES, "two lists of classes")
    holds(len(CLASSES) == len(set(CLASSES)), "a class is claimed twice")


@test("features: /conf/core/http")
def _():
    holds(Answer("/collections", method="HEAD").status == 200, "HEAD")
    holds(Answer("/collections/nothing").status == 404, "404")
    holds(Answer("/collections", method="DELETE").status == 405, "405")


@test("features: /conf/core/fc-md-op, fc-md-success")
def _():
    document = get("/collections", type="application/json").json()
    holds(links(document, "self"), "no link to itself")
    holds({link["type"].split(";")[0] for link in links(document, "alternate")} == {HTML}, "no link to HTML")
    for link in links(document, "alternate"):
        follow(link)
    holds(follow(links(ROOT, "data")[0]).json()["collections"], "no collections")


@test("features: /conf/core/fc-md-items, fc-md-extent")
def _():
    for collection in COLLECTIONS["collections"]:
        items = links(collection, "items")
        holds(items and all("type" in link for link in items), collection["id"], "has no typed link to its items")
        box = collection["extent"]["spatial"]["bbox"][0]
        holds(len(box) == 4 and -180 <= box[0] <= 180 and -90 <= box[1] <= box[3] <= 90, collection["id"], box)
        start, end = collection["extent"]["temporal"]["interval"][0]
        holds(instant(start) <= instant(end), collection["id"], start, end)
        holds("http://www.opengis.net/def/crs/OGC/1.3/CRS84" in collection["crs"], collection["id"], "has no CRS84")


@test("features: /conf/core/sfc-md-op, sfc-md-success")
def _():
    for collection in COLLECTIONS["collections"]:
        one = get(f"/collections/{collection['id']}").json()
        # Time goes on between the two answers.
        for document in [one, collection]:
            document.get("extent", {}).pop("temporal", None)
        holds(one == collection, collection["id"], "differs from the list")
    get("/collections/nothing", status=404)


@test("features: /conf/core/fc-op, fc-response")
def _():
    for name in IDS:
        document = get(f"/collections/{name}/items?limit=5", type=GEOJSON).json()
        holds(document["type"] == "FeatureCollection", name, document["type"])
        ids = [feature["id"] for feature in document["features"]]
        holds(all(feature["type"] == "Feature" for feature in document["features"]), name)
        holds(len(ids) == len(set(ids)), name, "has an id twice")


@test("features: /conf/core/fc-limit-definition")
def _():
    for name in IDS:
        limit = parameter(f"/collections/{name}/items", "limit")
        schema = limit["schema"]
        holds(limit["in"] == "query" and not limit["required"] and schema["type"] == "integer", name, limit)
        holds(schema["minimum"] == 1 and schema["maximum"] >= schema["default"] >= 1, name, schema)


@test("features: /conf/core/fc-limit-response-1")
def _():
    for limit in [1, 2, 10_000, 10_001, 1_000_000_000]:
        document = get(f"/collections/observations/items?limit={limit}").json()
        holds(0 < len(document["features"]) <= min(limit, 10_000), limit, len(document["features"]))
    for limit in ["0", "-1", "1.5", "some", ""]:
        get(f"/collections/observations/items?limit={limit}", status=400)


@test("features: /conf/core/fc-bbox-definition")
def _():
    for name in IDS:
        box = parameter(f"/collections/{name}/items", "bbox")
        holds(box["style"] == "form" and box["explode"] is False and not box["required"], name, box)
        sizes = {each["minItems"] for each in box["schema"]["oneOf"]}
        holds(box["schema"]["items"]["type"] == "number" and sizes == {4, 6}, name, box["schema"])


@test("features: /conf/core/fc-bbox-response")
def _():
    def touches(feature, west, south, east, north):
        places = corners(feature["geometry"])
        low, high = min(y for _, y in places), max(y for _, y in places)
        # A box may cross the antimeridian.
        crosses = west > east
        columns = [x >= west or x <= east if crosses else west <= x <= east for x, _ in places]
        spans = min(x for x, _ in places) <= west <= max(x for x, _ in places)
        return low <= north and high >= south and (any(columns) or spans)

    # Observations are selected by their cells, whose centres may lie outside: see docs/http/features.md.
    for name in ["pireps", "hexagons", "hazards"]:
        everything = get(f"/collections/{name}/items?limit=10000").json()
        for box in [(-180, -90, 180, 90), (-130, 20, -60, 60), (0, 40, 20, 60), (170, -30, -170, 30)]:
            plain = ",".join(map(str, box))
            wide = ",".join(map(str, (*box[:2], 0, *box[2:], 60000)))
            for query in [plain, wide]:
                found = get(f"/collections/{name}/items?limit=10000&bbox={query}").json()["features"]
                holds(all(touches(feature, *box) for feature in found), name, "outside", query)
        # Data that arrives between the two requests may push a feature off a full page, so this is tried again.
        for _ in range(5):
            at = get(f"/collections/{name}/items?limit=10000&time={everything['time']}").json()
            world = get(f"/collections/{name}/items?limit=10000&bbox=-180,-90,180,90&time={everything['time']}").json()
            missing = {each["id"] for each in at["features"]} - {each["id"] for each in world["features"]}
            if not missing:
                break
        holds(not missing, name, "the world lacks", len(missing))
    bad = ["1,2,3", "1,2,3,4,5", "1,2,3,4,5,6,7", "0,50,10,40", "0,-91,10,40", "a,b,c,d", "NaN,0,1,1", "1e400,0,1,1"]
    for box in bad:
        get(f"/collections/observations/items?bbox={box}", status=400)


@test("features: /conf/core/fc-time-definition, fc-time-response")
def _():
    newest = get("/collections/observations/items?limit=1000").json()["features"][-1]["properties"]["observedAt"]
    time = instant(newest)
    before, after = ((time + timedelta(seconds=step)).isoformat().replace("+00:00", "Z") for step in (-600, 1))
    for name in IDS:
        shape = parameter(f"/collections/{name}/items", "datetime")
        holds(shape["schema"]["type"] == "string" and not shape["required"], name, shape)
        for form in [newest, f"{before}/{after}", f"../{newest}", f"{before}/..", f"/{newest}", f"{before}/", "../.."]:
            get(f"/collections/{name}/items?limit=1&datetime={quote(form)}")
        bad = ["yesterday", f"{after}/{before}", "2026-13-01T00:00:00Z", "2026-01-01", f"{before}/{after}/{after}"]
        for form in bad:
            get(f"/collections/{name}/items?limit=1&datetime={quote(form)}", status=400)
    for form, is_in in [(newest, lambda t: t == time), (f"{before}/{newest}", lambda t: instant(before) <= t <= time)]:
        found = get(f"/collections/observations/items?limit=10000&datetime={quote(form)}").json()["features"]
        holds(found and all(is_in(instant(each["properties"]["observedAt"])) for each in found), form, len(found))


@test("features: /conf/core/query-param-unknown, query-param-invalid")
def _():
    for path in ["/collections", "/conformance", "/ogc", *(f"/collections/{name}/items" for name in IDS)]:
        get(f"{path}?no-such-parameter=1", status=400)
        get(f"{path}?f=nonsense", status=400)


@test("features: /conf/core/fc-links, fc-rel-type")
def _():
    for name in IDS:
        document = get(f"/collections/{name}/items?limit=1").json()
        for rel in ["self", "alternate", "next"]:
            holds(all("type" in link for link in links(document, rel)), name, rel, "without a type")
        holds(len(links(document, "self")) == 1, name, "has no link to itself")
        formats = parameter(f"/collections/{name}/items", "f")["schema"]["enum"]
        types = {link["type"] for link in document["links"] if link["rel"] in ("self", "alternate")}
        holds(len(types) == len(set(map(str.lower, formats)) - {"json"}), name, types, "for", formats)
        for link in links(document, "alternate"):
            follow(link)


@test("features: /conf/core/fc-timeStamp, fc-numberMatched, fc-numberReturned")
def _():
    for name in IDS:
        document = get(f"/collections/{name}/items?limit=3").json()
        instant(document["timeStamp"])
        holds(document["numberReturned"] == len(document["features"]), name)
        matched = document.get("numberMatched")
        holds(matched is None or matched >= document["numberReturned"], name, matched)


@test("features: paging gives every feature once")
def _():
    whole = [each["id"] for each in get("/collections/hexagons/items?limit=10000").json()["features"]]
    found, url = [], f"/collections/hexagons/items?limit={max(1, len(whole) // 5)}"
    while url:
        document = get(url).json()
        found += [each["id"] for each in document["features"]]
        url = next((link["href"] for link in links(document, "next")), None)
    holds(len(found) == len(set(found)) and len(found) >= len(whole) // 2, len(found), len(whole))


@test("features: /conf/core/f-op, f-success, f-links")
def _():
    for name in IDS:
        for feature in get(f"/collections/{name}/items?limit=2").json()["features"]:
            one = get(f"/collections/{name}/items/{quote(feature['id'], safe='')}", type=GEOJSON).json()
            holds(one["id"] == feature["id"], name, one["id"])
            for rel, kind in [("self", GEOJSON), ("alternate", HTML), ("collection", "application/json")]:
                holds(any(follow(link).type == kind for link in links(one, rel)), name, "has no link", rel)
    get("/collections/observations/items/nothing", status=404)


@test("features: /conf/geojson/definition, content")
def _():
    for name in IDS:
        for feature in get(f"/collections/{name}/items?limit=100", accept=GEOJSON, type=GEOJSON).json()["features"]:
            for x, y, *_ in corners(feature["geometry"]):
                holds(-180 <= x <= 180 and -90 <= y <= 90, name, x, y)
            if feature["geometry"]["type"] == "Polygon":
                holds(all(ring[0] == ring[-1] for ring in feature["geometry"]["coordinates"]), name, "an open ring")


@test("features: /conf/oas30/oas-definition-1, completeness, exceptions-codes")
def _():
    holds(API["openapi"].startswith("3.0") and API["info"]["title"] and API["info"]["version"], API["openapi"])
    for name in IDS:
        for path in [f"/collections/{name}", f"/collections/{name}/items"]:
            responses = API["paths"][path]["get"]["responses"]
            holds("200" in responses and "default" in responses, path, responses.keys())


# MARK: Tiles, part 1: core

@test("tiles: /conf/core/conformance")
def _():
    for name in ["core", "tileset", "tilesets-list"]:
        holds(f"http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/{name}" in CLASSES, name, "is not claimed")


def tilesets(name):
    return [f"/collections/{name}{kind}" for kind in ("/tiles", "/map/tiles")]


DRAWN = [name for name in IDS if Answer(f"/collections/{name}/tiles").status == 200]


@test("tiles: /conf/tilesets-list/tileslist-op, tileslist-success")
def _():
    holds(len(DRAWN) >= len(IDS) - 1, DRAWN)
    for name in DRAWN:
        for path in tilesets(name):
            sets = get(path, type="application/json").json()["tilesets"]
            holds(sets, path, "has no tile set")
            for each in sets:
                holds(each["dataType"] in ("map", "vector", "coverage"), path, each["dataType"])
                holds(each["crs"] and each["tileMatrixSetURI"], path, each)
                follow(links(each, "self")[0])


@test("tiles: /conf/tileset/desc-success")
def _():
    for name in DRAWN:
        for path in tilesets(name):
            document = get(f"{path}/WebMercatorQuad", type="application/json").json()
            for member in ["dataType", "crs", "links"]:
                holds(member in document, path, "lacks", member)
            items = links(document, "item")
            holds(items and all(link["templated"] for link in items), path, "has no template")
            scheme = links(document, "http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme")
            matrices = follow(scheme[0]).json()["tileMatrices"]
            holds([int(each["id"]) for each in matrices] == list(range(len(matrices))), path, "matrices")


@test("tiles: /conf/core/tc-op, tc-success, tc-error")
def _():
    for name in DRAWN:
        for path in tilesets(name):
            template = links(get(f"{path}/WebMercatorQuad").json(), "item")[0]
            def url(matrix, row, column):
                values = {"tileMatrix": matrix, "tileRow": row, "tileCol": column}
                return re.sub(r"\{(\w+)\}", lambda match: str(values[match[1]]), template["href"])
            for place in [(0, 0, 0), (1, 1, 1), (5, 12, 8)]:
                answer = Answer(url(*place))
                holds(answer.status in (200, 204), answer.url, answer.status)
                holds(answer.status == 204 or answer.type == template["type"], answer.url, answer.type)
            for place in [(0, 1, 0), (0, 0, 1), (3, 8, 0), (99, 0, 0), (-1, 0, 0)]:
                holds(Answer(url(*place)).status in (400, 404), url(*place), "is not refused")
        get(f"/collections/{name}/tiles/NoSuchSet", status=404)


TILES = "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/"
MAPS = "http://www.opengis.net/spec/ogcapi-maps-1/1.0/conf/"
PNG, MVT = "image/png", "application/vnd.mapbox-vector-tile"


def picture(answer):
    """The width and height of a PNG. Source: PNG (third edition) section 11.2.1"""
    holds(answer.body[:8] == b"\x89PNG\r\n\x1a\n" and answer.body[12:16] == b"IHDR", answer.url, "is no PNG")
    return tuple(int.from_bytes(answer.body[start:start + 4], "big") for start in (16, 20))


@test("tiles: /conf/geodata-tilesets: each drawn collection leads to its tile sets, and they lead to the collection")
def _():
    holds(TILES + "geodata-tilesets" in CLASSES, "is not claimed")
    for name in DRAWN:
        collection = get(f"/collections/{name}").json()
        for rel, data_type in [("vector", "vector"), ("map", "map")]:
            found = links(collection, f"http://www.opengis.net/def/rel/ogc/1.0/tilesets-{rel}")
            holds(len(found) == 1, name, "has no link to tile sets of", rel)
            for tileset in follow(found[0]).json()["tilesets"]:
                holds(tileset["dataType"] == data_type, name, tileset["dataType"])
                document = follow(links(tileset, "self")[0]).json()
                data = links(document, "http://www.opengis.net/def/rel/ogc/1.0/geodata")
                holds(data and follow(data[0]).json()["id"] == name, name, "is not the data of its tile set")


@test("tiles: /conf/mvt, png: a tile has the media type of its template")
def _():
    holds(TILES + "mvt" in CLASSES and TILES + "png" in CLASSES, "is not claimed")
    for name in DRAWN:
        picture(get(f"/collections/{name}/map/tiles/WebMercatorQuad/0/0/0", type=PNG))
        answer = Answer(f"/collections/{name}/tiles/WebMercatorQuad/0/0/0")
        # Field 3 of a vector tile is a layer.
        holds(answer.status == 204 or answer.type == MVT and answer.body[0] == 0x1A, answer.url, answer.type)


def of_times(path):
    """`datetime` of tiles and maps: instants and intervals within the extent work, others are refused."""
    for name in DRAWN:
        interval = get(f"/collections/{name}").json()["extent"]["temporal"]["interval"][0]
        # The middle: the data of a demo may be some minutes old.
        first, last = instant(interval[0]), min(instant(interval[1]), datetime.now(instant(interval[1]).tzinfo))
        last = first + (last - first) / 2
        text = last.strftime("%Y-%m-%dT%H:%M:%SZ")
        for value in [text, f"{interval[0]}/{text}", f"../{text}"]:
            answer = Answer(f"{path.format(name)}?{urlencode({'datetime': value})}")
            holds(answer.status in (200, 204), answer.url, answer.status)
        for value in ["soon", "1900-01-01T00:00:00Z", "2026-13-01T00:00:00Z", ""]:
            answer = Answer(f"{path.format(name)}?{urlencode({'datetime': value})}")
            holds(answer.status in (400, 404), answer.url, answer.status)


@test("tiles: /conf/datetime")
def _():
    holds(TILES + "datetime" in CLASSES, "is not claimed")
    of_times("/collections/{}/map/tiles/WebMercatorQuad/1/0/0")
    of_times("/collections/{}/tiles/WebMercatorQuad/1/0/0")


# MARK: Maps

@test("maps: /conf/core, collection-map, png: each drawn collection has a map in its box and size")
def _():
    for name in ["core", "collection-map", "png", "tilesets"]:
        holds(MAPS + name in CLASSES, name, "is not claimed")
    for name in DRAWN:
        found = links(get(f"/collections/{name}").json(), "http://www.opengis.net/def/rel/ogc/1.0/map")
        holds(found, name, "has no link to a map")
        holds(picture(follow(found[0]))[0] > 0, name)
        base = f"/collections/{name}/map"
        answer = get(f"{base}?bbox=-125,24,-66,50&width=300&height=200&f=png", type=PNG)
        holds(picture(answer) == (300, 200), name, picture(answer))
        holds("CRS84" in (answer.headers["Content-Crs"] or ""), answer.headers["Content-Crs"])
        shown = [float(number) for number in (answer.headers["Content-Bbox"] or "").split(",")]
        holds(all(abs(a - b) < 1e-6 for a, b in zip(shown, [-125, 24, -66, 50])), name, shown)
        mercator = {"crs": "http://www.opengis.net/def/crs/EPSG/0/3857", "width": "256"}
        holds("3857" in get(f"{base}?{urlencode(mercator)}").headers["Content-Crs"], name)
        for query in ["width=0", "width=99999", "height=x", "bbox=1,2,3", "crs=EPSG:9", "f=gif", "nothing=1"]:
            get(f"{base}?{query}", status=400)


@test("maps: /conf/datetime")
def _():
    holds(MAPS + "datetime" in CLASSES, "is not claimed")
    of_times("/collections/{}/map")


# MARK: EDR

@test("edr: /conf/core/conformance, /conf/collections/rc-md-op")
def _():
    for name in ["core", "collections", "geojson", "covjson", "queries"]:
        holds(f"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/{name}" in CLASSES, name, "is not claimed")
    for collection in get("/collections").json()["collections"]:
        for member in ["id", "links", "extent", "data_queries", "parameter_names", "crs", "output_formats"]:
            holds(collection.get(member), collection["id"], "lacks", member)
        for name, described in collection["parameter_names"].items():
            holds(described["type"] == "Parameter" and described["observedProperty"]["label"], name, described)


# What each query needs, with the parameters whose absence is an error.
NEEDS = {
    "position": ({"coords": "POINT(-95 35)"}, ["coords"]),
    "radius": ({"coords": "POINT(-95 35)", "within": "50", "within-units": "km"}, ["coords", "within"]),
    "area": ({"coords": "POLYGON((-96 34,-94 34,-94 36,-96 36,-96 34))"}, ["coords"]),
    "cube": ({"bbox": "-96,34,-94,36"}, ["bbox"]),
    "trajectory": ({"coords": "LINESTRING(-96 34,-94 36)"}, ["coords"]),
    "corridor": ({"coords": "LINESTRING(-96 34,-94 36)", "corridor-width": "50", "width-units": "NM"}, ["coords"]),
    "locations": ({}, []),
    "items": ({}, []),
}


@test("edr: /conf/queries: every offered query answers, and names what it lacks")
def _():
    for collection in get("/collections").json()["collections"]:
        for query, described in collection["data_queries"].items():
            address, (needed, required) = described["link"]["href"], NEEDS[query]
            holds(described["link"]["variables"]["query_type"] == query, query)
            get(f"{address}?{urlencode(needed)}")
            for name in required:
                get(f"{address}?{urlencode({k: v for k, v in needed.items() if k != name})}", status=400)
            if "coords" in needed:
                get(f"{address}?{urlencode({**needed, 'coords': 'POINT(somewhere)'})}", status=400)
            for name in described["link"]["variables"]["output_formats"]:
                if query == "locations":
                    address = f"{described['link']['href']}/KDEN"
                type = {"GeoJSON": GEOJSON, "CoverageJSON": "application/prs.coverage+json"}[name]
                get(f"{address}?{urlencode({**needed, 'f': name})}", type=type)


@test("edr: /conf/queries/rc-parameter-name, rc-crs, rc-z, rc-datetime")
def _():
    for collection in get("/collections").json()["collections"]:
        query = "position" if "position" in collection["data_queries"] else "radius"
        address, (needed, _) = collection["data_queries"][query]["link"]["href"], NEEDS[query]
        name = next(iter(collection["parameter_names"]))
        for extra in [{"parameter-name": name}, {"crs": "CRS84"}, {"z": "30000"}, {"z": "20000/40000"}]:
            get(f"{address}?{urlencode({**needed, **extra})}")
        for extra in [{"parameter-name": "nothing"}, {"crs": "EPSG:9"}, {"z": "up"}, {"datetime": "soon"}]:
            get(f"{address}?{urlencode({**needed, **extra})}", status=400)


@test("edr: /conf/json, geojson, covjson, oas30")
def _():
    for name in ["json", "oas30", "geojson", "covjson"]:
        holds(f"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/{name}" in CLASSES, name, "is not claimed")
    for path in ["/ogc", "/conformance", "/collections", f"/collections/{IDS[0]}"]:
        get(path, accept="application/json", type="application/json")
    for collection in get("/collections").json()["collections"]:
        for query in collection["data_queries"]:
            path = f"/collections/{collection['id']}/{query}"
            holds(path in API["paths"], path, "is not described")
        query = "position" if "position" in collection["data_queries"] else "radius"
        needed, _ = NEEDS[query]
        page = get(f"/collections/{collection['id']}/{query}?{urlencode({**needed, 'f': 'GeoJSON'})}").json()
        holds(page["type"] == "FeatureCollection", collection["id"], page["type"])
        if "CoverageJSON" in collection["data_queries"][query]["link"]["variables"]["output_formats"]:
            wanted = urlencode({**needed, "f": "CoverageJSON"})
            document = get(f"/collections/{collection['id']}/{query}?{wanted}").json()
            holds(document["type"] in ("Coverage", "CoverageCollection"), document["type"])
            coverage = document if document["type"] == "Coverage" else document["coverages"][0]
            holds(coverage["domain"]["domainType"] and coverage["domain"]["referencing"], "the domain")
            for key in coverage["ranges"]:
                holds(key in (coverage.get("parameters") or document["parameters"]), key, "is no parameter")


json.dump({"passed": passed, "wrong": wrong}, sys.stdout)
