/// One of NOAA's turbulence products, as the look-alike serves it.
package enum SimulatedGuidanceProduct: String, Sendable, Hashable, CaseIterable {
    case gtgn
    case gtg
}

/// A file of the look-alike.
package struct SimulatedGuidanceFile: Sendable, Hashable {
    package let product: SimulatedGuidanceProduct
    /// Unix seconds.
    package let runSeconds: Int
    /// Hours from the run to the valid time.
    package let leadHours: Int

    package init(product: SimulatedGuidanceProduct, runSeconds: Int, leadHours: Int = 0) {
        self.product = product
        self.runSeconds = runSeconds
        self.leadHours = leadHours
    }
}

/// A message of a file, in the words of an index.
package struct SimulatedGuidanceMessage: Sendable, Hashable {
    /// `EDPARM`.
    package let parameter: String
    /// `10668 m above mean sea level`.
    package let level: String

    package init(parameter: String, level: String) {
        self.parameter = parameter
        self.level = level
    }
}

/// What the look-alike's files hold.
package protocol GuidanceContent: Sendable {
    /// The messages of a file, in its order.
    func messages(of file: SimulatedGuidanceFile) -> [SimulatedGuidanceMessage]
    /// A whole GRIB2 message.
    func bytes(of message: SimulatedGuidanceMessage, in file: SimulatedGuidanceFile) async -> [UInt8]
    /// Another number is another version of the file, with other bytes perhaps.
    func version(of file: SimulatedGuidanceFile) -> Int
}

extension GuidanceContent {
    package func version(of file: SimulatedGuidanceFile) -> Int { 0 }
}

/// How the look-alike of NOAA's server behaves.
package struct GuidanceSimulation: Sendable {
    package var content: any GuidanceContent
    /// The products whose files have an index.
    package var indexed: Set<SimulatedGuidanceProduct> = [.gtg]
    /// More requests within a minute are refused; nil refuses none.
    package var requestsPerMinute: Int? = 120
    /// How long that lasts.
    package var banSeconds = 600
    /// What is said then.
    package var banAnswer = BanAnswer.forbidden
    /// How long a file is there before it is whole.
    package var growthSeconds = 40
    /// Files held in memory.
    package var cachedFiles = 3

    /// How a blocked address is told.
    package enum BanAnswer: Sendable, Hashable, CaseIterable {
        /// 403.
        case forbidden
        /// 302 without a place to go to.
        case redirect
        /// 200 with a page.
        case page
    }

    package init(content: any GuidanceContent) { self.content = content }

    /// The grids of the simulated world. Files of few levels have an index, as they can't be known to be whole without.
    ///
    /// - Parameters:
    ///   - seed: that of the simulator.
    ///   - every: takes every so many-th point of NOAA's grid either way.
    package init(seed: UInt64, _ extent: SimulatedGuidance.Extent = .levels, every: Int = 1) {
        self.init(content: SimulatedGuidance(seed: seed, extent: extent, every: every))
        if extent == .levels { indexed.insert(.gtgn) }
    }
}
