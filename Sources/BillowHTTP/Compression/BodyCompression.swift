import BillowPacks

/// How much time the compression of a body may take.
enum CompressionEffort: Sendable {
    /// For a body that is made for one request.
    case low
    /// For a body that is cached, or that clients request again and again over slow links.
    case high
}

extension ContentCoding {
    /// The compressed bytes; nil for `identity`, or if memory is exhausted.
    ///
    /// The levels are a compromise that decision 41 measured.
    func compress(_ bytes: [UInt8], _ effort: CompressionEffort) -> [UInt8]? {
        switch self {
        case .identity: nil
        case .gzip: Gzip.compress(bytes, level: effort == .low ? 6 : 9)
        case .zstandard: Zstandard.compress(bytes, level: effort == .low ? 1 : 9)
        case .brotli: Brotli.compress(bytes, quality: 5)
        }
    }

    /// The memory of a stream in bytes.
    var streamBytes: Int {
        switch self {
        case .identity: 0
        case .gzip: DeflateStream.memoryBytes
        case .zstandard: ZstandardStream.memoryBytes
        case .brotli: BrotliStream.memoryBytes
        }
    }

    /// A new stream; nil for `identity`, or if memory is exhausted.
    func stream() -> (any CompressionStream)? {
        switch self {
        case .identity: nil
        case .gzip: DeflateStream(.gzip)
        case .zstandard: ZstandardStream()
        case .brotli: BrotliStream()
        }
    }
}

/// Compresses a body piece by piece.
protocol CompressionStream: Sendable {
    /// Compresses bytes.
    /// - Parameter isLast: whether these are the last bytes.
    /// - Returns: the available output; may be empty until the end.
    func compress(_ bytes: [UInt8], isLast: Bool) -> [UInt8]
}

extension DeflateStream: CompressionStream {}

/// The size of a stream's output buffer.
enum CompressionPiece {
    static let bytes = 64 << 10
}
