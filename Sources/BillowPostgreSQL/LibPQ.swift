internal import Foundation

/// The functions of libpq, PostgreSQL's client library. It is loaded when the first PostgreSQL database is opened, so
/// that users of SQLite don't need it.
///
/// Source: PostgreSQL documentation, chapter "libpq — C Library",
/// https://www.postgresql.org/docs/15/libpq.html
struct LibPQ: Sendable {
    typealias Connection = OpaquePointer
    typealias Result = OpaquePointer
    typealias Text = UnsafePointer<CChar>

    /// `ConnStatusType`: connected.
    static let connected: Int32 = 0
    /// `PQERRORS_DEFAULT` and `PG_DIAG_…` codes of `PQresultErrorField`.
    enum Field: Int32 {
        case state = 67  // 'C'
        case message = 77  // 'M'
        case detail = 68  // 'D'
    }
    /// `ExecStatusType`.
    enum Status: Int32 {
        case emptyQuery, commandOK, tuplesOK, copyOut, copyIn, badResponse, nonfatalError, fatalError
    }

    let connect: @convention(c) @Sendable (UnsafePointer<Text?>, UnsafePointer<Text?>, Int32) -> Connection?
    let finish: @convention(c) @Sendable (Connection) -> Void
    let connectionStatus: @convention(c) @Sendable (Connection) -> Int32
    let connectionError: @convention(c) @Sendable (Connection) -> Text?
    let serverVersion: @convention(c) @Sendable (Connection) -> Int32
    let parameterStatus: @convention(c) @Sendable (Connection, Text) -> Text?
    let setNoticeProcessor:
        @convention(c) @Sendable (
            Connection, (@convention(c) (UnsafeMutableRawPointer?, Text?) -> Void)?, UnsafeMutableRawPointer?
        ) -> (@convention(c) (UnsafeMutableRawPointer?, Text?) -> Void)?
    let execute: @convention(c) @Sendable (Connection, Text) -> Result?
    let prepare: @convention(c) @Sendable (Connection, Text, Text, Int32, UnsafePointer<UInt32>?) -> Result?
    let describePrepared: @convention(c) @Sendable (Connection, Text) -> Result?
    let parameterCount: @convention(c) @Sendable (Result) -> Int32
    let parameterType: @convention(c) @Sendable (Result, Int32) -> UInt32
    let executePrepared:
        @convention(c) @Sendable (
            Connection, Text, Int32, UnsafePointer<Text?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Result?
    let executeWithParameters:
        @convention(c) @Sendable (
            Connection, Text, Int32, UnsafePointer<UInt32>?, UnsafePointer<Text?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?, Int32
        ) -> Result?
    let resultStatus: @convention(c) @Sendable (Result?) -> Int32
    let errorField: @convention(c) @Sendable (Result, Int32) -> Text?
    let clear: @convention(c) @Sendable (Result?) -> Void
    let rowCount: @convention(c) @Sendable (Result) -> Int32
    let columnCount: @convention(c) @Sendable (Result) -> Int32
    let isNull: @convention(c) @Sendable (Result, Int32, Int32) -> Int32
    let length: @convention(c) @Sendable (Result, Int32, Int32) -> Int32
    let value: @convention(c) @Sendable (Result, Int32, Int32) -> Text?
    let changedRows: @convention(c) @Sendable (Result) -> Text?
    let putCopyData: @convention(c) @Sendable (Connection, UnsafePointer<UInt8>, Int32) -> Int32
    let putCopyEnd: @convention(c) @Sendable (Connection, Text?) -> Int32
    let nextResult: @convention(c) @Sendable (Connection) -> Result?
    let makeCancel: @convention(c) @Sendable (Connection) -> OpaquePointer?
    let cancel: @convention(c) @Sendable (OpaquePointer, UnsafeMutablePointer<CChar>, Int32) -> Int32
    let freeCancel: @convention(c) @Sendable (OpaquePointer?) -> Void
    let socket: @convention(c) @Sendable (Connection) -> Int32
    let consumeInput: @convention(c) @Sendable (Connection) -> Int32
    let notification: @convention(c) @Sendable (Connection) -> UnsafeMutableRawPointer?
    let freeMemory: @convention(c) @Sendable (UnsafeMutableRawPointer?) -> Void

    /// The library, or the reason why it can't be loaded. It is loaded once per process.
    static let shared: Swift.Result<LibPQ, LibraryError> = Swift.Result { () throws(LibraryError) in try LibPQ() }

    #if os(macOS)
        private static let names = [
            "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
        ]
        private static let remedy = "Homebrew's package is libpq"
    #else
        private static let names = ["libpq.so.5"]
        private static let remedy = "Debian's package is libpq5"
    #endif

    private init() throws(LibraryError) {
        var library: UnsafeMutableRawPointer?
        for name in Self.names where library == nil { library = dlopen(name, RTLD_NOW) }
        guard let library else {
            throw LibraryError(
                reason: "PostgreSQL's client library \(Self.names[0]) can't be loaded; \(Self.remedy)")
        }
        connect = try Self.function("PQconnectdbParams", library)
        finish = try Self.function("PQfinish", library)
        connectionStatus = try Self.function("PQstatus", library)
        connectionError = try Self.function("PQerrorMessage", library)
        serverVersion = try Self.function("PQserverVersion", library)
        parameterStatus = try Self.function("PQparameterStatus", library)
        setNoticeProcessor = try Self.function("PQsetNoticeProcessor", library)
        execute = try Self.function("PQexec", library)
        prepare = try Self.function("PQprepare", library)
        describePrepared = try Self.function("PQdescribePrepared", library)
        parameterCount = try Self.function("PQnparams", library)
        parameterType = try Self.function("PQparamtype", library)
        executePrepared = try Self.function("PQexecPrepared", library)
        executeWithParameters = try Self.function("PQexecParams", library)
        resultStatus = try Self.function("PQresultStatus", library)
        errorField = try Self.function("PQresultErrorField", library)
        clear = try Self.function("PQclear", library)
        rowCount = try Self.function("PQntuples", library)
        columnCount = try Self.function("PQnfields", library)
        isNull = try Self.function("PQgetisnull", library)
        length = try Self.function("PQgetlength", library)
        value = try Self.function("PQgetvalue", library)
        changedRows = try Self.function("PQcmdTuples", library)
        putCopyData = try Self.function("PQputCopyData", library)
        putCopyEnd = try Self.function("PQputCopyEnd", library)
        nextResult = try Self.function("PQgetResult", library)
        makeCancel = try Self.function("PQgetCancel", library)
        cancel = try Self.function("PQcancel", library)
        freeCancel = try Self.function("PQfreeCancel", library)
        socket = try Self.function("PQsocket", library)
        consumeInput = try Self.function("PQconsumeInput", library)
        notification = try Self.function("PQnotifies", library)
        freeMemory = try Self.function("PQfreemem", library)
    }

    /// - Precondition: `Function` is the C function's type.
    private static func function<Function>(
        _ name: String, _ library: UnsafeMutableRawPointer
    ) throws(LibraryError) -> Function {
        guard let address = dlsym(library, name) else {
            throw LibraryError(reason: "PostgreSQL's client library lacks the function \(name)")
        }
        return unsafeBitCast(address, to: Function.self)
    }
}

/// Why libpq can't be used.
struct LibraryError: Error, Hashable { var reason: String }
