/// The address of one file: product, run and lead time.
///
/// Source: docs/upstreams/noaa.md, "Addresses"
package struct GuidanceFile: Sendable, Hashable, Codable {
    package let product: GuidanceProduct
    /// When the run began, or for the nowcast its valid time. Unix seconds.
    package let runSeconds: Int
    /// Hours from the run to the valid time.
    package let leadHours: Int

    /// nil unless the run lies on the product's cadence between 1970 and 2099, and the lead has a file.
    package init?(product: GuidanceProduct, runSeconds: Int, leadHours: Int = 0) {
        guard (0..<4_102_444_800).contains(runSeconds), runSeconds % product.cadenceSeconds == 0,
            product.leadHours.contains(leadHours)
        else { return nil }
        self.product = product
        self.runSeconds = runSeconds
        self.leadHours = leadHours
    }

    /// Unix seconds.
    package var validSeconds: Int { runSeconds + leadHours * 3_600 }
}

extension GuidanceFile: Comparable {
    /// By product, run and lead.
    package static func < (first: GuidanceFile, second: GuidanceFile) -> Bool {
        (first.product.rawValue, first.runSeconds, first.leadHours)
            < (second.product.rawValue, second.runSeconds, second.leadHours)
    }
}

// MARK: - Paths

extension GuidanceFile {
    /// What all paths begin with.
    package static let root = "/pub/data/nccf/com/"

    /// The folder, with a slash at both ends.
    package var directory: String {
        let run = CivilTime(unixSeconds: runSeconds)
        return switch product {
        case .gtgn: "\(Self.root)gtgn/prod/gtgn.\(run.dayText)/\(run.hourText)/"
        case .gtg: "\(Self.root)dafs/prod/dafs.\(run.dayText)/"
        }
    }

    /// The name within its folder.
    package var name: String {
        let run = CivilTime(unixSeconds: runSeconds)
        return switch product {
        case .gtgn: "gtgn.t\(run.hourText)\(run.minuteText)z.3km.grib2"
        case .gtg: "dafs.t\(run.hourText)z.gtg.3km.conus.f\(CivilTime.padded(leadHours, 3)).grib2"
        }
    }

    /// The path below the base address.
    package var path: String { directory + name }
    /// The path of its index.
    package var indexPath: String { path + Self.indexSuffix }

    /// What the name of a file's index ends with.
    package static let indexSuffix = ".idx"

    /// The file of a path; nil for any path that `path` doesn't give.
    package init?(path: String) {
        guard path.hasPrefix(Self.root), path.utf8.count < 200 else { return nil }
        let parts = path.dropFirst(Self.root.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 4, let folder = parts[2].split(separator: ".").last,
            let day = Self.day(folder), let name = parts.last
        else { return nil }
        let pieces = name.split(separator: ".", omittingEmptySubsequences: false)
        guard pieces.count >= 2, pieces[1].first == "t", pieces[1].last == "z" else { return nil }
        let clock = pieces[1].dropFirst().dropLast()
        var run = day
        let product: GuidanceProduct
        var lead = 0
        switch parts[0] {
        case "gtgn":
            guard let number = CivilTime.number(clock, digits: 4) else { return nil }
            (product, run.hour, run.minute) = (.gtgn, number / 100, number % 100)
        case "dafs":
            guard let hour = CivilTime.number(clock, digits: 2), pieces.count == 7,
                let hours = CivilTime.number(pieces[5].dropFirst(), digits: 3)
            else { return nil }
            (product, run.hour, lead) = (.gtg, hour, hours)
        default: return nil
        }
        guard let seconds = run.unixSeconds,
            let file = GuidanceFile(product: product, runSeconds: seconds, leadHours: lead),
            // One way back only: whatever was read leniently above must be what would be written.
            file.path == path
        else { return nil }
        self = file
    }

    private static func day(_ text: Substring) -> CivilTime? {
        guard let number = CivilTime.number(text, digits: 8) else { return nil }
        return CivilTime(year: number / 10_000, month: number / 100 % 100, day: number % 100)
    }
}

// MARK: - Candidates

extension GuidanceProduct {
    /// The files of a lead that may be there, the newest run first. Bounded by `searchSeconds`.
    ///
    /// - Parameters:
    ///   - nowSeconds: Unix seconds.
    ///   - afterRun: only runs later than this; Unix seconds.
    package func candidates(nowSeconds: Int, leadHours: Int = 0, afterRun: Int? = nil) -> [GuidanceFile] {
        let newest = nowSeconds - nowSeconds % cadenceSeconds
        let oldest = max(newest - searchSeconds, afterRun.map { $0 + 1 } ?? 0)
        return stride(from: newest, through: oldest, by: -cadenceSeconds)
            .compactMap { GuidanceFile(product: self, runSeconds: $0, leadHours: leadHours) }
    }
}
