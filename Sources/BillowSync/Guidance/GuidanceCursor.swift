import Foundation
import GRIBKit
import NOAAGuidance

/// How far the files of a product have been fetched: what the store keeps across restarts.
struct GuidanceCursor: Sendable, Hashable, Codable {
    /// A file of which some messages are stored.
    struct Open: Sendable, Hashable, Codable {
        var file: GuidanceFile
        var progress: GuidanceProgress
        /// How often it was read to its end with messages that could not be used.
        var attempts = 0
    }

    /// Feet of the levels that files were fetched for, and −1 for the column. Others make the rest count for nothing.
    let levels: [Int]
    private(set) var complete: [GuidanceFile] = []
    private(set) var open: [Open] = []

    /// Enough for all leads of three runs, and for the nowcasts of half a day.
    private static let mostFiles = 64

    init(_ plan: GuidancePlan) { levels = Self.levels(plan) }

    private static func levels(_ plan: GuidancePlan) -> [Int] { plan.levels.map(\.feet) + (plan.hasColumn ? [-1] : []) }

    /// What a text says; new where it can't be read, or is about other levels.
    init(_ text: String?, _ plan: GuidancePlan) {
        let known = text.flatMap { try? JSONDecoder().decode(GuidanceCursor.self, from: Data($0.utf8)) }
        self = known?.levels == Self.levels(plan) ? known ?? GuidanceCursor(plan) : GuidanceCursor(plan)
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do { return String(decoding: try encoder.encode(self), as: UTF8.self) } catch {
            preconditionFailure("a cursor is always JSON: \(error)")
        }
    }

    func isComplete(_ file: GuidanceFile) -> Bool { complete.contains(file) }

    func open(_ file: GuidanceFile) -> Open? { open.first { $0.file == file } }

    /// The newest run of which all these lead times are complete.
    func newestRun(leadHours: [Int]) -> Int? {
        let runs = Dictionary(grouping: complete, by: \.runSeconds)
        return runs.filter { _, files in Set(files.map(\.leadHours)).isSuperset(of: leadHours) }.keys.max()
    }

    mutating func note(_ file: Open) {
        open.removeAll { $0.file == file.file }
        open.append(file)
        open = Array(open.suffix(Self.mostFiles))
    }

    mutating func noteComplete(_ file: GuidanceFile) {
        open.removeAll { $0.file == file }
        guard !complete.contains(file) else { return }
        complete.append(file)
        complete = Array(complete.sorted().suffix(Self.mostFiles))
    }

    /// Forgets files that are fetched no more.
    mutating func dropOpen(beforeRun run: Int) { open.removeAll { $0.file.runSeconds < run } }
}
