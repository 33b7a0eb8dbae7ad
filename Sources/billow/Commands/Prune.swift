import ArgumentParser
import BillowEngine
import BillowStore
import BillowTimeline
import Foundation
import Turbulence

struct Prune: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete old data, including imported data.",
        discussion: """
            May run beside a server. The file doesn't shrink; new data reuses the freed space. An offset counts from \
            the clock, or from the newest time that two stored records confirm, if that is earlier. So a wrong clock \
            deletes nothing. If no time is confirmed, an offset deletes nothing; an instant always counts as given.
            """)

    @OptionGroup var common: CommonOptions

    // A negative offset begins with a minus sign.
    @Option(
        parsing: .unconditional,
        help: "Delete data from before this: an instant, or an offset such as -30d (default: the retention).")
    var before: String?

    @Option(help: "Delete only data of this source; may be given several times.")
    var source: [String] = []

    func run() async throws {
        try await Failure.reported {
            let settings = try common.settings(needs: [.stored, .database])
            let now = SystemClock.now()
            var point = TimePoint.offset(seconds: -settings.retentionSeconds)
            if let before {
                guard let given = TimePoint(before) else {
                    throw Failure(.usage, "--before is '\(before)'; it must be \(TimePoint.expected)")
                }
                point = given
            }
            var sources: Set<SourceID>?
            for name in source {
                guard let id = SourceID(name) else {
                    throw Failure(
                        .usage, "--source is '\(name)'; it must be 1 to 64 letters, digits, '-', '_' and '.'")
                }
                sources = (sources ?? []).union([id])
            }
            let store = try await settings.openDatabase(simulated: nil)
            if let unknown = sources?.subtracting(try await store.sources().map(\.id)).min() {
                throw Failure(.data, "the database knows no source '\(unknown)'")
            }
            let trusted = try await store.trustedNow(now, retentionSeconds: settings.retentionSeconds)
            if case .offset = point, trusted == nil {
                try store.close()
                return Terminal.write(
                    "deleted nothing: no two stored rows confirm the time; give --before with an instant")
            }
            let before = point.resolved(now: trusted ?? now)
            guard before <= now else {
                throw Failure(.usage, "--before means \(before), which lies ahead of the clock (\(now))")
            }
            let pruned = try await store.prune(
                Pruning(before: before, sources: sources, changesPictures: true))
            try store.close()
            Terminal.write(
                "deleted from before \(before): \(pruned.observations) observations, \(pruned.pilotReports) pilot "
                    + "reports, \(pruned.areas) areas, \(pruned.positions) positions, "
                    + "\(pruned.fieldLevels) levels of fields"
            )
        }
    }
}
