import Foundation
package import GRIBKit
import GRIBMaking
import NIOPosix
import Synchronization

/// NOAA's turbulence grids of the simulated world, as GRIB2 in the packings of the real files. A message is made when
/// its file is first read.
///
/// Source: docs/upstreams/noaa.md
package final class SimulatedGuidance: GuidanceContent {
    /// The selection of messages in a file.
    package enum Extent: String, Sendable, CaseIterable {
        /// All messages of NOAA's files: 51 of GTGN, 205 of GTG.
        case whole
        /// The combined EDR at every 2,000 ft from 10,000 to 44,000 ft, and for GTG also the maximum of the column.
        case levels
    }

    /// A message to make, with its GRIB parameters.
    struct Making: Sendable, Hashable {
        let quantity: GuidanceAtmosphere.Quantity
        let parameter: GRIBParameter
        /// The level; nil for the column.
        let level: AltitudeLevel?
    }

    private let seed: UInt64
    private let ground: GuidanceTerrain
    private let levels: [AltitudeLevel]
    private let makings: [SimulatedGuidanceProduct: [(SimulatedGuidanceMessage, Making)]]
    /// The column maximum of the file that is being made.
    private let column = Mutex<Column?>(nil)
    /// A cache of the air of files that are being made: its bodies are the same for each message of a file.
    private let airs = Mutex<[SimulatedGuidanceFile: GuidanceAtmosphere]>([:])
    private static let maximumCachedAtmospheres = 8

    private struct Column {
        let file: SimulatedGuidanceFile
        var levels: Set<AltitudeLevel> = []
        var maximum: [Float]
    }

    /// The steps of values, by which messages come closest to the length of NOAA's: hundredths of EDR in GTGN, and in
    /// GTG 7 bits for the range of a level.
    private static let decimals = 2
    private static let bits = 7
    /// The values of the flags are whole numbers up to 50.
    private static let flagParameter = GRIBParameter(discipline: 0, category: 19, number: 50)

    /// - Parameters:
    ///   - seed: the seed of the simulator that serves it, so that reports and grids agree.
    ///   - every: the step in rows and columns of NOAA's grid; 1 is the whole grid.
    package init(seed: UInt64 = 1, extent: Extent = .levels, every: Int = 1) {
        self.seed = seed
        ground = GuidanceTerrain(every: max(1, every))
        let levels =
            switch extent {
            case .whole: AltitudeLevel.turbulenceGuidance
            case .levels: stride(from: 10_000, through: 44_000, by: 2_000).map { AltitudeLevel(feet: $0) }
            }
        self.levels = levels
        let combined = levels.map { Making(quantity: .combined, parameter: .eddyDissipation, level: $0) }
        let parts: [(GuidanceAtmosphere.Quantity, GRIBParameter)] =
            switch extent {
            case .whole:
                [
                    (.clearAir, .clearAirTurbulence), (.mountainWave, .mountainWaveTurbulence),
                    (.origin, Self.flagParameter),
                ]
            case .levels: []
            }
        let others = parts.flatMap { quantity, parameter in
            levels.map { Making(quantity: quantity, parameter: parameter, level: $0) }
        }
        let column = Making(quantity: .combined, parameter: .maximumEddyDissipation, level: nil)
        func named(_ makings: [Making]) -> [(SimulatedGuidanceMessage, Making)] { makings.map { ($0.name, $0) } }
        makings = [.gtgn: named(combined), .gtg: named(combined + others + [column])]
    }

    package func messages(of file: SimulatedGuidanceFile) -> [SimulatedGuidanceMessage] {
        makings[file.product, default: []].map(\.0)
    }

    package func bytes(of message: SimulatedGuidanceMessage, in file: SimulatedGuidanceFile) async -> [UInt8] {
        guard let making = makings[file.product, default: []].first(where: { $0.0 == message })?.1 else { return [] }
        return await Self.computing { [self] in bytes(of: making, in: file) }
    }

    /// The EDRs of a message before packing, from the south-west in row-major order; NaN for missing.
    ///
    /// - Parameter altitudeFeet: nil for the maximum of the file's levels.
    package func edrs(of file: SimulatedGuidanceFile, altitudeFeet: Int?) -> [Float] {
        let level = altitudeFeet.map { AltitudeLevel(feet: $0) }
        return values(
            Making(quantity: .combined, parameter: .eddyDissipation, level: level), in: file)
    }

    /// The grid of all files.
    package var grid: GRIBGrid { ground.grid }

    // MARK: Making

    private func bytes(of making: Making, in file: SimulatedGuidanceFile) -> [UInt8] {
        var draft = GRIBDraft(
            grid: ground.grid, referenceSeconds: file.runSeconds, values: values(making, in: file))
        draft.productionStatus = .operationalTest
        draft.parameter = making.parameter
        draft.level = making.level.map { .altitude($0) } ?? .column
        draft.lead = .hours(file.leadHours)
        draft.packing = file.product == .gtgn ? .jpeg2000 : .complexWithDifferences
        draft.bits = Self.bits
        if file.product == .gtgn { draft.decimals = Self.decimals }
        do { return try draft.message() } catch { preconditionFailure("a message of our own: \(error)") }
    }

    private func values(_ making: Making, in file: SimulatedGuidanceFile) -> [Float] {
        let air = air(of: file)
        guard let level = making.level else { return columnMaximum(of: file, air) }
        let values = air.values(making.quantity, altitudeFeet: level.feet)
        // A file is made level by level, so its column needs no further computation.
        if making.parameter == .eddyDissipation, file.product == .gtg { add(values, level, of: file) }
        return values
    }

    private func air(of file: SimulatedGuidanceFile) -> GuidanceAtmosphere {
        if let known = airs.withLock({ $0[file] }) { return known }
        let air = GuidanceAtmosphere(file, seed: seed, ground: ground)
        airs.withLock { airs in
            if airs.count >= Self.maximumCachedAtmospheres { airs = [:] }
            airs[file] = air
        }
        return air
    }

    private func add(_ values: [Float], _ level: AltitudeLevel, of file: SimulatedGuidanceFile) {
        column.withLock { column in
            var known = column?.file == file ? column : nil
            column = nil
            if known == nil { known = Column(file: file, maximum: Array(repeating: .nan, count: values.count)) }
            if known?.levels.insert(level).inserted == true { known?.maximum.formMaximum(values) }
            column = known
        }
    }

    private func columnMaximum(of file: SimulatedGuidanceFile, _ air: GuidanceAtmosphere) -> [Float] {
        let known = column.withLock { $0?.file == file ? $0 : nil }
        var maximum = known?.maximum ?? Array(repeating: .nan, count: ground.grid.count)
        for level in levels where known?.levels.contains(level) != true {
            maximum.formMaximum(air.values(.combined, altitudeFeet: level.feet))
        }
        return maximum
    }

    // MARK: The thread that makes messages

    /// The only thread that makes messages, at low priority: a demo serves requests in the same process.
    private static let thread = {
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        return pool
    }()

    private static let niceness: Int32 = 10

    private static func computing<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            thread.submit { _ in
                #if os(Linux)
                    _ = setpriority(Int32(bitPattern: PRIO_PROCESS.rawValue), 0, niceness)
                #endif
                continuation.resume(returning: body())
            }
        }
    }
}

extension SimulatedGuidance.Making {
    /// The message's parameter and level in the words of an index.
    fileprivate var name: SimulatedGuidanceMessage {
        let names: [GRIBParameter: String] = [
            .eddyDissipation: "EDPARM", .clearAirTurbulence: "CATEDR", .mountainWaveTurbulence: "MWTURB",
            .maximumEddyDissipation: "MXEDPRM",
        ]
        return SimulatedGuidanceMessage(
            parameter: names[parameter]
                ?? "var discipline=0 master_table=2 parmcat=\(parameter.category) parm=\(parameter.number)",
            level: level.map { "\($0.wholeMetres) m above mean sea level" } ?? "entire atmosphere")
    }
}

extension [Float] {
    /// Takes the maximum at each point. If only one is a number, it is that one.
    fileprivate mutating func formMaximum(_ other: [Float]) {
        withUnsafeMutableBufferPointer { values in
            for place in values.indices { values[place] = Float.maximum(values[place], other[place]) }
        }
    }
}

extension SimulatedGuidanceFile {
    /// The valid time in Unix seconds.
    var validSeconds: Int { runSeconds + leadHours * 3_600 }
}
