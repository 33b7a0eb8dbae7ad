import BillowParameters
import BillowRaster
import Datasets
import JSONKit
import Turbulence

/// The landing page, the collections and their features as pages for people, made of the values of the JSON documents.
enum CollectionPages {
    private typealias Page = HTMLPage

    private static let interface = HTMLPage.Crumb(title: "Interface", path: "ogc?f=html")
    private static let collections = HTMLPage.Crumb(title: "Collections", path: "collections?f=html")

    private static func escaped(_ text: String) -> String { HTMLPage.escaped(text) }
    private static func text(_ value: JSONValue?) -> String { escaped(value?.string ?? value?.text ?? "") }

    // MARK: - Landing page

    static func landing(_ document: JSONValue, path: String) -> HTMLPage {
        let root = HTMLPage.root(of: path)
        let cards = [
            ("collections?f=html", "Collections", "Every dataset: its extent, properties, queries and downloads."),
            ("docs/", "Operations", "An interactive list of all routes and their parameters."),
            ("", "Map", "The live map of turbulence, traffic and warnings."),
            ("examples/", "Examples", "Example pages with Leaflet, MapLibre and OpenLayers."),
            ("wms?service=WMS&request=GetCapabilities", "WMS", "Maps for QGIS, ArcGIS and GDAL, with time."),
            ("wmts/1.0.0/WMTSCapabilities.xml", "WMTS", "Map tiles for the same programs."),
        ].map { address, title, words in
            "<li><a href=\"\(root)\(escaped(address))\"><strong>\(title)</strong><span>\(words)</span></a></li>"
        }
        let content = """
            <h1>\(text(document["title"]))</h1><p class="lead">\(text(document["description"])).</p>
            <ul class="cards">\(cards.joined())</ul>
            <h2>Documents</h2>\(links(document["links"]))
            """
        return HTMLPage(
            title: "Interface", crumbs: [], root: root, json: "ogc?f=json", hasMap: false, content: content)
    }

    // MARK: - Conformance

    /// The classes by their specification. Their addresses are names, which lead nowhere.
    static func conformance(_ document: JSONValue, path: String) -> HTMLPage {
        var groups: [(name: String, classes: [String])] = []
        for uri in (document["conformsTo"]?.array ?? []).compactMap(\.string) {
            let name = uri.split(separator: "/conf/")[0].split(separator: "/spec/").last.map(String.init) ?? uri
            if groups.last?.name == name {
                groups[groups.count - 1].classes.append(uri)
            } else {
                groups.append((name, [uri]))
            }
        }
        let rows = groups.map { name, classes in
            let words = classes.map { uri in
                let word = uri.split(separator: "/conf/").last.map(String.init) ?? uri
                return "<code title=\"\(escaped(uri))\">\(escaped(word))</code>"
            }
            return "<tr><td>\(escaped(name))</td><td>\(words.joined(separator: " "))</td></tr>"
        }
        return HTMLPage(
            title: "Conformance", crumbs: [interface], root: HTMLPage.root(of: path), json: "conformance?f=json",
            hasMap: false,
            content: """
                <h1>Conformance</h1><p class="lead">The parts of specifications that the interface follows. They are \
                tested, and not certified.</p>
                <div class="scroll"><table><thead><tr><th>Specification</th><th>Classes</th></tr></thead>\
                <tbody>\(rows.joined())</tbody></table></div>
                """)
    }

    private static func links(_ links: JSONValue?, without relations: Set<String> = ["self"]) -> String {
        let rows = (links?.array ?? []).filter { !relations.contains($0["rel"]?.string ?? "") }.map { link in
            let address = link["href"]?.string ?? ""
            return "<tr><td>\(HTMLPage.link(address, link["title"]?.string ?? address))</td>"
                + "<td><code>\(text(link["type"]))</code></td></tr>"
        }
        return "<div class=\"scroll\"><table><tbody>\(rows.joined())</tbody></table></div>"
    }

    // MARK: - Collections

    static func list(_ document: JSONValue, path: String) -> HTMLPage {
        let root = HTMLPage.root(of: path)
        let cards = (document["collections"]?.array ?? []).map { collection in
            let id = collection["id"]?.string ?? ""
            let times = collection["extent"]?["temporal"]?["interval"]?.array?.first?.array ?? []
            let end = times.last.map { "<small>up to <time>\(text($0))</time></small>" } ?? ""
            return """
                <li><a href="\(root)collections/\(escaped(id))?f=html"><strong>\(text(collection["title"]))</strong>\
                <code>\(escaped(id))</code><span>\(text(collection["description"]))</span>\(end)</a></li>
                """
        }
        return HTMLPage(
            title: "Collections", crumbs: [interface], root: root, json: "collections?f=json", hasMap: false,
            content: """
                <h1>Collections</h1><p class="lead">Each has features, queries by place and route, tiles and \
                downloads.</p>
                <ul class="cards">\(cards.joined())</ul>
                """)
    }

    static func collection(_ document: JSONValue, _ dataset: Dataset, path: String) -> HTMLPage {
        let root = HTMLPage.root(of: path)
        let here = "collections/\(dataset.id)"
        let onMap =
            dataset.drawing == nil
            ? "" : "<a class=\"button quiet\" href=\"\(root)#layers=\(dataset.id)\">Show on map</a>"
        let content = """
            <h1>\(text(document["title"]))</h1><p class="lead">\(text(document["description"]))</p>
            <p class="actions"><a class="button" href="\(root)\(here)/items?f=html">Show features</a>\
            \(onMap)</p>
            \(facts(document))
            <h2>Downloads</h2><p class="actions">\(downloads(document))</p>
            <h2>Queries</h2>\(queries(document["data_queries"]))
            <h2>Properties</h2>\(properties(dataset))
            <h2>Documents</h2>\(links(document["links"], without: ["self", "enclosure", "data", "items"]))
            """
        return HTMLPage(
            title: dataset.title, crumbs: [interface, collections], root: root, json: "\(here)?f=json", hasMap: false,
            content: content)
    }

    private static func facts(_ document: JSONValue) -> String {
        var facts: [(String, String)] = [("Id", "<code>\(text(document["id"]))</code>")]
        let extent = document["extent"]
        if let times = extent?["temporal"]?["interval"]?.array?.first?.array, times.count == 2 {
            facts.append(("Time", "<time>\(text(times[0]))</time> to <time>\(text(times[1]))</time>"))
        }
        if let box = extent?["spatial"]?["bbox"]?.array?.first?.array?.compactMap(\.number), box.count == 4 {
            let isWorld = box == [-180, -90, 180, 90]
            facts.append(
                ("Place", isWorld ? "the earth" : "\(box[0])° to \(box[2])° east, \(box[1])° to \(box[3])° north"))
        }
        if let heights = extent?["vertical"]?["interval"]?.array?.first?.array, heights.count == 2 {
            facts.append(("Altitude", "\(text(heights[0])) to \(text(heights[1])) ft"))
        }
        if let words = document["attribution"]?.string { facts.append(("Attribution", escaped(words))) }
        return "<dl class=\"facts\">\(facts.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }.joined())</dl>"
    }

    private static func downloads(_ document: JSONValue) -> String {
        (document["links"]?.array ?? []).filter { $0["rel"]?.string == "enclosure" }.map { link in
            let address = link["href"]?.string ?? ""
            let ending = address.split(separator: ".").last.map(String.init) ?? ""
            return "<a class=\"button quiet\" href=\"\(escaped(address))\">\(escaped(ending))</a>"
        }.joined()
    }

    private static func queries(_ queries: JSONValue?) -> String {
        let rows = EDRQuery.allCases.compactMap { query -> String? in
            guard let link = queries?[query.rawValue]?["link"] else { return nil }
            let formats = link["variables"]?["output_formats"]?.array?.compactMap(\.string) ?? []
            return "<tr><td><code>/\(query.rawValue)</code></td><td>\(text(link["title"]))</td>"
                + "<td>\(escaped(formats.joined(separator: ", ")))</td></tr>"
        }
        return """
            <div class="scroll"><table><thead><tr><th>Query</th><th>Gives</th><th>Formats</th></tr></thead>\
            <tbody>\(rows.joined())</tbody></table></div>
            """
    }

    private static func properties(_ dataset: Dataset) -> String {
        let rows = dataset.featureProperties.map { property in
            let range = property.range.map { "\(number($0.lowerBound))–\(number($0.upperBound))" } ?? ""
            return "<tr><td><code>\(property.name)</code></td><td>\(escaped(property.summary))</td>"
                + "<td>\(escaped(property.unit ?? ""))</td><td>\(range)</td>"
                + "<td>\(property.filter.map { "<code>\(escaped($0))</code>" } ?? "")</td></tr>"
        }
        return """
            <div class="scroll"><table><thead><tr><th>Property</th><th>Meaning</th><th>Unit</th><th>Range</th>\
            <th>Filter</th></tr></thead><tbody>\(rows.joined())</tbody></table></div>
            """
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
    }

    // MARK: - Features

    /// - Parameters:
    ///   - document: the page's FeatureCollection; its features need no geometry.
    ///   - address: the page's address, with its query.
    ///   - json: the address of the same features as GeoJSON, from the root.
    ///   - table: the same as CSV.
    ///   - one: the address of the feature with an id, from the root.
    ///   - next: the address of the next page.
    static func items(
        _ document: JSONValue, _ dataset: Dataset, _ style: Style?, path: String, json: String, table csv: String,
        one: (_ id: String) -> String, next: String?
    ) -> HTMLPage {
        let root = HTMLPage.root(of: path)
        let features = document["features"]?.array ?? []
        let colours = Severity.allCases.compactMap { style?[$0].fill.colour.hexadecimal }
        let geoJSON = escaped(root + json)
        let follow = next.map { "<a class=\"button\" href=\"\(escaped($0))\">Next page</a>" } ?? ""
        let content = """
            <h1>\(escaped(dataset.title))</h1>\(marks(document))
            <p class="actions">\(count(document, features.count))\(follow)\
            <a class="button quiet" href="\(geoJSON)">GeoJSON</a>\
            <a class="button quiet" href="\(escaped(root + csv))">CSV</a></p>
            <div id="map" data-features="\(geoJSON)" data-root="\(root)" \
            data-colours="\(colours.joined(separator: " "))" aria-label="Map of these features" aria-busy="true"></div>
            \(table(features, dataset, colours) { root + one($0) })
            """
        return HTMLPage(
            title: "\(dataset.title): features",
            crumbs: [interface, collections, .init(title: dataset.title, path: "collections/\(dataset.id)?f=html")],
            root: root, json: json, hasMap: true, content: content)
    }

    /// One feature: its properties with their meaning, and a map.
    ///
    /// - Parameters:
    ///   - feature: the feature, which needs no geometry.
    ///   - json: the address of the same feature as GeoJSON, from the root.
    static func feature(
        _ feature: JSONValue, _ dataset: Dataset, _ style: Style?, path: String, json: String
    ) -> HTMLPage {
        let root = HTMLPage.root(of: path)
        let id = feature["id"]?.string ?? ""
        let colours = Severity.allCases.compactMap { style?[$0].fill.colour.hexadecimal }
        let geoJSON = escaped(root + json)
        let rows = dataset.featureProperties.compactMap { property -> String? in
            guard feature["properties"]?["\(property.name)"] != nil else { return nil }
            return "<tr><th scope=\"row\">\(property.name)</th>\(cell(property, feature["properties"], colours))"
                + "<td>\(escaped(property.unit ?? ""))</td><td>\(escaped(property.summary))</td></tr>"
        }
        let content = """
            <h1>\(escaped(id))</h1>\(marks(feature))
            <p class="actions"><a class="button quiet" href="\(geoJSON)">GeoJSON</a></p>
            <div id="map" data-features="\(geoJSON)" data-root="\(root)" \
            data-colours="\(colours.joined(separator: " "))" aria-label="Map of this feature" aria-busy="true"></div>
            <div class="scroll"><table><thead><tr><th>Property</th><th>Value</th><th>Unit</th><th>Meaning</th></tr>\
            </thead><tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
            """
        let here = "collections/\(dataset.id)"
        return HTMLPage(
            title: "\(dataset.title): \(id)",
            crumbs: [
                interface, collections, .init(title: dataset.title, path: "\(here)?f=html"),
                .init(title: "Features", path: "\(here)/items?f=html"),
            ],
            root: root, json: json, hasMap: true, content: content)
    }

    private static func marks(_ document: JSONValue) -> String {
        let words: [(String, String)] = [
            ("simulated", "Simulated: none of the data is real"), ("stale", "Stale"), ("incomplete", "Incomplete"),
        ]
        let marks = words.filter { document[$0.0] == .bool(true) }.map { "<span class=\"mark\">\($0.1)</span>" }
        let time = document["time"]?.string.map { "<time>\(escaped($0))</time>" } ?? ""
        return "<p class=\"marks\">\(time)\(marks.joined())</p>"
    }

    private static func count(_ document: JSONValue, _ shown: Int) -> String {
        guard let matched = document["numberMatched"]?.number.map({ Int($0) }), matched != shown else {
            return "<span>\(shown) feature\(shown == 1 ? "" : "s")</span>"
        }
        return "<span>\(shown) of \(matched) features</span>"
    }

    private static func table(
        _ features: [JSONValue], _ dataset: Dataset, _ colours: [String], address: (_ id: String) -> String
    ) -> String {
        guard !features.isEmpty else { return "<p class=\"none\">There is no such feature at this time.</p>" }
        // Columns without any value are left out.
        let columns = dataset.featureProperties.filter { property in
            features.contains { $0["properties"]?["\(property.name)"] != nil }
        }
        let heads = columns.map { column in
            "<th title=\"\(escaped(column.summary))\">\(column.name)"
                + (column.unit.map { "<small>\(escaped($0))</small>" } ?? "") + "</th>"
        }
        let rows = features.map { feature in
            let id = feature["id"]?.string ?? ""
            let cells = columns.map { cell($0, feature["properties"], colours) }
            return "<tr data-id=\"\(escaped(id))\"><td>\(HTMLPage.link(address(id), id))</td>\(cells.joined())</tr>"
        }
        return """
            <div class="scroll"><table class="features"><thead><tr><th>id</th>\(heads.joined())</tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
            """
    }

    private static func cell(_ column: Property, _ properties: JSONValue?, _ colours: [String]) -> String {
        guard let value = properties?["\(column.name)"] else { return "<td></td>" }
        switch value {
        case .number(let number):
            let words = self.number(number)
            if column.role == .severity, colours.indices.contains(Int(number)) {
                // A style sheet of the page can't know the colours, and an inline one isn't allowed.
                let sign =
                    "<svg class=\"severity\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">"
                    + "<rect width=\"12\" height=\"12\" rx=\"3\" fill=\"\(colours[Int(number)])\"/></svg>"
                return "<td class=\"number\">\(sign)\(words)</td>"
            }
            return "<td class=\"number\">\(words)</td>"
        case .string(let words) where column.type == .text && words.count > 60:
            return "<td class=\"long\">\(escaped(words))</td>"
        case .array, .object: return "<td class=\"long\">\(escaped(value.text))</td>"
        default: return "<td>\(text(value))</td>"
        }
    }
}
