import BillowRaster
import BillowStore
import BillowSync
import BillowTimeline
import Foundation
import NIOCore
import Testing
import Turbulence
import UpstreamKit

@testable import BillowEngine
@testable import billow

@Suite("Every error ends a command with the status of its kind")
struct ExitStatusTests {
    private static let extent = Instant.distantPast...Instant.distantFuture

    /// The compiler holds the table to be whole; a new case needs a row here, too.
    private static let engineErrors: [(EngineError, Failure.Kind)] = [
        (.invalid(ParameterError(parameter: "after", value: "x", expected: "a cursor")), .usage),
        (.timeOutsideLog(.latest, extent: extent), .usage),
        (.historyNotMade(seconds: 3_600, made: [21_600]), .usage),
        (.noFrames(.init(parameter: "start", text: "-2h"), extent: extent), .usage),
        (.tooManyPixels(frames: 9, width: 9_000, height: 9_000), .usage),
        (.versionExpired, .data), (.starting, .unavailable), (.logChanged, .unavailable),
        (.tooManyFlights, .unavailable), (.flightNotStored(.registration), .inputOutput),
    ]

    @Test("errors of the engine: what comes back is unavailable, and what was typed is usage", arguments: engineErrors)
    func engine(_ error: EngineError, _ kind: Failure.Kind) {
        let failure = Failure(error)
        #expect(failure.kind == kind)
        #expect(failure.message == error.description && failure.message.hasSuffix("."))
    }

    @Test("work that is refused is unavailable", arguments: WorkClass.allCases)
    func work(_ workClass: WorkClass) {
        #expect(Failure(EngineError.work(.overloaded(workClass))).kind == .unavailable)
        #expect(Failure(EngineError.work(.tooManyAnswers)).kind == .unavailable)
    }

    @Test("a grid that is too large is usage, and names the limit")
    func grid() {
        let failure = Failure(EngineError.tooManyGridValues(TooManyGridValues(values: 9, most: 8)))
        #expect(failure.kind == .usage && failure.message.contains("9 values") && failure.message.contains("8"))
    }

    /// Errors of other modules, each with the status of the documented table.
    private static let otherErrors: [(any Error, Failure.Kind)] = [
        (StyleError.unreadableFolder(path: "a", reason: "b"), .inputOutput),
        (StyleError.invalid(folder: "a", problems: []), .inputOutput),
        (TextError.fontNotFound(path: "a"), .inputOutput), (TextError.sizeOutOfRange(1), .software),
        (LegendError.scaleOutOfRange(9), .usage), (LegendError.text(.notAFont(path: "a")), .inputOutput),
        (UpstreamError.timeout, .unavailable), (UpstreamError.tooLarge(limitBytes: 1), .data),
        (UpstreamError.invalidQuery("a"), .usage), (UpstreamError.cancelled, .software),
        (SyncError(kind: .store, code: .store, message: "a", isReachable: nil), .inputOutput),
        (SyncError(kind: .refused, code: .disabled, message: "a", isReachable: true), .unavailable),
        (RefusedRecords(), .data),
        (ListenError(host: "a", port: 1, cause: IOError(errnoCode: EADDRINUSE, reason: "b")), .unavailable),
        (CancellationError(), .software),
    ]

    @Test("errors of other modules have the statuses of the table", arguments: otherErrors.indices)
    func others(_ index: Int) {
        let (error, kind) = Self.otherErrors[index]
        #expect(Failure(error).kind == kind, "\(error)")
    }

    @Test("a damaged or foreign database is data, another failure of it input and output")
    func store() throws {
        let source = try #require(SourceID("a"))
        for error in [StoreError.corrupt(path: "a", reason: "b"), .foreign(path: "a", reason: "b")] {
            #expect(Failure(error).kind == .data)
            #expect(Failure(EngineError.store(error)).kind == .data)
            #expect(Failure(EngineError.store(error)).message == Failure(error).message)
        }
        for error in [
            StoreError.unavailable(path: "a", reason: "b"), .replaced(path: "a", isGone: true), .full(path: "a"),
            .tooManySources(source), .tooManySourcesOfReporter(limit: 1, known: []), .unknownSource(source),
            .mixed(source, simulated: true, with: source), .deleted(before: .distantPast), .failed("b"),
        ] { #expect(Failure(error).kind == .inputOutput) }
    }
}
