import AsyncHTTPClient
import Foundation
import Synchronization
import Testing
import UpstreamKit
import UpstreamSimulator

@testable import NOAAGuidance

/// 2026-11-20T22:40:00Z.
let testTime = 1_795_214_400

/// A clock that a test turns. Sleeping turns it too.
final class ManualClock: Sendable {
    private struct ClockState {
        var now: Duration
        var slept: [Duration] = []
    }

    private let state: Mutex<ClockState>

    init(_ seconds: Int) { state = Mutex(ClockState(now: .seconds(seconds))) }

    var now: Duration { state.withLock { $0.now } }
    var seconds: Int { Int(now.components.seconds) }
    /// All waits so far.
    var slept: [Duration] { state.withLock { $0.slept } }

    func advance(_ seconds: Int) { state.withLock { $0.now += .seconds(seconds) } }

    var guidance: GuidanceClock {
        GuidanceClock(now: { self.now }) { duration in
            try Task.checkCancellation()
            self.state.withLock { state in
                state.now += duration
                state.slept.append(duration)
            }
        }
    }
}

/// The altitudes of a file in metres, and its levels in the words of an index.
let altitudes = [3_048, 3_657, 4_267, 4_876, 5_486, 6_096, 6_705, 7_315, 7_924, 8_534, 9_144, 9_753]

func message(_ parameter: GuidanceParameter, _ altitude: Int) -> GuidanceMessageKey {
    GuidanceMessageKey(parameter, GuidanceLevel(altitudeMeters: altitude))
}

/// A valid frame whose inside is filled by a seed.
func frame(_ length: Int, seed: Int = 0) -> [UInt8] {
    precondition(length >= 20)
    var bytes = Array("GRIB".utf8) + [0, 0, 0, 2]
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
    bytes += (16..<length - 4).map { UInt8(truncatingIfNeeded: ($0 &* 131) ^ (seed &* 29)) & 0x3F }
    return bytes + Array("7777".utf8)
}

/// Small frames, of lengths that differ. A test may replace a file by another version.
final class FrameContent: GuidanceContent {
    private let versions = Mutex<[SimulatedGuidanceFile: Int]>([:])
    private let scale: Int

    /// - Parameter scale: of the lengths.
    init(scale: Int = 1) { self.scale = scale }

    func messages(of file: SimulatedGuidanceFile) -> [SimulatedGuidanceMessage] {
        let parameters = file.product == .gtgn ? ["EDPARM"] : ["EDPARM", "CATEDR"]
        let levels = parameters.flatMap { parameter in
            altitudes.map {
                SimulatedGuidanceMessage(parameter: parameter, level: GuidanceLevel(altitudeMeters: $0).rawValue)
            }
        }
        return file.product == .gtgn
            ? levels : levels + [SimulatedGuidanceMessage(parameter: "MXEDPRM", level: "entire atmosphere")]
    }

    func bytes(of message: SimulatedGuidanceMessage, in file: SimulatedGuidanceFile) -> [UInt8] {
        let place = messages(of: file).firstIndex(of: message) ?? 0
        let version = version(of: file)
        return frame((400 + place * 37 % 300 + version * 8) * scale, seed: place + version * 100 + file.leadHours * 7)
    }

    func version(of file: SimulatedGuidanceFile) -> Int { versions.withLock { $0[file] ?? 0 } }

    func replace(_ file: SimulatedGuidanceFile) { versions.withLock { $0[file, default: 0] += 1 } }

    /// The whole messages of a file, in its order.
    func all(_ file: GuidanceFile) -> [[UInt8]] {
        messages(of: file.simulated).map { bytes(of: $0, in: file.simulated) }
    }
}

extension GuidanceFile {
    /// The same file in the look-alike's words.
    var simulated: SimulatedGuidanceFile {
        SimulatedGuidanceFile(
            product: product == .gtgn ? .gtgn : .gtg, runSeconds: runSeconds, leadHours: leadHours)
    }
}

/// A simulator and a client of it over loopback.
struct Rig: Sendable {
    let simulator: UpstreamSimulator
    let client: GuidanceClient
    let clock: ManualClock
    let content: FrameContent

    /// A nowcast that has long been whole: 22:15.
    let nowcast: GuidanceFile
    /// A forecast that has long been whole: 20:00, 3 hours ahead.
    let forecast: GuidanceFile

    /// Every other altitude of the combined EDR.
    let everyOther = MessageSelection([.edr], altitudesMeters: stride(from: 0, to: 12, by: 2).map { altitudes[$0] })
}

func withRig(
    clock: ManualClock = ManualClock(testTime), scale: Int = 1, dripInterval: Duration = .seconds(5),
    simulate: @Sendable (inout GuidanceSimulation) -> Void = { $0.requestsPerMinute = nil },
    configure: @Sendable (inout GuidanceConfiguration) -> Void = { _ in },
    _ body: @Sendable (Rig) async throws -> Void
) async throws {
    let content = FrameContent(scale: scale)
    var simulation = GuidanceSimulation(content: content)
    simulation.cachedFiles = 16
    simulate(&simulation)
    var configuration = UpstreamSimulator.Configuration(
        seed: 7, flights: 1, dripInterval: dripInterval, clock: { clock.seconds })
    configuration.guidance = simulation
    let nowcast = try #require(GuidanceFile(product: .gtgn, runSeconds: testTime - 1_500))
    let forecast = try #require(GuidanceFile(product: .gtg, runSeconds: testTime - 9_600, leadHours: 3))
    try await UpstreamSimulator.withRunning(configuration) { simulator, baseURL in
        var settings = GuidanceConfiguration(baseURL: baseURL)
        settings.timeout = .seconds(900)
        settings.spacing = .zero
        settings.gapBytes = 0
        configure(&settings)
        let http = HTTPClient(configuration: GuidanceClient.recommendedHTTPConfiguration)
        do {
            let client = try GuidanceClient(configuration: settings, httpClient: http, clock: clock.guidance)
            try await body(
                Rig(
                    simulator: simulator, client: client, clock: clock, content: content, nowcast: nowcast,
                    forecast: forecast))
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }
}

/// Keeps what a download reports.
final class Reports: Sendable {
    private struct ReportState {
        var plans: [GuidanceEvent.Plan] = []
        var messages: [GuidanceMessage] = []
        var refused: [(MessageFrame.FrameError, Int)] = []
        var progress = GuidanceProgress()
    }

    private let state: Mutex<ReportState>

    init(_ progress: GuidanceProgress = GuidanceProgress()) { state = Mutex(ReportState(progress: progress)) }

    var plans: [GuidanceEvent.Plan] { state.withLock { $0.plans } }
    var messages: [GuidanceMessage] { state.withLock { $0.messages } }
    var refused: [(MessageFrame.FrameError, Int)] { state.withLock { $0.refused } }
    var progress: GuidanceProgress { state.withLock { $0.progress } }

    /// Keeps an event as a caller would: what was of another version goes.
    func note(_ event: GuidanceEvent) {
        state.withLock { state in
            state.progress.note(event)
            switch event {
            case .began(let plan):
                if plan.startsOver { state.messages = [] }
                state.plans.append(plan)
            case .message(let message): state.messages.append(message)
            case .refused(let refusal, let number, _): state.refused.append((refusal, number))
            }
        }
    }
}

extension Rig {
    /// Downloads the rest, reporting to `reports`.
    func download(
        _ file: GuidanceFile, _ selection: MessageSelection = .everything, _ reports: Reports,
        expecting count: Int = 12,
        then: @escaping @Sendable (GuidanceEvent) async -> GuidanceStep = { _ in .goOn }
    ) async throws(UpstreamError) -> GuidanceOutcome {
        var download = GuidanceDownload(file, selection, progress: reports.progress)
        download.expectedMessages = count
        return try await client.download(download) { event in
            reports.note(event)
            return await then(event)
        }
    }

    /// How a download of the rest ends.
    func ending(
        _ file: GuidanceFile, _ selection: MessageSelection, _ reports: Reports, expecting count: Int = 12
    ) async throws -> GuidanceOutcome.Ending {
        try await download(file, selection, reports, expecting: count).ending
    }

    /// The whole messages of a file by their numbers.
    func expected(_ file: GuidanceFile, _ numbers: some Sequence<Int>) -> [[UInt8]] {
        let all = content.all(file)
        return numbers.map { all[$0 - 1] }
    }
}
