import TestSupport
import Testing

@testable import BillowPostgreSQL
@testable import BillowStore

/// The databases that the tests of the log run on.
enum StoreKind: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case sqlite = "SQLite"
    case postgreSQL = "PostgreSQL"

    static let all = allCases

    var testDescription: String { rawValue }

    /// An empty database of its own, which can be opened several times.
    func place() async throws -> StorePlace {
        switch self {
        case .sqlite: return .file(try TemporaryFolder())
        case .postgreSQL:
            let cluster = try await PostgreSQLCluster.shared()
            return .schema(try await cluster.address(), await cluster.place())
        }
    }

    /// An empty store of its own.
    func emptyStore() async throws -> any SQLStore {
        switch self {
        case .sqlite: try await SQLiteStore.temporary()
        case .postgreSQL: try await place().open()
        }
    }
}

/// A database for a test.
enum StorePlace: Sendable {
    case file(TemporaryFolder)
    case schema(DatabaseAddress, any AnyObject & Sendable)

    func open(
        tags: ContentTags? = nil, longestTransaction: Duration = .milliseconds(250)
    ) async throws -> any SQLStore {
        switch self {
        case .file(let folder):
            try await SQLiteStore.open(
                path: folder.path("a.sqlite"), temporaryFolder: nil, tags: tags,
                longestTransaction: longestTransaction)
        case .schema(let address, let lifetime):
            try await PostgreSQLStore.open(
                address, tags: tags, longestTransaction: longestTransaction, lifetime: lifetime)
        }
    }
}
