package import UpstreamKit

/// What a search for the newest file has found.
package struct GuidanceSearch: Sendable, Hashable {
    /// The newest file that is whole; nil where none is within the product's search time.
    package var newest: GuidanceFile?
    /// Its length and version.
    package var head: GuidanceFileHead?
    /// Newer files that are there but still growing.
    package var growing: [GuidanceFile] = []
}

/// Whether the file of a lead time is there, as far as a directory tells.
package enum GuidanceLeadState: String, Sendable, Hashable {
    case absent
    /// There without its index, or changed a moment ago.
    case growing
    case present
}

extension GuidanceClient {
    /// The newest file of a lead time, from the clock backwards over files that aren't there yet.
    ///
    /// The first candidates are asked for one by one, without bodies. After `headsBeforeListing` missing ones the
    /// directories of the rest are read, each once: one page tells of all its files.
    ///
    /// - Parameter afterRun: only runs later than this; Unix seconds. The run that the caller has costs no request.
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

    /// Fewer lead times are asked for one by one; more by one directory page.
    private static let headsAtMost = 3

    /// Which lead times of a run are there.
    ///
    /// - Parameter leadHours: the wanted ones.
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
        let names = Set(listing.entries.lazy.filter { !$0.isDirectory }.map(\.name))
        for file in files where names.contains(file.name) {
            let hasIndex = names.contains(file.name + GuidanceFile.indexSuffix)
            states[file.leadHours] = hasIndex || !product.requiresIndex ? .present : .growing
        }
        return states
    }
}
