import BillowPacks
import BillowRaster
import BillowStore
import BillowTiles
import BillowTimeline
import HTTPTypes
import JSONKit
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Every error of the engine has one code and one status")
struct ErrorTableTests {
    private struct Row: Sendable, CustomTestStringConvertible {
        var error: EngineError
        var code: ProblemCode
        var status: Int
        var parameter: String?
        var retryAfterSeconds: Int?

        init(_ error: EngineError, _ code: ProblemCode, _ status: Int, parameter: String? = nil, retryAfter: Int? = nil)
        {
            self.error = error
            self.code = code
            self.status = status
            self.parameter = parameter
            retryAfterSeconds = retryAfter
        }

        var testDescription: String { code.rawValue }
    }

    private static let extent = Instant.distantPast...Instant.distantFuture

    private static let rows = [
        Row(
            .invalid(ParameterError(parameter: "after", value: "x", expected: "a cursor")), .invalidParameter, 400,
            parameter: "after"),
        Row(.starting, .starting, 503, retryAfter: 1), Row(.logChanged, .logChanged, 503, retryAfter: 1),
        Row(.versionExpired, .versionExpired, 410, parameter: "after"),
        Row(
            .timeOutsideLog(
                RequestedTime(.beyond, parameter: "datetime", text: "9999-01-01T00:00:00Z"), extent: extent),
            .timeOutsideRetention, 404, parameter: "datetime"),
        Row(.historyNotMade(seconds: 3_600, made: [21_600, 7_200]), .historyNotMade, 404, parameter: "hours"),
        Row(.noFrames(.init(parameter: "start", text: "-2h"), extent: extent), .noFrames, 404, parameter: "start"),
        Row(.tooManyPixels(frames: 9, width: 9_000, height: 9_000), .tooManyPixels, 400, parameter: "intervals"),
        Row(.tooManyFlights, .tooManyFlights, 429, retryAfter: 60),
        Row(.flightNotStored(.end), .storeUnavailable, 503, retryAfter: 5),
    ]

    @Test("an error of another module is answered like that error alone")
    func causes() throws {
        let reason = ParameterError(parameter: "style", value: "x", expected: "a style")
        for error in [StoreError.failed("x"), .full(path: "a"), .corrupt(path: "a", reason: "b")] {
            #expect(Problem(of: EngineError.store(error))?.detail == Problem(error).detail)
        }
        #expect(Problem(of: EngineError.work(.tooManyAnswers))?.code == .overloaded)
        #expect(Problem(of: EngineError.pack(.memory))?.detail == Problem(of: PackError.memory)?.detail)
        #expect(Problem(of: EngineError.pack(.foreign("x"))) == nil)
        #expect(Problem(of: EngineError.picture(.style(reason)))?.code == .invalidParameter)
        let grid = try #require(Problem(of: EngineError.tooManyGridValues(TooManyGridValues(values: 9, most: 8))))
        #expect(grid.code == .areaTooLarge && grid.parameter == "f" && grid.value == "CoverageJSON")
        #expect(grid.detail.contains("9 values") && grid.allowed?.contains("at most 8 values") == true)
        // Their answers don't come from the table.
        #expect(Problem(of: EngineError.cancelled) == nil)
    }

    @Test("errors of the engine", arguments: rows)
    private func engine(_ row: Row) throws {
        let problem = try #require(Problem(of: row.error))
        #expect(problem.code == row.code && problem.status.code == row.status)
        #expect(problem.detail == row.error.description && problem.detail.hasSuffix("."))
        #expect(problem.parameter == row.parameter && problem.retryAfterSeconds == row.retryAfterSeconds)
        // A client's fault names the value and the range too.
        let isClients = problem.status.kind == .clientError && problem.retryAfterSeconds == nil
        #expect((problem.error != nil) == isClients)
    }

    @Test("work that is refused is overloaded, and says when to come again", arguments: WorkClass.allCases)
    func work(_ workClass: WorkClass) throws {
        for error in [WorkError.overloaded(workClass), .tooManyAnswers] {
            let problem = try #require(Problem(of: error))
            #expect(problem.code == .overloaded && problem.retryAfterSeconds == error.retryAfterSeconds)
        }
    }

    @Test("each parameter problem has the code of the same name", arguments: ParameterProblem.Kind.allCases)
    func parameters(_ kind: ParameterProblem.Kind) throws {
        let problem = Problem(
            ParameterProblem(kind, detail: "It is so.", parameter: "a", value: "b", allowed: "c"))
        #expect("\(problem.code)" == kind.rawValue && (400..<500).contains(problem.status.code))
        #expect(problem.parameter == "a" && problem.value == "b" && problem.allowed == "c")
    }

    @Test("a style that can't be drawn with is the client's fault, and words that can't be drawn are ours")
    func pictures() {
        let reason = ParameterError(parameter: "style", value: "x", expected: "a style")
        #expect(Problem(of: EngineError.picture(.style(reason)))?.code == .invalidParameter)
        #expect(Problem(of: EngineError.picture(.text(.sizeOutOfRange(1_000)))) == nil)
    }

    @Test("a deletion in progress and a failing store are different errors")
    func store() {
        #expect(Problem(StoreError.deleted(before: .distantPast)).code == .deleting)
        #expect(Problem(StoreError.full(path: "a")).code == .storeFull)
        #expect(Problem(StoreError.replaced(path: "a", isGone: true)).code == .storeReplaced)
        #expect(Problem(StoreError.failed("x")).code == .storeUnavailable)
    }
}
