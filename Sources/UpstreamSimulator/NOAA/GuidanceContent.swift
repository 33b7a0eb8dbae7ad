/// A simulated product of NOAA.
package enum SimulatedGuidanceProduct: String, Sendable, Hashable, CaseIterable {
    case gtgn
    case gtg
}

/// A simulated file.
package struct SimulatedGuidanceFile: Sendable, Hashable {
    package let product: SimulatedGuidanceProduct
    /// The start of the run in Unix seconds.
    package let runSeconds: Int
    /// The lead time in hours.
    package let leadHours: Int

    package init(product: SimulatedGuidanceProduct, runSeconds: Int, leadHours: Int = 0) {
        self.product = product
        self.runSeconds = runSeconds
        self.leadHours = leadHours
    }
}

/// A message of a file, in the words of an index.
package struct SimulatedGuidanceMessage: Sendable, Hashable {
    /// The parameter, such as `EDPARM`.
    package let parameter: String
    /// The level, such as `10668 m above mean sea level`.
    package let level: String

    package init(parameter: String, level: String) {
        self.parameter = parameter
        self.level = level
    }
}

/// The content of simulated files.
package protocol GuidanceContent: Sendable {
    /// The messages of a file, in order.
    func messages(of file: SimulatedGuidanceFile) -> [SimulatedGuidanceMessage]
    /// The bytes of a GRIB2 message.
    func bytes(of message: SimulatedGuidanceMessage, in file: SimulatedGuidanceFile) async -> [UInt8]
    /// The version of the file. Another number means another version, possibly with other bytes.
    func version(of file: SimulatedGuidanceFile) -> Int
}

extension GuidanceContent {
    package func version(of file: SimulatedGuidanceFile) -> Int { 0 }
}

/// The behaviour of the simulator of NOAA's server.
package struct GuidanceSimulation: Sendable {
    package var content: any GuidanceContent
    /// The products whose files have an index.
    package var indexed: Set<SimulatedGuidanceProduct> = [.gtg]
    /// The maximum number of requests within a minute, after which clients are blocked; nil for no limit.
    package var requestsPerMinute: Int? = 120
    /// The duration of a block.
    package var banSeconds = 600
    /// The response during a block.
    package var banAnswer = BanAnswer.forbidden
    /// The time during which a file is growing.
    package var growthSeconds = 40
    /// The number of files cached in memory.
    package var cachedFiles = 3

    /// The response to a blocked client.
    package enum BanAnswer: Sendable, Hashable, CaseIterable {
        /// 403.
        case forbidden
        /// 302 without a location.
        case redirect
        /// 200 with an HTML page.
        case page
    }

    package init(content: any GuidanceContent) { self.content = content }

    /// Simulates the grids of the simulated world. Files of few levels have an index, because otherwise a client can't
    /// know that they are complete.
    ///
    /// - Parameters:
    ///   - seed: the simulator's seed.
    ///   - every: the step in rows and columns of NOAA's grid.
    package init(seed: UInt64, _ extent: SimulatedGuidance.Extent = .levels, every: Int = 1) {
        self.init(content: SimulatedGuidance(seed: seed, extent: extent, every: every))
        if extent == .levels { indexed.insert(.gtgn) }
    }
}
