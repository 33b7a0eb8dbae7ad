import BillowSnapshot
import BillowStore
package import Logging
import ServiceLifecycle
import Turbulence

/// Packs what becomes archive, what was imported into it, and after a start what isn't packed yet. Nobody waits for it:
/// one part at a time, the newest first, with a rest after each.
package struct ArchivePacker: Service {
    private let archive: Archive
    private let publisher: SnapshotPublisher
    private let frames: FrameSource
    private let rest: Duration
    private let logger: Logger

    /// A part of 20,000 rows takes some 10 ms of a processor.
    static let defaultRest = Duration.milliseconds(30)
    private static let pause = Duration.seconds(60)
    /// So many parts are looked at in one transaction: a month.
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

    package func run() async throws {
        var failure: String?
        for await _ in publisher.publications {
            failure = await attempt(after: failure)
            await ServicePause.rest(Self.pause)
        }
    }

    /// One round, and why it failed; says so where the one before didn't fail for the same reason.
    func attempt(after failure: String?) async -> String? {
        do throws(StoreError) {
            try await pack()
            if failure != nil { logger.notice("the archive can be packed again") }
            return nil
        } catch {
            // Cut short by an end that has its own reason to tell.
            if Task.isCancelled { return failure }
            if failure != error.description {
                logger.error(
                    "the archive could not be packed; its pictures are made from the log's rows, and it is tried again",
                    metadata: ["error": "\(error)"])
            }
            return error.description
        }
    }

    /// One round over all that pictures of the archive may look at. Gives how many parts it packed.
    @discardableResult
    func pack() async throws(StoreError) -> Int {
        guard let snapshot = publisher.snapshot else { return 0 }
        let longest = History.sixHours.seconds
        // A picture that begins before what is live looks no further than its history.
        let end = ArchivePart(snapshot.liveFrom.advanced(by: longest)).number
        let start = ArchivePart(frames.extent(of: snapshot).lowerBound.advanced(by: -longest)).number
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
