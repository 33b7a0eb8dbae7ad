/// A selection of messages in a file.
package struct MessageSelection: Sendable, Hashable {
    /// The keys of the messages; nil selects all.
    package var keys: Set<GuidanceMessageKey>?

    private init(keys: Set<GuidanceMessageKey>?) { self.keys = keys }

    /// Selects every message.
    package static let everything = MessageSelection(keys: nil)

    /// Selects the messages of some keys.
    package init(_ keys: Set<GuidanceMessageKey>) { self.keys = keys }

    /// Selects some parameters, each at some altitudes.
    ///
    /// - Parameter altitudesMeters: metres above mean sea level, truncated as in the files.
    package init(_ parameters: Set<GuidanceParameter>, altitudesMeters: some Sequence<Int>) {
        let levels = altitudesMeters.map { GuidanceLevel(altitudeMeters: $0) }
        keys = Set(parameters.flatMap { parameter in levels.map { GuidanceMessageKey(parameter, $0) } })
    }

    func contains(_ key: GuidanceMessageKey) -> Bool { keys?.contains(key) ?? true }
}
