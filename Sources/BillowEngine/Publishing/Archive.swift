package import BillowSnapshot
package import BillowStore
package import Logging
import Synchronization
package import Turbulence

/// Access to archive parts: their packed bytes if available, else the rows of the log. Packed bytes are a cache that
/// the log validates (`Store.packed`); damaged ones are ignored.
package final class Archive: Sendable {
    private let store: any Store
    private let logger: Logger
    /// Parts with damaged bytes. They are not read again until they are repacked.
    private let damaged = Mutex(Set<ArchivePart>())

    package init(store: any Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// A part at a version.
    package func part(_ part: ArchivePart, asOf version: Version) async throws(StoreError) -> WindowPart {
        if let packed = try await packed(part, asOf: version) { return packed }
        let rows = try await store.rows(from: part.start, to: part.end, asOf: version)
        return WindowPart(part, rows: rows.rows)
    }

    private func packed(_ part: ArchivePart, asOf version: Version) async throws(StoreError) -> WindowPart? {
        guard !damaged.withLock({ $0.contains(part) }) else { return nil }
        let bytes: [UInt8]?
        do throws(StoreError) { bytes = try await store.packed(part, asOf: version) } catch {
            // The rows may still be readable.
            guard case .corrupt = error else { throw error }
            note(part, damage: error.description)
            return nil
        }
        do throws(PackDamage) {
            return try bytes.map { bytes throws(PackDamage) in try WindowPart(part, packed: bytes) }
        } catch {
            note(part, damage: error.description)
            return nil
        }
    }

    private func note(_ part: ArchivePart, damage: String) {
        guard damaged.withLock({ $0.insert(part).inserted }) else { return }
        logger.error(
            "a packed part of the archive is damaged; its rows are read instead and packed again",
            metadata: ["part": "\(part.start)", "error": "\(damage)"])
    }

    /// The parts in a range that need packing, newest first: damaged, unpacked and stale ones.
    func unpackedParts(in range: ClosedRange<ArchivePart>) async throws(StoreError) -> [ArchivePart] {
        let unpacked = try await store.unpackedParts(in: range)
        return damaged.withLock { $0.filter(range.contains) }.union(unpacked).sorted(by: >)
    }

    /// Packs the current rows of a part. Stores nothing if the part changes meanwhile or a row is unreadable.
    func pack(_ part: ArchivePart) async throws(StoreError) {
        let rows = try await store.rows(of: part)
        guard rows.isWhole else { return }
        guard try await store.savePacked(WindowPart(part, rows: rows.rows).packed(), of: rows) else { return }
        damaged.withLock { _ = $0.remove(part) }
    }

    /// Compares all packed parts with their rows; returns a line for each part that differs.
    package func check() async throws(StoreError) -> (parts: Int, problems: [String]) {
        let parts = try await store.packedParts()
        let head = try await store.head().version
        var problems: [String] = []
        for part in parts {
            let rows = try await store.rows(of: part)
            // Stale packed bytes are never served, so they aren't compared.
            guard let bytes = try await store.packed(part, asOf: max(head, rows.version)) else { continue }
            let problem: String
            do throws(PackDamage) {
                _ = try WindowPart(part, packed: bytes)
                guard bytes != WindowPart(part, rows: rows.rows).packed() else { continue }
                problem = "they are not the rows of the log"
            } catch {
                problem = error.description
            }
            problems.append("the packed rows of \(part.start) differ: \(problem)")
        }
        return (parts.count, problems)
    }
}
