import BillowEngine
import BillowStore
import BillowTimeline
import Testing
import Turbulence

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
