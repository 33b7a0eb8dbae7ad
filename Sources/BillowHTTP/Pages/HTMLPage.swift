import BillowParameters
import BillowRaster
import Foundation
import HTTPTypes
import Hummingbird
import JSONKit

/// A document of the OGC routes as a page for people. Its addresses are relative, so that it works below any path.
struct HTMLPage: Sendable {
    /// A page above this one.
    struct Crumb: Sendable {
        let title: String
        /// The path from the root of the server, without a leading slash.
        let path: String
    }

    let title: String
    let crumbs: [Crumb]
    /// The relative address of the server's root, with a slash at its end.
    let root: String
    /// The address of the same as JSON, from the root.
    let json: String
    /// Whether it has a map.
    let hasMap: Bool
    /// The HTML of its content.
    let content: String

    static let mediaType = "text/html; charset=utf-8"

    /// Whether a request selects a page: by its parameters, or by `Accept`.
    static func isSelected(_ format: DocumentParameters.Format?, _ request: Request) -> Bool {
        format.map { $0 == .html } ?? isPreferred(by: request)
    }

    /// Whether `Accept` prefers HTML to JSON.
    static func isPreferred(by request: Request) -> Bool {
        let accepted = AcceptedMedia(request.headers[.accept])
        let page = accepted.weight(of: "text/html")
        return page > accepted.weight(of: "application/json") && page > accepted.weight(of: "application/geo+json")
    }

    /// The relative address of the root for a path, as a browser resolves it.
    static func root(of path: String) -> String {
        let slashes = path.count { $0 == "/" }
        return slashes > 1 ? String(repeating: "../", count: slashes - 1) : "./"
    }

    /// Text for an element or an attribute.
    static func escaped(_ text: String) -> String { XMLText.escaped(text) }

    /// Text for a segment of a path.
    ///
    /// Source: RFC 3986 section 2.3
    static func encoded(_ text: String) -> String {
        let allowed = CharacterSet(charactersIn: "a"..."z").union(CharacterSet(charactersIn: "A"..."Z"))
            .union(CharacterSet(charactersIn: "0"..."9")).union(CharacterSet(charactersIn: "-._~"))
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    static func link(_ address: String, _ text: String) -> String {
        "<a href=\"\(escaped(address))\">\(escaped(text))</a>"
    }

    var html: String {
        let path = crumbs.map { "<li>\(Self.link(root + $0.path, $0.title))</li>" }.joined()
        let map =
            hasMap
            ? """
            <link rel="stylesheet" href="\(root)vendor/maplibre/maplibre-gl.css">
            <script src="\(root)vendor/maplibre/maplibre-gl.js" defer></script>
            <script src="\(root)pages/items-map.js" type="module"></script>

            """ : ""
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(Self.escaped(title)) · Billow</title>
            <link rel="icon" href="\(root)icon.svg" type="image/svg+xml">
            \(map)<link rel="stylesheet" href="\(root)pages/pages.css">
            <link rel="alternate" type="application/json" href="\(Self.escaped(root + json))">
            </head>
            <body>
            <header class="bar">
            <a class="name" href="\(root)"><img src="\(root)icon.svg" alt="" width="22" height="22">Billow</a>
            <nav aria-label="Pages">\
            <a href="\(root)">Map</a><a href="\(root)ogc?f=html">Interface</a>\
            <a href="\(root)collections?f=html">Collections</a><a href="\(root)docs/">Operations</a>\
            <a href="\(root)examples/">Examples</a></nav>
            <a class="json" href="\(Self.escaped(root + json))">JSON</a>
            </header>
            <main>
            <nav class="crumbs" aria-label="Above"><ol>\(path)</ol></nav>
            \(content)
            </main>
            <footer>Not for operational use.</footer>
            </body>
            </html>

            """
    }

    /// The page as a response.
    func answer(_ headers: HTTPFields, _ request: Request) throws -> Response {
        var headers = headers
        for field in PageRules(publicURL: nil).headers { headers[field.name] = field.value }
        headers[.contentType] = Self.mediaType
        return try BytesResponse.make(Array(html.utf8), headers: headers, request: request)
    }
}

/// A JSON document that is also available as an HTML page.
enum DocumentResponse {
    /// - Parameters:
    ///   - format: the selected format; nil where `Accept` decides.
    ///   - page: makes the page of the document's values.
    static func make(
        _ value: some Encodable, headers: HTTPFields = [.cacheControl: "no-cache"],
        as format: DocumentParameters.Format?, request: Request, page: (JSONValue) -> HTMLPage
    ) throws -> Response {
        var headers = headers
        if headers[.vary]?.contains("Accept") != true { headers.vary(by: "Accept") }
        guard HTMLPage.isSelected(format, request) else {
            return try JSONResponse.make(value, headers: headers, request: request)
        }
        return try page(JSONBytes.value(of: value)).answer(headers, request)
    }
}
