internal import GRDB
internal import Geometry
internal import Turbulence

extension BatchWriter {
    static func number(ofReporter key: String, _ db: any SQLConnection) throws -> Int64 {
        let known = try RawStatement(db, Query.reporter)
        try known.bind(key)
        if let number = try known.value() { return number }
        let insert = try RawStatement(db, Query.insertReporter)
        try insert.bind(key)
        guard let number = try insert.value() else {
            throw StoreError.failed("the reporter has no number")
        }
        return number
    }

    static func register(_ registration: SourceRegistration, reporter: Int64, _ db: any SQLConnection) throws {
        var known = try SourceRecord.all(db)
        let new = try newSources(of: registration, reporter: reporter, known)
        let simulated = registration.simulated ?? known.first?.simulated ?? registration.simulatedByDefault
        for source in registration.sources.sorted() {
            let record = known.first { $0.id == source }
            // A known source whose nature (real or simulated) is undecided takes the nature of the batch.
            if let record, record.simulated != nil || simulated == nil { continue }
            guard record != nil || known.count < SourceRecord.most - SourceRecord.reserved else {
                throw StoreError.tooManySources(source)
            }
            let registered = try SQLiteStore.register(
                source, merge: record?.merge ?? .keep, simulated: simulated, db)
            if record == nil { known.append(registered) }
        }
        let note = try RawStatement(db, Query.insertReporterSource)
        for record in known where new.contains(record.id) {
            try note.bind(reporter, Int64(record.number.rawValue))
            try note.run()
        }

        /// The sources that the reporter names for the first time.
        func newSources(
            of registration: SourceRegistration, reporter: Int64, _ known: [SourceRecord]
        ) throws -> Set<SourceID> {
            guard reporter > 0 else { return [] }
            let named = try RawStatement(db, Query.reporterSources)
            try named.bind(reporter)
            var numbers = Set<Int64>()
            try named.forEachValue { numbers.insert($0) }
            let before = known.filter {
                numbers.contains(Int64($0.number.rawValue)) && $0.id != registration.unnamed
            }.map(\.id)
            let new = registration.sources.subtracting(before).filter { $0 != registration.unnamed }
            if let most = registration.sourcesPerReporter, !new.isEmpty, before.count + new.count > most {
                throw StoreError.tooManySourcesOfReporter(limit: most, known: before)
            }
            return new
        }
    }

    func record(of source: SourceID) throws -> SourceRecord {
        guard let record = sources[source] else { throw StoreError.unknownSource(source) }
        return record
    }

    func number(of source: SourceID) throws -> SourceNumber {
        try record(of: source).number
    }
}
