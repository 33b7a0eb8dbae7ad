/// A link from one document to another.
///
/// Source: OGC 17-069r4 (OGC API Features part 1) section 7.2, RFC 8288
struct Link: Encodable, Sendable {
    var href: String
    var rel: String
    var type: String
    var title: String?
    /// Whether the URL is a template with variables in braces; absent if it isn't.
    var templated: Bool?

    /// A URL template with variables in braces.
    init(template relation: String, _ href: String, type: String, title: String) {
        self.init(relation, href, type: type, title: title)
        templated = true
    }

    init(_ rel: String, _ href: String, type: String = "application/json", title: String? = nil) {
        self.href = href
        self.rel = rel
        self.type = type
        self.title = title
    }

    /// The link as a value of the header `Link`, for bodies without a place for links.
    var header: String { "<\(href)>; rel=\"\(rel)\"; type=\"\(type)\"" }

    static let crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
    static let schema = "http://www.opengis.net/def/rel/ogc/1.0/schema"
    static let queryables = "http://www.opengis.net/def/rel/ogc/1.0/queryables"
}
