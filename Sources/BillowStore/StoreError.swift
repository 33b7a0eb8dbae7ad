package import Turbulence

/// The errors of a store.
package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file can't be opened or written. Carries the path and the system's reason.
    case unavailable(path: String, reason: String)
    /// The file is no database, or another program's.
    case foreign(path: String, reason: String)
    /// The file is a database of a build from before the first release, whose schema differs.
    case unreleased(path: String)
    /// The file is a damaged database.
    case corrupt(path: String, reason: String)
    /// A file of the open database was removed or replaced, so writes to it would be lost.
    case replaced(path: String, isGone: Bool)
    /// The disk is full.
    case full(path: String)
    /// More sources than a row can reference (256), or than may be registered from outside the settings.
    case tooManySources(SourceID)
    /// A reporter named more sources than it may.
    case tooManySourcesOfReporter(limit: Int, known: [SourceID])
    /// An observation names an unregistered source.
    case unknownSource(SourceID)
    /// A log can't hold both simulated and real sources.
    case mixed(SourceID, simulated: Bool, with: SourceID)
    /// Rows from before this instant were deleted after the requested version.
    case deleted(before: Instant)
    /// Another failure of the database, such as a lock timeout.
    case failed(String)

    package var description: String {
        switch self {
        case .unavailable(let path, let reason): "the database \(path) can't be used: \(reason)"
        case .foreign(let path, let reason): "the database \(path) can't be used: \(reason)"
        case .unreleased(let path):
            "the database \(path) can't be used: \(StoreError.unreleasedReason(path))"
        case .corrupt(let path, let reason): "the database \(path) is damaged: \(reason)"
        case .replaced(let path, let isGone):
            "the file \(path) of the open database was \(isGone ? "removed" : "replaced by another"): nothing more can "
                + "be stored in it; put it back, or start the server again"
        case .full(let path): "the database failed: the disk that holds \(path) is full"
        case .tooManySources(let source):
            "source \(source) is one too many: a database knows at most 256, \(SourceRecord.reserved) of them for "
                + "sources that the settings name"
        case .tooManySourcesOfReporter(let limit, let known):
            "a reporter may name at most \(limit) sources; this one has named "
                + (known.isEmpty ? "none" : known.map(\.name).joined(separator: ", "))
        case .unknownSource(let source): "source \(source) is not registered"
        case .mixed(let source, let simulated, let other):
            "source \(source) has \(simulated ? "simulated" : "real") data, and the database holds "
                + "\(simulated ? "real" : "simulated") data of source \(other): they must not be mixed, use another "
                + "database"
        case .deleted(let before): "the data from before \(before) has been deleted"
        case .failed(let reason): "the database failed: \(reason)"
        }
    }

    /// The explanation of `unreleased`, and the remedy.
    package static func unreleasedReason(_ path: String) -> String {
        "a build before Billow's first release wrote it, and it was not changed; "
            + "billow salvage \(path) -o NEW copies it into a new database"
    }
}
