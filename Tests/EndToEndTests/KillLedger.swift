import Foundation

/// Everything that processes were given and acknowledged while they were killed. The log is compared with it.
struct KillLedger {
    /// An observation that is determined by its number and the ledger's time.
    struct Sample: Hashable {
        var id: String
        var altitude: Int
        var severity: Int
        /// Unix seconds.
        var observedAt: Int
    }

    /// The ages of young samples reach to eight hours. No deletion of the tests reaches them: retention spares the live
    /// window of nine hours, and `billow prune` is given an older instant.
    private static let youngSeconds = 8 * 3_600
    /// The ages of old samples, which a deletion may reach.
    static let oldSeconds = 12 * 3_600..<40 * 3_600

    /// The time from which ages count, in Unix seconds.
    let now: Int
    /// The observations that must be in the log.
    private(set) var sure = Set<Int>()
    /// The observations that may be in the log.
    private(set) var possible = Set<Int>()
    private var nextNumber = 0

    init(now: Int) { self.now = now }

    // MARK: Samples

    /// Whether no deletion reaches a number.
    static func isYoung(_ number: Int) -> Bool { number.isMultiple(of: 2) }

    /// Numbers that were never used. A deletion at the same time must only meet young ones, because it is unknown
    /// whether it comes before or after them.
    mutating func newNumbers(_ count: Int, onlyYoung: Bool) -> [Int] {
        let numbers = stride(from: nextNumber, to: nextNumber + count * (onlyYoung ? 2 : 1), by: onlyYoung ? 2 : 1)
        nextNumber += (count + 1) * 2
        return Array(numbers)
    }

    func sample(_ number: Int) -> Sample {
        let spread = number.multipliedReportingOverflow(by: 7_919).partialValue
        let age =
            Self.isYoung(number)
            ? 60 + spread % (Self.youngSeconds - 60) : Self.oldSeconds.lowerBound + spread % Self.oldSeconds.count
        return Sample(
            id: "n\(number)", altitude: 20_000 + number % 20 * 1_000, severity: number % 5, observedAt: now - age)
    }

    /// The body of a request, or a file.
    func json(_ numbers: [Int]) -> String {
        let items = numbers.map { number in
            let sample = sample(number)
            let (longitude, latitude) = (-120 + Double(number % 500) / 10, 25 + Double(number / 500 % 200) / 10)
            return """
                {"id":"\(sample.id)","lon":\(longitude),"lat":\(latitude),\
                "altitude":\(sample.altitude),"severity":\(sample.severity),"observedAt":\(sample.observedAt)}
                """
        }
        return "[\(items.joined(separator: ",\n"))]"
    }

    // MARK: What happened

    mutating func sent(_ numbers: [Int]) { possible.formUnion(numbers) }

    mutating func acknowledged(_ numbers: [Int]) { sure.formUnion(numbers) }

    /// A deletion has begun.
    mutating func deleting(_ isReached: (Int) -> Bool) {
        possible.formUnion(sure)
        sure = sure.filter { !isReached($0) }
    }

    /// A deletion that had begun has been acknowledged.
    mutating func deleted(_ isReached: (Int) -> Bool) {
        sure = sure.filter { !isReached($0) }
        possible = possible.filter { !isReached($0) }
    }

    // MARK: Comparison

    /// Everything in which a log differs from what was acknowledged, one line each; empty for a right log.
    ///
    /// - Parameter csv: all observations of the log, as `billow export` writes them.
    func defects(_ csv: String) throws -> [String] {
        let lines = csv.split(separator: "\r\n")
        let header = try lines.first.orMissing("a header").split(separator: ",", omittingEmptySubsequences: false)
        func column(_ name: String) throws -> Int { try header.firstIndex { $0 == name }.orMissing(name) }
        let columns = try (
            id: column("id"), altitude: column("altitude"), severity: column("severity"), at: column("observedAt")
        )
        var found = Set<Int>()
        var defects: [String] = []
        for line in lines.dropFirst() {
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            guard let number = Int(cells[columns.id].dropFirst()) else {
                defects.append("unknown: \(line)")
                continue
            }
            if !found.insert(number).inserted { defects.append("twice: \(line)") }
            if !sure.contains(number), !possible.contains(number) { defects.append("deleted or never sent: \(line)") }
            let observedAt = try Date(String(cells[columns.at]), strategy: .iso8601)
            let stored = Sample(
                id: String(cells[columns.id]), altitude: try Int(cells[columns.altitude]).orMissing(),
                severity: try Int(cells[columns.severity]).orMissing(),
                observedAt: Int(observedAt.timeIntervalSince1970))
            if stored != sample(number) { defects.append("changed: \(line), sent as \(sample(number))") }
        }
        let lost = sure.subtracting(found)
        if !lost.isEmpty { defects.append("lost: \(lost.count) of \(sure.count), such as \(lost.sorted().prefix(5))") }
        return defects
    }
}
