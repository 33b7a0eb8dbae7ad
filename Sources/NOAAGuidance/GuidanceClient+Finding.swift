package import UpstreamKit

/// The result of a search for the newest file.
package struct GuidanceSearch: Sendable, Hashable {
    /// The newest complete file; nil if there is none within the product's search time.
    package var newest: GuidanceFile?
    /// The length and version of that file.
    package var head: GuidanceFileHead?
    /// Newer files that are still being written.
    package var growing: [GuidanceFile] = []
}

/// The state of a lead time's file, according to a directory.
package enum GuidanceLeadState: String, Sendable, Hashable {
    case absent
    /// The file changed very recently, or has no index and the index isn't overdue.
    case growing
    case present
}

extension GuidanceClient {
    /// Finds the newest file of a lead time, from the current time backwards.
    ///
    /// The first candidates are requested one by one, without bodies. After `headsBeforeListing` missing ones, the
    /// directories of the rest are read, each once: a page lists all its files.
    ///
    /// - Parameter afterRun: only later runs are searched, in Unix seconds. It avoids requests for a run that the
    ///   caller has.
    package func newest(
        _ product: GuidanceProduct, leadHours: Int = 0, afterRun: Int? = nil
    ) async throws(UpstreamError) -> GuidanceSearch {
        let candidates = product.candidates(nowSeconds: nowSeconds, leadHours: leadHours, afterRun: afterRun)
        var search = GuidanceSearch()
        var missed = 0
        var names: [String: Set<String>] = [:]
        for file in candidates {
            if missed >= configuration.headsBeforeListing {
                if names[file.directory] == nil {
                    let listing = try await listing(of: file.directory)
                    names[file.directory] = Set((listing?.entries ?? []).map(\.name))
                }
                guard names[file.directory]?.contains(file.name) == true else { continue }
            }
            switch try await state(of: file) {
            case .absent, .unchanged: missed += 1
            case .growing: search.growing.append(file)
            case .whole(let head):
                search.newest = file
                search.head = head
                return search
            }
        }
        return search
    }

    /// The maximum number of lead times to request one by one; more are looked up in one directory page.
    private static let headsAtMost = 3

    /// The states of a run's lead times.
    ///
    /// - Parameter leadHours: the lead times to check.
    package func leads(
        of product: GuidanceProduct, runSeconds: Int, leadHours: [Int]
    ) async throws(UpstreamError) -> [Int: GuidanceLeadState] {
        let files = leadHours.compactMap { GuidanceFile(product: product, runSeconds: runSeconds, leadHours: $0) }
        var states = Dictionary(
            leadHours.map { ($0, GuidanceLeadState.absent) }, uniquingKeysWith: { first, _ in first })
        guard let first = files.first else { return states }
        if files.count <= Self.headsAtMost {
            for file in files {
                switch try await state(of: file) {
                case .absent: break
                case .growing: states[file.leadHours] = .growing
                case .whole, .unchanged: states[file.leadHours] = .present
                }
            }
            return states
        }
        guard let listing = try await listing(of: first.directory) else { return states }
        let changes = Dictionary(
            listing.entries.lazy.filter { !$0.isDirectory }.map { ($0.name, $0.modifiedSeconds) },
            uniquingKeysWith: { first, _ in first })
        for file in files {
            guard let changed = changes[file.name] else { continue }
            let hasIndex = changes[file.name + GuidanceFile.indexSuffix] != nil
            let isOverdue = changed.map { nowSeconds - $0 >= product.indexDelaySeconds } ?? false
            states[file.leadHours] = hasIndex || isOverdue || product.indexDelaySeconds == 0 ? .present : .growing
        }
        return states
    }
}
