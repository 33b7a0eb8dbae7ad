import BillowEngine
import BillowExchange
import BillowSnapshot
import BillowStore
import Datasets
import Foundation
import Turbulence

/// `billow export --since-last`: appends what was stored since the last run to files of one day each.
struct DailyExport {
    /// The formats to which records can be appended.
    static let formats: [ExportFormat] = [.geojsonl, .geojsons, .csv]
    /// The collections whose features are records.
    static var collections: [Dataset] { Catalogue.all.filter { $0.openedKind != nil } }

    let query: FeatureQuery
    let format: ExportFormat
    let members: CollectionMembers
    let snapshot: Snapshot
    let store: any SQLStore
    /// The parameters, in a fixed order.
    let parameters: String

    /// Records in one read, which takes some milliseconds.
    private static let pageRecords = 2_000
    /// Waiting bytes of one day, and of all days, at which they are written.
    private static let dayBytes = 256 << 10
    private static let allBytes = 16 << 20
    /// Records after which the place is made durable, so that a killed run isn't repeated from its start.
    private static let recordsOfCommit = 200_000

    private var content: DailyFiles.Content {
        var header = writer()
        header.begin()
        return DailyFiles.Content(
            collection: query.collection.id, format: format.rawValue, query: parameters,
            header: String(decoding: header.drain(), as: UTF8.self))
    }

    private func writer() -> FeatureWriter { FeatureWriter(query.collection, as: format, members: members) }

    private func features(after place: OpenedPlace) throws -> NewFeatures {
        guard let features = NewFeatures(query, in: snapshot, of: store, after: place) else {
            preconditionFailure("\(query.collection) has no records; the command checks that")
        }
        return features
    }

    private static let daySeconds = 86_400
    /// The number of a day of UTC.
    private static func day(_ instant: Instant) -> Int { instant.seconds / daySeconds }
    /// The day as 2026-11-21.
    private static func text(day: Int) -> String {
        String(Instant(clamping: day * daySeconds).description.prefix(10))
    }

    /// - Returns: the number of written features and of changed files.
    func run(into folder: String) async throws -> (features: Int, files: Int) {
        var files = try DailyFiles(folder: folder, content, log: snapshot.log)
        var new = try features(after: files.place)
        let total = try await new.count()
        var days: [Int: FeatureWriter] = [:]
        var (written, read, uncommitted) = (0, 0, 0)
        defer { Terminal.endProgress() }
        func flush(over limit: Int) throws {
            for (day, writer) in days where writer.count > limit {
                try files.append(writer.bytes, day: Self.text(day: day))
                days[day]?.removeAll()
            }
        }
        while !new.isAtEnd {
            try Task.checkCancellation()
            let count = try await new.next(limit: Self.pageRecords) { time, write in
                let day = Self.day(time)
                if days[day] == nil {
                    var writer = writer()
                    if try files.length(day: Self.text(day: day)) == 0 { writer.begin() }
                    days[day] = writer
                }
                if var writer = days.removeValue(forKey: day) {
                    write(&writer)
                    days[day] = writer
                }
                written += 1
            }
            read += count
            uncommitted += count
            try flush(over: days.values.reduce(0) { $0 + $1.count } > Self.allBytes ? 0 : Self.dayBytes)
            if uncommitted >= Self.recordsOfCommit {
                try flush(over: 0)
                try files.commit(new.place)
                // A writer without waiting bytes has its header behind it.
                days = [:]
                uncommitted = 0
            }
            let fraction = total > 0 ? Double(read) / Double(total) : nil
            Terminal.progress(query.collection.id, fraction: fraction, count: read)
        }
        try flush(over: 0)
        if new.place != files.place { try files.commit(new.place) }
        return (written, files.changedFiles)
    }

    /// The rows and bytes that a run would write, by the first of them.
    func estimate(_ folder: String) async throws -> ExportEstimate {
        // An estimate makes no folder.
        let place =
            FileManager.default.fileExists(atPath: folder)
            ? try DailyFiles(folder: folder, content, log: snapshot.log).place : OpenedPlace(endOf: .zero)
        var new = try features(after: place)
        let total = try await new.count()
        var sample = writer()
        var read = 0
        while !new.isAtEnd, read < ExportEstimate.sampleRecords {
            read += try await new.next(limit: Self.pageRecords) { _, write in write(&sample) }
        }
        return ExportEstimate(
            features: sample.features, bytes: sample.count, read: read, of: new.isAtEnd ? read : max(total, read))
    }
}

extension ExportEstimate {
    var text: String {
        let about = isExact ? "" : "about "
        let size = bytes.map { ", \(about)\($0) bytes" } ?? ""
        return "\(about)\(features) features\(size)"
    }
}
