/// The content codings that this server supports.
enum ContentCoding: String, Sendable, Hashable {
    case identity, gzip
    case zstandard = "zstd"
    case brotli = "br"

    /// The order of codings among which a client has no preference.
    enum Order: Sendable {
        /// The one that takes the least time, because all make features, exports and documents about equally small.
        case text
        /// gzip first: zstd makes vector tiles larger, and br takes several times as long.
        case tiles

        fileprivate var codings: [ContentCoding] {
            switch self {
            case .text: [.zstandard, .brotli, .gzip]
            case .tiles: [.gzip, .zstandard, .brotli]
            }
        }
    }

    /// Selects the coding from `Accept-Encoding`: the one that the client prefers, or the first of the order among
    /// those that it prefers equally.
    ///
    /// A coding that isn't named is only selected by `*`, as gzip, which every client can read. A missing or empty
    /// header, or one without a supported coding, selects identity. So does a header that refuses identity and names
    /// no supported coding.
    ///
    /// Source: RFC 9110 section 12.5.3
    init(accepted header: String?, _ order: Order = .text) {
        let weights = header.map(Self.weights) ?? [:]
        var selected = ContentCoding.identity
        var most = weights["identity"] ?? 0
        for coding in order.codings.reversed() {
            guard let weight = Self.weight(of: coding, in: weights), weight > 0, weight >= most else { continue }
            (selected, most) = (coding, weight)
        }
        self = selected
    }

    private static func weight(of coding: ContentCoding, in weights: [String: Double]) -> Double? {
        weights[coding.rawValue] ?? (coding == .gzip ? weights["x-gzip"] ?? weights["*"] : nil)
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
