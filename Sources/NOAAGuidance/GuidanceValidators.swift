import NIOHTTP1

/// The validators of a response, which identify the version of a file.
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

    /// Whether there are no validators.
    package var isEmpty: Bool { entityTag == nil && lastModified == nil }

    /// Whether another response is certainly of another version. If either side lacks a validator, this is false.
    package func contradicts(_ other: GuidanceValidators) -> Bool {
        if let one = entityTag, let two = other.entityTag { return one != two }
        if let one = lastModified, let two = other.lastModified { return one != two }
        return false
    }

    /// The value for `If-Range`: a strong tag, otherwise the date.
    ///
    /// Source: RFC 9110 section 13.1.5
    var rangeCondition: String? {
        if let entityTag, !entityTag.hasPrefix("W/") { return entityTag }
        return lastModified
    }

    /// Adds the headers of a conditional request, whose response has no body if the file is unchanged.
    func addConditions(to headers: inout HTTPHeaders) {
        if let entityTag { headers.add(name: "if-none-match", value: entityTag) }
        if let lastModified { headers.add(name: "if-modified-since", value: lastModified) }
    }
}
