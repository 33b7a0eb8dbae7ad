import Foundation
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

/// A suite that makes database files, and damages them.
protocol DamagedFiles {
    var folder: TemporaryFolder { get }
}

extension DamagedFiles {
    func key(_ number: Int) -> AccessKey {
        AccessKey(
            id: String(repeating: "\(number % 10)", count: 16), name: "k\(number)",
            hash: String(repeating: "a", count: 64), scopes: .ingest, createdAt: noon)
    }

    /// A closed file with an observation a second, a key and a setting.
    func makeFile(_ name: String = "a.sqlite", count: Int) async throws -> String {
        let path = folder.path(name)
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        _ = try await store.register(source("awc"), merge: .keep, simulated: false)
        try await store.add(key(1))
        try await store.setPersistedOverride("{\"a\":1}", of: source("skypath"))
        _ = try await store.commit(
            Batch(
                source: source("skypath"), observations: try (0..<count).map { try observation(id: "o-\($0)", at: $0) },
                pilotReports: [], cursors: ["all": "7"], values: ["session": "s"], fetchedAt: noon,
                completeSince: noon.advanced(by: -3_600)))
        _ = try await store.commit(
            Batch(source: source("awc"), pilotReports: try (0..<20).map { try pilotReport(id: "r\($0)", at: $0) }))
        try store.close()
        return path
    }

    /// Changes a closed file as another program would.
    func change(_ path: String, _ sql: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON; \(sql)")
        }
        try queue.close()
    }

    /// How many rows lie in some leaf pages of a table.
    func rows(_ path: String, of name: String, in choose: ([Int]) -> [Int]) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        let counts = try queue.read { db in
            try Int.fetchAll(
                db, sql: "SELECT ncell FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path",
                arguments: [name])
        }
        try queue.close()
        return choose(Array(counts.indices)).reduce(0) { $0 + counts[$1] }
    }

    /// Overwrites pages of a table or an index.
    func overwrite(_ path: String, pagesOf name: String, _ choose: ([Int]) -> [Int]) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        let pages = try queue.read { db in
            try Int.fetchAll(
                db, sql: "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path",
                arguments: [name])
        }
        try queue.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let chosen = choose(pages)
        for page in chosen {
            let start = (page - 1) * 4_096
            bytes.replaceSubrange(start..<start + 200, with: Data(repeating: 0xAB, count: 200))
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        return chosen.count
    }
}

/// Which of a table's leaf pages are damaged.
enum DamagedPages: String, CaseIterable {
    case first, last, firstAndLast, middle, twoInTheMiddle

    func pages<Page>(_ all: [Page]) -> [Page] {
        switch self {
        case .first: [all[0]]
        case .last: [all[all.count - 1]]
        case .firstAndLast: [all[0], all[all.count - 1]]
        case .middle: [all[all.count / 2]]
        case .twoInTheMiddle: [all[all.count / 3], all[all.count / 2]]
        }
    }
}
