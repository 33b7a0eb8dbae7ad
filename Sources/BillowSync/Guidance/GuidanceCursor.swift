import Foundation
import GRIBKit
import NOAAGuidance

/// The progress of fetching a product's files, which is stored across restarts.
struct GuidanceCursor: Sendable, Hashable, Codable {
    /// A partly fetched file.
    struct PartialDownload: Sendable, Hashable, Codable {
        var file: GuidanceFile
        var progress: GuidanceProgress
        /// The number of complete reads with unusable messages.
        var attempts = 0
    }

    /// The levels in feet for which files were fetched, and −1 for the column. With other levels, the rest of the
    /// cursor is invalid.
    let levels: [Int]
    private(set) var complete: [GuidanceFile] = []
    private(set) var open: [PartialDownload] = []

    /// The most files: enough for all lead times of three runs, and for the nowcasts of half a day.
    private static let maximumFiles = 64

    init(_ plan: GuidancePlan) { levels = Self.levels(plan) }

    private static func levels(_ plan: GuidancePlan) -> [Int] { plan.levels.map(\.feet) + (plan.hasColumn ? [-1] : []) }

    /// Decodes a text. An unreadable text, or one with other levels, gives an empty cursor.
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

    func open(_ file: GuidanceFile) -> PartialDownload? { open.first { $0.file == file } }

    /// The newest run with all of some lead times.
    func newestRun(leadHours: [Int]) -> Int? {
        let runs = Dictionary(grouping: complete, by: \.runSeconds)
        return runs.filter { _, files in Set(files.map(\.leadHours)).isSuperset(of: leadHours) }.keys.max()
    }

    mutating func note(_ file: PartialDownload) {
        open.removeAll { $0.file == file.file }
        open.append(file)
        open = Array(open.suffix(Self.maximumFiles))
    }

    mutating func noteComplete(_ file: GuidanceFile) {
        open.removeAll { $0.file == file }
        guard !complete.contains(file) else { return }
        complete.append(file)
        complete = Array(complete.sorted().suffix(Self.maximumFiles))
    }

    /// Removes files that are no longer fetched.
    mutating func removePartialDownloads(beforeRun run: Int) { open.removeAll { $0.file.runSeconds < run } }
}
