/// The content codings that this server supports.
enum ContentCoding: Sendable, Hashable {
    case identity, gzip

    /// Selects the coding from `Accept-Encoding`: gzip if the client prefers it to identity, or accepts both equally.
    ///
    /// A missing or empty header, or one without gzip, selects identity. So does a header that refuses identity and
    /// names no supported coding.
    ///
    /// Source: RFC 9110 section 12.5.3
    init(accepted header: String?) {
        let weights = header.map(Self.weights) ?? [:]
        let gzip = weights["gzip"] ?? weights["x-gzip"] ?? weights["*"] ?? 0
        let identity = weights["identity"] ?? 0
        self = gzip > 0 && gzip >= identity ? .gzip : .identity
    }

    /// Whether a client refuses the identity coding.
    static func isIdentityRefused(_ header: String?) -> Bool {
        let weights = header.map(weights) ?? [:]
        return weights["identity"] ?? weights["*"] ?? 1 == 0
    }

    /// The codings of a header in lower case, with their weights. A coding with an invalid weight is skipped.
    ///
    /// Source: RFC 9110 section 12.4.2
    private static func weights(_ header: String) -> [String: Double] {
        var weights: [String: Double] = [:]
        for part in header.split(separator: ",") {
            let words = part.split(separator: ";", omittingEmptySubsequences: false).map {
                $0.filter { $0 != " " && $0 != "\t" }.lowercased()
            }
            guard let coding = words.first, !coding.isEmpty else { continue }
            var weight: Double? = 1
            if let parameter = words.dropFirst().first(where: { $0.hasPrefix("q=") }) {
                let text = parameter.dropFirst(2)
                let isNumber = text.utf8.count <= 5 && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || $0 == 0x2E }
                weight = isNumber ? Double(text).flatMap { (0...1).contains($0) ? $0 : nil } : nil
            }
            if let weight { weights[coding] = weight }
        }
        return weights
    }
}
