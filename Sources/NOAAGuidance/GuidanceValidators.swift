import NIOHTTP1

/// Which version of a file an answer came from.
///
/// Source: RFC 9110 section 8.8
package struct GuidanceValidators: Sendable, Hashable, Codable {
    package var entityTag: String?
    package var lastModified: String?

    package init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    init(_ headers: HTTPHeaders) {
        self.init(entityTag: headers.first(name: "etag"), lastModified: headers.first(name: "last-modified"))
    }

    /// Whether nothing is known.
    package var isEmpty: Bool { entityTag == nil && lastModified == nil }

    /// Whether another answer is certainly of another version. Where either side is silent, nothing is certain.
    package func contradicts(_ other: GuidanceValidators) -> Bool {
        if let one = entityTag, let two = other.entityTag { return one != two }
        if let one = lastModified, let two = other.lastModified { return one != two }
        return false
    }

    /// What `If-Range` may hold: a strong tag, or else the date.
    ///
    /// Source: RFC 9110 section 13.1.5
    var rangeCondition: String? {
        if let entityTag, !entityTag.hasPrefix("W/") { return entityTag }
        return lastModified
    }

    /// Adds the conditions under which an unchanged answer needs no body.
    func addConditions(to headers: inout HTTPHeaders) {
        if let entityTag { headers.add(name: "if-none-match", value: entityTag) }
        if let lastModified { headers.add(name: "if-modified-since", value: lastModified) }
    }
}
