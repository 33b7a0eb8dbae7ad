import CivilCalendar

/// The identity of a file: product, run and lead time.
///
/// Source: docs/upstreams/noaa.md, "Addresses"
package struct GuidanceFile: Sendable, Hashable, Codable {
    package let product: GuidanceProduct
    /// The start of the run, or the valid time for a nowcast, in Unix seconds.
    package let runSeconds: Int
    /// The lead time in hours, from the run to the valid time.
    package let leadHours: Int

    /// Returns nil unless the run is at the product's cadence between 1970 and 2099, and the lead time has a file.
    package init?(product: GuidanceProduct, runSeconds: Int, leadHours: Int = 0) {
        guard (0..<4_102_444_800).contains(runSeconds), runSeconds % product.cadenceSeconds == 0,
            product.leadHours.contains(leadHours)
        else { return nil }
        self.product = product
        self.runSeconds = runSeconds
        self.leadHours = leadHours
    }

    /// The valid time in Unix seconds.
    package var validSeconds: Int { runSeconds + leadHours * 3_600 }
}

extension GuidanceFile: Comparable {
    /// The order by product, run and lead time.
    package static func < (first: GuidanceFile, second: GuidanceFile) -> Bool {
        (first.product.rawValue, first.runSeconds, first.leadHours)
            < (second.product.rawValue, second.runSeconds, second.leadHours)
    }
}

// MARK: - Paths

extension GuidanceFile {
    /// The prefix of all paths.
    package static let root = "/pub/data/nccf/com/"

    /// The directory's path, with a slash at both ends.
    package var directory: String {
        let run = CivilTime(unixSeconds: runSeconds)
        return switch product {
        case .gtgn: "\(Self.root)gtgn/prod/gtgn.\(run.dayText)/\(run.hourText)/"
        case .gtg: "\(Self.root)dafs/prod/dafs.\(run.dayText)/"
        }
    }

    /// The file's name in its directory.
    package var name: String {
        let run = CivilTime(unixSeconds: runSeconds)
        return switch product {
        case .gtgn: "gtgn.t\(run.hourText)\(run.minuteText)z.3km.grib2"
        case .gtg: "dafs.t\(run.hourText)z.gtg.3km.conus.f\(CivilTime.padded(leadHours, 3)).grib2"
        }
    }

    /// The path after the base URL.
    package var path: String { directory + name }
    /// The path of the file's index.
    package var indexPath: String { path + Self.indexSuffix }

    /// The suffix of an index's name.
    package static let indexSuffix = ".idx"

    /// The file of a path; nil for any path that `path` never returns.
    package init?(path: String) {
        guard path.hasPrefix(Self.root), path.utf8.count < 200 else { return nil }
        let parts = path.dropFirst(Self.root.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 4, let folder = parts[2].split(separator: ".").last,
            let day = Self.day(folder), let name = parts.last
        else { return nil }
        let pieces = name.split(separator: ".", omittingEmptySubsequences: false)
        guard pieces.count >= 2, pieces[1].first == "t", pieces[1].last == "z" else { return nil }
        let clock = pieces[1].dropFirst().dropLast()
        let run: CivilTime?
        let product: GuidanceProduct
        var lead = 0
        switch parts[0] {
        case "gtgn":
            guard let number = CivilTime.number(clock, digits: 4) else { return nil }
            (product, run) = (.gtgn, day.at(hour: number / 100, minute: number % 100))
        case "dafs":
            guard let hour = CivilTime.number(clock, digits: 2), pieces.count == 7,
                let hours = CivilTime.number(pieces[5].dropFirst(), digits: 3)
            else { return nil }
            (product, run, lead) = (.gtg, day.at(hour: hour), hours)
        default: return nil
        }
        guard let seconds = run?.guidanceSeconds,
            let file = GuidanceFile(product: product, runSeconds: seconds, leadHours: lead),
            // The inverse must be exact: parsing was lenient, so compare the result.
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
    /// The files of a lead time that may exist, the newest run first. Limited by `searchSeconds`.
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
