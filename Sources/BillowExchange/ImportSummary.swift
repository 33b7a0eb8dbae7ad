package import Turbulence
import JSONKit

/// The counts of an import, which its last output lines show.
package struct ImportSummary: Sendable, Hashable {
    /// The number of rejected records with one reason, and the positions of the first ones.
    package struct RefusalCount: Sendable, Hashable {
        package internal(set) var count = 0
        /// The first few, with line and values.
        package internal(set) var examples: [RefusedRecord] = []
        /// The lines of all others, in file order; consecutive lines form a range.
        package internal(set) var otherLines: [ClosedRange<Int>] = []
    }

    /// The most examples per reason.
    package static let examplesPerReason = 5

    /// The read records, including rejected ones.
    package internal(set) var read = 0
    /// The accepted observations by severity, including those of pilot reports. An EDR without severity is converted
    /// with the table.
    package internal(set) var observations: [Severity: Int] = [:]
    /// The accepted pilot reports, by their worst severity.
    package internal(set) var pilotReports: [Severity: Int] = [:]
    /// The accepted pilot reports without usable turbulence information. They are not smooth air.
    package internal(set) var silentPilotReports = 0
    /// Turbulence groups that appear in `pireps` only, because their level is unknown.
    package internal(set) var groupsWithoutLevel = 0
    /// Turbulence groups that appear in `pireps` only, because their levels are impossible.
    package internal(set) var groupsWithUnusableLevel = 0
    /// The accepted areas, by kind.
    package internal(set) var areas: [String: Int] = [:]
    /// The skipped areas, by reason: without turbulence, a copy from another office, …
    package internal(set) var skippedAreas: [String: Int] = [:]
    /// Cells finer than resolution 5, which were replaced by their parent.
    package internal(set) var finerCells = 0
    /// Unknown words in pilot reports, as `field: word`.
    package internal(set) var unknownWords: [String: Int] = [:]
    /// The accepted levels of fields, by product.
    package private(set) var fields: [String: Int] = [:]
    /// Messages of a grid file about other parameters, by a short description.
    package private(set) var leftOut: [String: Int] = [:]
    /// The rejected messages of a grid file, by a short description; their numbers in the file, rising.
    package private(set) var refusedMessages: [String: [Int]] = [:]
    /// The counts of rejected records, by `RefusalReason.title`.
    package internal(set) var refusals: [String: RefusalCount] = [:]
    /// The records that are stored already; the caller fills it in.
    package var duplicates = 0

    package var observationCount: Int { observations.values.reduce(0, +) }
    package var pilotReportCount: Int { pilotReports.values.reduce(silentPilotReports, +) }
    package var areaCount: Int { areas.values.reduce(0, +) }
    package var fieldCount: Int { fields.values.reduce(0, +) }
    package var refusedCount: Int {
        refusals.values.reduce(0) { $0 + $1.count } + refusedMessages.values.reduce(0) { $0 + $1.count }
    }

    package init() {}

    /// Counts a rejected message of a grid file.
    ///
    /// - Parameter number: the message's number in the file, from 1.
    package mutating func refuse(message number: Int, _ reason: String) {
        read += 1
        refusedMessages[reason, default: []].append(number)
    }

    /// Counts a message about another parameter.
    package mutating func omit(message reason: String) {
        read += 1
        leftOut[reason, default: 0] += 1
    }

    /// Counts an accepted level of a field.
    package mutating func count(levelOf product: String) {
        read += 1
        fields[product, default: 0] += 1
    }

    /// Adds another file's summary.
    package mutating func add(_ other: ImportSummary) {
        read += other.read
        observations.merge(other.observations, uniquingKeysWith: +)
        pilotReports.merge(other.pilotReports, uniquingKeysWith: +)
        silentPilotReports += other.silentPilotReports
        groupsWithoutLevel += other.groupsWithoutLevel
        groupsWithUnusableLevel += other.groupsWithUnusableLevel
        areas.merge(other.areas, uniquingKeysWith: +)
        skippedAreas.merge(other.skippedAreas, uniquingKeysWith: +)
        finerCells += other.finerCells
        unknownWords.merge(other.unknownWords, uniquingKeysWith: +)
        duplicates += other.duplicates
        leftOut.merge(other.leftOut, uniquingKeysWith: +)
        fields.merge(other.fields, uniquingKeysWith: +)
        refusedMessages.merge(other.refusedMessages, uniquingKeysWith: +)
        for (code, refusal) in other.refusals {
            refusals[code, default: RefusalCount()].count += refusal.count
            for example in refusal.examples { addExample(example, of: code) }
            refusals[code, default: RefusalCount()].otherLines += refusal.otherLines
        }
    }

    mutating func refuse(_ refusal: RefusedRecord) {
        let code = refusal.reason.title
        refusals[code, default: RefusalCount()].count += 1
        addExample(refusal, of: code)
    }

    private mutating func addExample(_ refusal: RefusedRecord, of code: String) {
        var kept = refusals[code] ?? RefusalCount()
        // Releases the stored copy, so that appending doesn't copy the arrays.
        refusals[code] = nil
        if kept.examples.count < ImportSummary.examplesPerReason {
            kept.examples.append(refusal)
        } else if let last = kept.otherLines.last, refusal.line == last.upperBound + 1 {
            kept.otherLines[kept.otherLines.count - 1] = last.lowerBound...refusal.line
        } else if kept.otherLines.last?.upperBound != refusal.line {
            kept.otherLines.append(refusal.line...refusal.line)
        }
        refusals[code] = kept
    }
}

extension ImportSummary: CustomStringConvertible {
    /// A few lines for people: first the accepted records, then the rejected ones with the reasons.
    package var description: String {
        func list(_ counts: [Severity: Int]) -> String {
            Severity.allCases.compactMap { severity in counts[severity].map { "\($0) \(severity.name)" } }
                .joined(separator: ", ")
        }
        func list(_ counts: [String: Int]) -> String {
            counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
        func line(_ count: Int, _ text: String) -> String? { count > 0 ? "\(count) \(text)" : nil }
        var lines = ["\(read) records read, \(refusedCount) refused"]
        let hasGrids = !fields.isEmpty || !refusedMessages.isEmpty || !leftOut.isEmpty
        lines += [
            hasGrids ? "\(fieldCount) levels of fields\(fields.isEmpty ? "" : ": ")\(list(fields))" : nil,
            leftOut.isEmpty ? nil : "messages left out: \(list(leftOut))",
            areas.isEmpty ? nil : "\(areaCount) areas: \(list(areas))",
            skippedAreas.isEmpty ? nil : "areas left out: \(list(skippedAreas))",
            observationCount > 0
                ? "\(observationCount) observations: \(list(observations))"
                : areas.isEmpty && skippedAreas.isEmpty && !hasGrids ? "no observations" : nil,
            pilotReportCount > 0
                ? "\(pilotReportCount) pilot reports: "
                    + [list(pilotReports), line(silentPilotReports, "that don't mention turbulence") ?? ""]
                    .filter { !$0.isEmpty }.joined(separator: ", ") : nil,
            line(duplicates, "there already"),
            line(finerCells, "finer cells, converted to resolution 5"),
            line(groupsWithoutLevel, "turbulence groups without a level, in pireps only"),
            line(groupsWithUnusableLevel, "turbulence groups with an impossible level, in pireps only"),
        ].compactMap { $0 }
        lines += unknownWords.sorted { $0.key < $1.key }.map { "unknown \($0.key.printable) (\($0.value) times)" }
        for (reason, numbers) in refusedMessages.sorted(by: { $0.key < $1.key }) {
            let shown = numbers.prefix(ImportSummary.examplesPerReason).map(String.init).joined(separator: ", ")
            let rest = numbers.count > ImportSummary.examplesPerReason ? ", …" : ""
            lines.append("refused, \(reason): \(numbers.count) (message \(shown)\(rest))")
        }
        for (code, refusal) in refusals.sorted(by: { $0.key < $1.key }) {
            lines.append("refused, \(code): \(refusal.count)")
            lines += refusal.examples.map { "  \($0)" }
            if !refusal.otherLines.isEmpty {
                let others = refusal.otherLines.map {
                    $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)"
                }
                lines.append("  and lines \(others.joined(separator: ", "))")
            }
        }
        return lines.joined(separator: "\n")
    }
}
