import Testing

@testable import BillowPostgreSQL

@Suite("PostgreSQL's dialect")
struct DialectTests {
    @Test(
        "queries are translated",
        arguments: [
            ("SELECT a FROM t WHERE b = ? AND c > ?", "SELECT a FROM t WHERE b = $1 AND c > $2"),
            ("UPDATE t SET a = ?2 WHERE b = ?1", "UPDATE t SET a = $2 WHERE b = $1"),
            ("SELECT '?' FROM t WHERE \"max\" = ?", "SELECT '?' FROM t WHERE \"max\" = $1"),
            ("SELECT max(a), min(b) FROM t", "SELECT max(a), min(b) FROM t"),
            ("SELECT max(max(a, coalesce(b, 0)))", "SELECT max(GREATEST(a, coalesce(b, 0)))"),
            ("SET a = min(?1, b)", "SET a = LEAST($1, b)"),
            ("SELECT a FROM t INDEXED BY i WHERE b", "SELECT a FROM t  WHERE b"),
            ("SELECT a FROM t NOT INDEXED\nWHERE b", "SELECT a FROM t \nWHERE b"),
            ("INSERT INTO t (a, sum) VALUES (?1, row_sum(?1, max(b, c)))", "INSERT INTO t (a, sum) VALUES ($1, 0)"),
            ("UPDATE t SET a = ?1, sum = row_sum(a, b) WHERE c", "UPDATE t SET a = $1, sum = 0 WHERE c"),
            ("UPDATE t SET a = 1, sum = ~row_sum(a, b) WHERE c", "UPDATE t SET a = 1, sum = 0 WHERE c"),
            ("WHERE c AND sum = row_sum(a, b) RETURNING d", "WHERE c AND TRUE RETURNING d"),
            ("WHERE NOT (sum = row_sum(a) AND packedSum = row_sum(packed))", "WHERE NOT (TRUE AND TRUE)"),
            ("CASE WHEN sum = row_sum(a) THEN b END", "CASE WHEN TRUE THEN b END"),
        ])
    func translates(sqlite: String, postgreSQL: String) {
        #expect(PostgreSQLDialect.translated(sqlite) == postgreSQL)
    }

    @Test("unused parameters have a type")
    func unusedParameters() {
        #expect(PostgreSQLDialect.declaredTypes("SELECT $2, $10 + $4, a") == [20, 0, 20, 0, 20, 20, 20, 20, 20, 0])
        #expect(PostgreSQLDialect.declaredTypes("SELECT a") == [])
    }

    @Test("an address is shown without its password")
    func addressWithoutPassword() throws {
        for (text, shown) in [
            ("postgres://user:secret@host:5433/db?sslmode=require", "postgres://user@host:5433/db"),
            ("postgresql://user@host/db", "postgres://user@host/db"),
            ("postgres://host/db?password=secret", "postgres://host/db"),
            ("postgres:///db?user=a&password=secret", "postgres:///db"),
            ("postgres://user:sec@ret@host/db", "postgres://user@host/db"),
            ("postgres://", "postgres://"),
        ] {
            let address = try #require(DatabaseAddress(text))
            #expect(address.description == shown)
            #expect(!"\(address)".contains("secret"))
        }
        #expect(DatabaseAddress("/var/lib/billow/billow.sqlite") == nil)
        #expect(DatabaseAddress("postgres.sqlite") == nil)
    }
}
