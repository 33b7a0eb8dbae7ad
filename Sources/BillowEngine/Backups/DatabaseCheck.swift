package import BillowStore
package import Logging

/// The complete check of a database, which `billow check` makes, and which a backup must pass.
package struct DatabaseCheck: Sendable {
    /// The problems, one line each; empty for a sound database.
    package var problems: [String]
    /// The number of packed parts of the archive that were compared with their rows.
    package var packedParts = 0

    /// Reads the whole database.
    /// - Throws: the errors of the store, except damage.
    package init(_ store: any SQLStore, logger: Logger) async throws(StoreError) {
        problems = try await store.problems()
        // A damaged log can't validate the archive, so the archive is checked only if the log is intact.
        guard problems.isEmpty else { return }
        (packedParts, problems) = try await Archive(store: store, logger: logger).check()
    }
}
