/// Which messages of a file are wanted.
package struct MessageSelection: Sendable, Hashable {
    /// nil: every one.
    package var keys: Set<GuidanceMessageKey>?

    private init(keys: Set<GuidanceMessageKey>?) { self.keys = keys }

    /// Every message.
    package static let everything = MessageSelection(keys: nil)

    /// The messages of these keys.
    package init(_ keys: Set<GuidanceMessageKey>) { self.keys = keys }

    /// Some parameters, each at some altitudes.
    ///
    /// - Parameter altitudesMeters: metres above mean sea level, truncated as the files have them.
    package init(_ parameters: Set<GuidanceParameter>, altitudesMeters: some Sequence<Int>) {
        let levels = altitudesMeters.map { GuidanceLevel(altitudeMeters: $0) }
        keys = Set(parameters.flatMap { parameter in levels.map { GuidanceMessageKey(parameter, $0) } })
    }

    func contains(_ key: GuidanceMessageKey) -> Bool { keys?.contains(key) ?? true }
}
