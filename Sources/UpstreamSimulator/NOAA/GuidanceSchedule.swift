import Foundation

/// The schedule of simulated files, and their paths.
///
/// Source: docs/upstreams/noaa.md, "Products" and "Addresses"
struct GuidanceSchedule: Sendable {
    /// The state of a file.
    enum Stage: Equatable {
        case absent
        /// The available share of its bytes, 0..<1.
        case growing(Double)
        /// The time since which the file is complete, in Unix seconds.
        case whole(since: Int)
    }

    /// A file or folder in a directory.
    struct Entry {
        let name: String
        /// The file; nil for a folder.
        var file: SimulatedGuidanceFile?
        var isIndex = false
    }

    let growthSeconds: Int
    let indexed: Set<SimulatedGuidanceProduct>

    /// The delay of an index after its file.
    private static let indexSeconds = 5
    private static let hour = 3_600
    private static let leads = 0...18

    /// The retention of files in seconds.
    private static func retentionSeconds(_ product: SimulatedGuidanceProduct) -> Int {
        product == .gtgn ? 6 * hour : 36 * hour
    }

    private static func cadenceSeconds(_ product: SimulatedGuidanceProduct) -> Int { product == .gtgn ? 900 : hour }

    /// The time in Unix seconds when a file is complete. A nowcast takes 3 to 5 minutes after its valid time. A
    /// forecast takes 50 minutes after its run, and 90 seconds more for each lead time.
    static func wholeAt(_ file: SimulatedGuidanceFile) -> Int {
        switch file.product {
        case .gtgn: file.runSeconds + 180 + file.runSeconds / 900 * 37 % 121
        case .gtg: file.runSeconds + 3_000 + file.leadHours * 90
        }
    }

    func stage(of file: SimulatedGuidanceFile, now: Int) -> Stage {
        let wholeAt = Self.wholeAt(file)
        guard now < file.runSeconds + Self.retentionSeconds(file.product) else { return .absent }
        if now >= wholeAt { return .whole(since: wholeAt) }
        guard now >= wholeAt - growthSeconds else { return .absent }
        return .growing(Double(now - wholeAt + growthSeconds) / Double(growthSeconds))
    }

    func hasIndex(_ file: SimulatedGuidanceFile, now: Int) -> Bool {
        guard indexed.contains(file.product), case .whole(let since) = stage(of: file, now: now) else { return false }
        return now >= since + Self.indexSeconds
    }

    // MARK: Directories

    /// The entries of a directory by name; nil if it doesn't exist.
    ///
    /// - Parameter path: the parts of the path below `/pub/data/nccf/com/`.
    func entries(of path: [String], now: Int) -> [Entry]? {
        switch path.first {
        case nil: return [Entry(name: "dafs"), Entry(name: "gtgn")]
        case "gtgn": return entries(of: Array(path.dropFirst()), product: .gtgn, now: now)
        case "dafs": return entries(of: Array(path.dropFirst()), product: .gtg, now: now)
        default: return nil
        }
    }

    private func entries(of path: [String], product: SimulatedGuidanceProduct, now: Int) -> [Entry]? {
        if path.isEmpty { return [Entry(name: "prod")] }
        guard path.first == "prod" else { return nil }
        var entries: [Entry] = []
        var seen: Set<String> = []
        for file in files(product, now: now) {
            let words = Words(file)
            let parts = product == .gtgn ? [words.folder, words.hour, words.name] : [words.folder, words.name]
            let inside = Array(path.dropFirst())
            guard parts.count > inside.count, Array(parts.prefix(inside.count)) == inside else { continue }
            let name = parts[inside.count]
            guard seen.insert(name).inserted else { continue }
            let isFile = parts.count == inside.count + 1
            entries.append(Entry(name: name, file: isFile ? file : nil))
            if isFile, hasIndex(file, now: now) {
                entries.append(Entry(name: name + ".idx", file: file, isIndex: true))
            }
        }
        return entries.isEmpty ? nil : entries
    }

    /// All available files, the oldest first.
    private func files(_ product: SimulatedGuidanceProduct, now: Int) -> [SimulatedGuidanceFile] {
        let cadence = Self.cadenceSeconds(product)
        let newest = now - now % cadence
        let runs = stride(from: newest - Self.retentionSeconds(product), through: newest, by: cadence)
        let leads = product == .gtgn ? 0...0 : Self.leads
        return runs.flatMap { run in
            leads.map { SimulatedGuidanceFile(product: product, runSeconds: run, leadHours: $0) }
        }.filter { stage(of: $0, now: now) != .absent }
    }

    /// The parts of a file's path.
    private struct Words {
        let folder: String
        let hour: String
        let name: String

        private static let gregorian = {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            return calendar
        }()

        init(_ file: SimulatedGuidanceFile) {
            let time = Self.gregorian.dateComponents(
                [.year, .month, .day, .hour, .minute], from: Date(timeIntervalSince1970: Double(file.runSeconds)))
            func digits(_ number: Int?, _ count: Int) -> String {
                let text = "\(number ?? 0)"
                return String(repeating: "0", count: max(0, count - text.count)) + text
            }
            let day = digits(time.year, 4) + digits(time.month, 2) + digits(time.day, 2)
            hour = digits(time.hour, 2)
            switch file.product {
            case .gtgn:
                folder = "gtgn.\(day)"
                name = "gtgn.t\(hour)\(digits(time.minute, 2))z.3km.grib2"
            case .gtg:
                folder = "dafs.\(day)"
                name = "dafs.t\(hour)z.gtg.3km.conus.f\(digits(file.leadHours, 3)).grib2"
            }
        }
    }
}
