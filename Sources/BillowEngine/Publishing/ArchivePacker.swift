import BillowSnapshot
import BillowStore
package import Logging
import ServiceLifecycle
import Turbulence

/// Packs parts that leave the live window or received imports, and after a start all unpacked parts. It works in the
/// background: one part at a time, newest first, with a pause after each.
package struct ArchivePacker: Service {
    private let archive: Archive
    private let publisher: SnapshotPublisher
    private let frames: FrameSource
    private let rest: Duration
    private let logger: Logger

    /// Packing a part of 20,000 rows takes some 10 ms of CPU time.
    static let defaultRest = Duration.milliseconds(30)
    private static let pause = Duration.seconds(60)
    /// The number of parts that one transaction checks: a month.
    private static let partsAtOnce = 2_160

    package init(
        archive: Archive, publisher: SnapshotPublisher, frames: FrameSource, rest: Duration = defaultRest,
        logger: Logger
    ) {
        self.archive = archive
        self.publisher = publisher
        self.frames = frames
        self.rest = rest
        self.logger = logger
    }

    package func run() async {
        var failure: StoreError?
        for await _ in publisher.publications {
            failure = await attempt(after: failure)
            await ServicePause.rest(Self.pause)
        }
    }

    /// Runs one round and returns its failure. It logs a failure unless it equals the previous one.
    func attempt(after failure: StoreError?) async -> StoreError? {
        do throws(StoreError) {
            try await pack()
            if failure != nil { logger.notice("the archive can be packed again") }
            return nil
        } catch {
            // A cancelled read is no failure.
            if Task.isCancelled { return failure }
            if failure != error {
                logger.error(
                    "the archive could not be packed; pictures are made from the log's rows, and packing is retried",
                    metadata: ["error": "\(error)"])
            }
            return error
        }
    }

    /// Packs all parts that archived frames may read. Returns the number of packed parts.
    @discardableResult
    func pack() async throws(StoreError) -> Int {
        guard let snapshot = publisher.snapshot else { return 0 }
        let longest = History.sixHours.seconds
        // A frame that starts before the live window looks back no further than its history.
        let end = ArchivePart(snapshot.liveFrom.advanced(by: longest)).number
        let start = ArchivePart(snapshot.extent.lowerBound.advanced(by: -longest)).number
        var packed = 0
        for last in stride(from: end - 1, through: start, by: -Self.partsAtOnce) {
            let first = max(start, last - Self.partsAtOnce + 1)
            for part in try await archive.unpackedParts(in: ArchivePart(number: first)...ArchivePart(number: last)) {
                if ServicePause.hasEnded { return packed }
                try await archive.pack(part)
                packed += 1
                await ServicePause.rest(rest)
            }
        }
        return packed
    }
}
