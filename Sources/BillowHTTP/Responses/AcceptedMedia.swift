/// The media types that a client accepts, from its `Accept` header.
///
/// Source: RFC 9110 section 12.5.1
struct AcceptedMedia: Sendable {
    private var ranges: [(type: Substring, weight: Double)] = []

    init(_ header: String?) {
        for part in (header ?? "").split(separator: ",") {
            let words = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let type = words.first else { continue }
            let weight = words.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            ranges.append((Substring(type), weight))
        }
    }

    /// The quality value of a type, 0…1, from the most specific matching range. Without a header all types are equal.
    func weight(of type: String) -> Double {
        guard !ranges.isEmpty else { return 1 }
        let family = type.prefix { $0 != "/" } + "/*"
        for wanted in [Substring(type), family, "*/*"] {
            if let range = ranges.first(where: { $0.type == wanted }) { return range.weight }
        }
        return 0
    }

    /// Whether the client prefers JSON to HTML, as programs do.
    var prefersJSON: Bool { weight(of: "application/json") > weight(of: "text/html") }
}
