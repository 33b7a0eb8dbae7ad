import Turbulence
import Datasets
import EngineTestSupport
import Testing

@testable import BillowHTTP

/// Addresses of every route that can be read, for tests that go through all of them. They suit a world with an
/// observation `a` at 10° E 50° N.
enum SampleAddresses {
    /// Those that show data of the log.
    static let ofData: [String: [String]] = [
        "/tiles/{layers}": ["/tiles/hexagons.json"],
        "/tiles/{layers}/{time}/{z}/{x}/{y}": [
            "/tiles/hexagons/latest/0/0/0.png", "/tiles/hexagons/latest/0/0/0.mvt",
            "/tiles/hexagons/latest/9/0/0.mvt", "/tiles/hexagons/latest/9/0/0.png?source=nosuch",
            "/tiles/hexagons/latest/0/0/0.png?size=512",
        ],
        "/v2/radar/{frame}/{size}/{z}/{x}/{y}/{color}/{options}": [
            "/v2/radar/hexagons-\(noon.compact)-0-0000000000000000/256/0/0/0/0/0.png"
        ],
        "/timeline.json": ["/timeline.json"], "/public/weather-maps.json": ["/public/weather-maps.json"],
        "/animations/{layers}": ["/animations/hexagons.png?width=64&intervals=2"],
        "/maps/{layers}": ["/maps/hexagons.png?width=64"],
        "/legend.json": ["/legend.json"], "/legend.png": ["/legend.png"], "/legend.svg": ["/legend.svg"],
        "/collections/{id}/items": Catalogue.all.filter { $0.isPicture }.map {
            "/collections/\($0.id)/items"
        } + ["/collections/observations/items?hours=2", "/collections/pireps/items?hours=2"],
        "/collections/{id}/items/{feature}": ["/collections/observations/items/a?hours=2"],
        "/collections/{id}/area": [
            "/collections/hexagons/area?coords=POLYGON((0 40,20 40,20 55,0 55,0 40))".replacing(
                " ", with: "%20")
        ],
        "/collections/{id}/position": ["/collections/gtg/position?coords=POINT(-95%2035)"],
        "/collections/{id}/radius": ["/collections/hexagons/radius?coords=POINT(10%2050)&within=100"],
        "/collections/{id}/cube": ["/collections/hexagons/cube?bbox=9,49,11,51"],
        "/collections/{id}/trajectory": [
            "/collections/hexagons/trajectory?coords=LINESTRING(9%2050,11%2050)",
            "/collections/gtg/trajectory?coords=LINESTRING(9%2050,11%2050)",
        ],
        "/collections/{id}/locations/{location}": ["/collections/hexagons/locations/EDDF"],
        "/collections/{id}/corridor": ["/collections/hexagons/corridor?route=40N070W+40N090W"],
        "/changes/{collection}": ["/changes/hexagons", "/changes/hexagons?route=40N070W+40N090W"],
        "/export/{file}": ["/export/hexagons.geojson", "/export/hexagons.csv"],
        "/collections/{id}/tiles/{set}/{matrix}/{row}/{column}": [
            "/collections/hexagons/tiles/WebMercatorQuad/0/0/0"
        ],
        "/collections/{id}/map/tiles/{set}/{matrix}/{row}/{column}": [
            "/collections/hexagons/map/tiles/WebMercatorQuad/0/0/0"
        ],
        "/collections/{id}/map": ["/collections/hexagons/map?width=64"],
        "/wms": [
            "/wms?service=WMS&version=1.3.0&request=GetMap&layers=hexagons&styles=&crs=EPSG:3857"
                + "&bbox=0,0,5000000,5000000&width=64&height=64&format=image/png"
        ],
        "/wmts": [
            "/wmts?service=WMTS&version=1.0.0&request=GetTile&layer=hexagons&style=skypath"
                + "&format=image/png&tilematrixset=WebMercatorQuad&tilematrix=0&tilerow=0&tilecol=0"
        ],
        "/wmts/1.0.0/{layer}/{style}/{time}/{set}/{matrix}/{row}/{column}": [
            "/wmts/1.0.0/hexagons/default/current/WebMercatorQuad/0/0/0.png"
        ],
        "/wmts/1.0.0/{layer}/{style}/{time}/{set}/{matrix}/{row}/{column}/{j}/{i}": [
            "/wmts/1.0.0/hexagons/default/current/WebMercatorQuad/0/0/0/128/128.json"
        ],
        "/profiles.json": ["/profiles.json?route=40N070W+40N090W"],
        "/profiles.png": ["/profiles.png?route=40N070W+40N090W"],
    ]

    /// Those that show no data of the log, or say in their bodies how fresh it is; nil where an address needs what the
    /// world doesn't have.
    static let ofOthers: [String: String?] = [
        "/": "/?f=json", "/ogc": "/ogc", "/conformance": "/conformance", "/collections": "/collections",
        "/collections/{id}": "/collections/hexagons", "/collections/{id}/schema": "/collections/hexagons/schema",
        "/collections/{id}/schema/feature": "/collections/hexagons/schema/feature",
        "/collections/{id}/queryables": "/collections/hexagons/queryables",
        "/collections/{id}/locations": "/collections/hexagons/locations?bbox=8,49,9,51", "/styles": "/styles",
        "/styles/{id}": "/styles/night.json", "/events": "/events", "/status": "/status", "/healthz": "/healthz",
        "/readyz": "/readyz", "/admin/sources": nil, "/admin/sources/{id}": nil, "/openapi.json": "/openapi.json",
        "/metrics": nil, "/docs": "/docs", "/tileMatrixSets": "/tileMatrixSets",
        "/tileMatrixSets/{set}": "/tileMatrixSets/WebMercatorQuad",
        "/collections/{id}/tiles": "/collections/hexagons/tiles",
        "/collections/{id}/tiles/{set}": "/collections/hexagons/tiles/WebMercatorQuad",
        "/collections/{id}/map/tiles": "/collections/hexagons/map/tiles",
        "/collections/{id}/map/tiles/{set}": "/collections/hexagons/map/tiles/WebMercatorQuad",
        "/wmts/1.0.0/WMTSCapabilities.xml": "/wmts/1.0.0/WMTSCapabilities.xml",
        // The results have the headers of the export, whose version is that of the job.
        "/jobs/{job}": nil, "/jobs/{job}/results": nil,
    ]
}
