import Datasets
import JSONKit
import Turbulence
import UpstreamKit

/// A response of `/changes` for a mirror, with the features as the log stores them.
package struct MirrorAnswer: Sendable {
    /// The server's name for what the client has after this response.
    var cursor = ""
    /// The cursor on which a delta builds; nil for a whole response.
    var since: String?
    /// Whether the features are all features.
    var isFull = false
    /// The time of the server's snapshot.
    var time = Instant.distantPast
    var dataTime: Instant?
    var isStale = true
    var isIncomplete = true
    package internal(set) var isSimulated = false
    var completeSince: Instant?
    /// The ids of features that are gone.
    var removed: [String] = []
    /// The logs that the server has: its own, and those that it mirrors.
    var logs: [String] = []
    var features: MirroredFeatures

    /// The most names of servers and logs in a chain of mirrors.
    static let longestChain = 64
    /// The longest cursor. Billow's own have at most 27 characters.
    static let longestCursor = 100

    /// - Throws: `UnreadableResponse` for a response that isn't one of `/changes`, as a whole.
    init(_ bytes: [UInt8], of dataset: Dataset) throws(UnreadableResponse) {
        var features = MirroredFeatures(of: dataset)
        var removed: [String]?
        var hasFeatures = false
        var isRemovedWrong = false
        var members: [String: JSONValue] = [:]
        try UnreadableResponse.reading(bytes) { (scanner) throws(JSONScanner.Malformed) in
            try scanner.object { (scanner, key) throws(JSONScanner.Malformed) in
                let next = scanner.peek()
                switch scanner.text(key.range, escaped: key.escaped) {
                case "features" where next == UInt8(ascii: "["):
                    hasFeatures = true
                    try scanner.array { (scanner) throws(JSONScanner.Malformed) in try features.add(&scanner) }
                case "removed" where next == UInt8(ascii: "["):
                    var ids: [String] = []
                    try scanner.array { (scanner) throws(JSONScanner.Malformed) in
                        if case .string(let range, let escaped) = try scanner.value(), ids.count < Self.mostRemoved {
                            ids.append(scanner.text(range, escaped: escaped))
                        } else {
                            isRemovedWrong = true
                        }
                    }
                    removed = ids
                case let name where Self.names.contains(name):
                    var ahead = scanner
                    try ahead.skipValue()
                    if ahead.position - scanner.position <= MirroredFeatures.longestFeature {
                        members[name] = try scanner.tree()
                    } else {
                        scanner = ahead
                    }
                default: try scanner.skipValue()
                }
            }
        }
        guard hasFeatures else { throw .missing("features") }
        guard let removed, !isRemovedWrong else { throw .missing("a list of removed ids") }
        self.features = features
        self.removed = removed
        try read(members)
    }

    private static let mostRemoved = 4_000_000
    private static let names: Set<String> = [
        "cursor", "since", "full", "time", "dataTime", "stale", "incomplete", "simulated", "completeSince", "mirror",
    ]

    private mutating func read(_ members: [String: JSONValue]) throws(UnreadableResponse) {
        func flag(_ name: String) throws(UnreadableResponse) -> Bool {
            guard let value = members[name]?.bool else { throw .missing(name) }
            return value
        }
        /// nil for null, which means unknown. Any other text than an instant is an error.
        func instant(_ name: String) throws(UnreadableResponse) -> Instant? {
            guard let value = members[name], value != .null else { return nil }
            guard let instant = value.string.flatMap({ Instant($0) }) else { throw .missing("an instant \(name)") }
            return instant
        }
        guard let cursor = members["cursor"]?.string, (1...Self.longestCursor).contains(cursor.utf8.count),
            cursor.utf8.allSatisfy(Self.isOfCursors)
        else { throw .missing("a usable cursor") }
        self.cursor = cursor
        since = members["since"]?.string
        isFull = try flag("full")
        guard let time = try instant("time") else { throw .missing("time") }
        self.time = time
        dataTime = try instant("dataTime")
        isStale = try flag("stale")
        isIncomplete = try flag("incomplete")
        // Without data, a server says nothing about it.
        isSimulated = members["simulated"]?.bool ?? false
        completeSince = try instant("completeSince")
        func texts(_ name: String) -> [String]? {
            guard let list = members["mirror"]?[name]?.array else { return nil }
            let texts = list.compactMap(\.string)
            return texts.count == list.count ? texts : nil
        }
        guard let logs = texts("logs"), (1...Self.longestChain).contains(logs.count),
            logs.allSatisfy({ (1...64).contains($0.utf8.count) && $0.utf8.allSatisfy(Self.isOfCursors) }),
            let computed = texts("computed")
        else { throw .missing("what a mirror needs, so it may be an older Billow or another service") }
        self.logs = logs
        features.computed = Set(computed)
    }

    private static func isOfCursors(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
