"""What the checks of Scripts/check-clients share: requests, a list of findings, and the severities' colours."""
import json
import math
import sys
import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from urllib.error import HTTPError
from urllib.request import Request, urlopen

# The ground of every picture. All severities differ from it, smooth included.
GROUND = (64, 64, 64)


class Findings:
    """Prints a line for each thing that was checked, and ends with status 1 if any is wrong."""

    def __init__(self, name):
        self.name, self.wrong = name, []

    def check(self, holds, sentence, found=""):
        """Adds a finding. `found` says what was seen instead, or as well."""
        print(f"{'ok  ' if holds else 'FAIL'} {sentence}{f': {found}' if found != '' else ''}", flush=True)
        if not holds:
            self.wrong.append(sentence)
        return holds

    def part(self, title, body, *arguments):
        """Runs a part. An exception is a finding, and the other parts still run."""
        try:
            body(*arguments)
        except Exception as error:  # noqa: BLE001
            self.check(False, title, f"{type(error).__name__}: {error}")

    def end(self):
        for sentence in self.wrong:
            print(f"{self.name}: {sentence}", file=sys.stderr)
        sys.exit(1 if self.wrong else 0)


def get(url, accept=None):
    """The body of a response. Any status but 200 and 204 is an error that has the response's words."""
    try:
        with urlopen(Request(url, headers={"Accept": accept} if accept else {}), timeout=120) as response:
            return response.read()
    except HTTPError as error:
        raise RuntimeError(f"{error.status} {url}: {error.read()[:300]!r}") from None


def get_json(url, accept=None):
    return json.loads(get(url, accept))


def instant(base, minutes):
    """A whole minute before the newest data, as addresses have it and as ISO 8601."""
    now = datetime.fromisoformat(get_json(f"{base}/status?f=json")["asOf"].replace("Z", "+00:00"))
    then = (now - timedelta(minutes=minutes)).astimezone(timezone.utc).replace(second=0, microsecond=0)
    return then.strftime("%Y%m%dT%H%M%SZ"), then.strftime("%Y-%m-%dT%H:%M:%SZ")


def features(base, query):
    """All features of a query, page by page: all pages are of one version."""
    found, url = [], f"{base}/collections/{query}"
    while url:
        page = get_json(url, "application/geo+json")
        found += page["features"]
        url = next((link["href"] for link in page["links"] if link["rel"] == "next"), None)
    return found


def between(keys, read, tries=4):
    """Reads with a client while data arrives. `keys` gives the server's keys, `read` the client's.

    Gives what the client lacks and what it has too much. Both are empty where each key that the server had before and
    after is there, and no other than it had before or after.
    """
    for _ in range(tries):
        before = keys()
        seen = read()
        after = keys()
        lacks, more = (before & after) - seen, seen - (before | after)
        if not lacks and not more:
            break
        time.sleep(1)
    return len(seen), lacks, more


def tile(longitude, latitude, zoom):
    """The tile of a place: x and y."""
    y = (1 - math.asinh(math.tan(math.radians(latitude))) / math.pi) / 2
    return int((longitude + 180) / 360 * 2 ** zoom), int(y * 2 ** zoom)


def middle(feature):
    """The middle of a hexagon's corners. Of one that the antimeridian cuts, that of its first part."""
    geometry = feature["geometry"]
    rings = geometry["coordinates"] if geometry["type"] == "Polygon" else geometry["coordinates"][0]
    corners = rings[0][:-1]
    return tuple(sum(corner[axis] for corner in corners) / len(corners) for axis in (0, 1))


def busiest(cells, zoom):
    """The tile with most cells: x and y."""
    counted = Counter(tile(*middle(each), zoom) for each in cells)
    return max(sorted(counted), key=counted.get)


# The fill of each severity in the style `skypath`, and how opaque it is: docs/embedding.md, "Styles".
FILLS = {0: ("#FFFFFF", 0.6), 1: ("#FFF04C", 0.8), 2: ("#FFBC09", 0.8), 3: ("#FF7100", 0.8), 4: ("#FF0000", 0.8)}


def over_ground(fill, opacity):
    """A colour such as `#FF7100`, over the ground of the pictures."""
    parts = (int(fill[at:at + 2], 16) for at in (1, 3, 5))
    return tuple(round(opacity * part + (1 - opacity) * ground) for part, ground in zip(parts, GROUND))


SEVERITIES = {severity: over_ground(*look) for severity, look in FILLS.items()}
