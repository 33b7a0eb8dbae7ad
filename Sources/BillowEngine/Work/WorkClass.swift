import NIOCore

/// The classes of work. Each class has its own threads, so that no class waits behind another.
///
/// | class | work | limits |
/// | --- | --- | --- |
/// | `tile` | tiles, and the planes and observations that they are drawn from | as many threads as processors |
/// | `renewal` | the tiles of a new snapshot that clients asked for before | one thread |
/// | `map` | map pictures and legends | one at a time |
/// | `animation` | an animation, from its first frame to the encoded file | one at a time |
/// | `query` | features, exports, changes, alerts, profiles, timelines | a thread for each processor, lower priority |
/// | `intake` | decoding of upstream answers and of what is sent in | two threads |
/// | `background` | polygons and flights of a new snapshot, packing, warming | two threads, lowest priority |
/// | `publication` | the publisher, and the events of its publications | one thread |
package enum WorkClass: String, Sendable, Hashable, CaseIterable {
    case tile, renewal, map, animation, query, intake, background, publication

    /// Whether work of this class is cancelled when its client closes the connection. A tile is finished before a
    /// closed connection is detected.
    var endsWithItsClient: Bool {
        switch self {
        case .map, .animation, .query: true
        case .tile, .renewal, .intake, .background, .publication: false
        }
    }
}

/// The reason why work is rejected.
package enum WorkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The queue of this class is full.
    case overloaded(WorkClass)
    /// The bodies of responses in flight have reached their memory limit.
    case tooManyAnswers

    package var description: String {
        switch self {
        case .overloaded(let workClass): "the queue of \(workClass.rawValue) work is full"
        case .tooManyAnswers: "too many large responses are being sent"
        }
    }

    /// The seconds after which a retry makes sense.
    package var retryAfterSeconds: Int {
        switch self {
        case .overloaded(.tile), .overloaded(.renewal): 1
        case .overloaded(.map), .overloaded(.query), .overloaded(.intake): 2
        case .overloaded, .tooManyAnswers: 10
        }
    }
}

/// The limits of a work class.
package struct WorkLimits: Sendable, Hashable {
    package var threads: Int
    /// The most concurrent jobs. A job that waits for the store uses no thread, so there may be more jobs than threads.
    package var jobs: Int
    /// The most waiting jobs. Further jobs are rejected.
    package var queue: Int
    /// The priority on a busy processor, as a `nice` value 0…19.
    package var niceness: Int

    package init(threads: Int, jobs: Int, queue: Int, niceness: Int) {
        self.threads = threads
        self.jobs = jobs
        self.queue = queue
        self.niceness = niceness
    }

    package static func standard(_ workClass: WorkClass) -> WorkLimits {
        let processors = System.coreCount
        return switch workClass {
        case .tile: WorkLimits(threads: processors, jobs: 8 * processors, queue: 1_024, niceness: 0)
        case .renewal: WorkLimits(threads: 1, jobs: 4, queue: 1_024, niceness: 0)
        case .map: WorkLimits(threads: 1, jobs: 1, queue: 16, niceness: 3)
        case .animation: WorkLimits(threads: 1, jobs: 1, queue: 16, niceness: 5)
        case .query: WorkLimits(threads: max(2, processors), jobs: max(2, processors), queue: 64, niceness: 5)
        case .intake: WorkLimits(threads: 2, jobs: 2, queue: 64, niceness: 0)
        case .background: WorkLimits(threads: 2, jobs: 2, queue: 64, niceness: 10)
        case .publication: WorkLimits(threads: 1, jobs: 1, queue: 16, niceness: 0)
        }
    }
}
