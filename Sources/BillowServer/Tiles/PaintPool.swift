import BillowRaster
import BillowTiles
import DequeModule
import HTTPTypes

/// Paints pictures on a few workers, off the event loops. Who comes when all are busy waits in turn; who comes when the queue
/// is full is turned away; who no longer waits (its request was cancelled) costs nothing.
actor PaintPool {
    /// One worker: it owns the buffers that it paints in.
    actor Worker {
        private let painter: PicturePainter
        private let encoder: IndexedPNGEncoder

        init(_ stamps: StampStore) throws(PNGError) {
            painter = PicturePainter(stamps: stamps)
            encoder = try IndexedPNGEncoder()
        }

        func run<Value: Sendable>(_ work: Work<Value>) throws -> Value { try work(painter, encoder) }

        /// For less than a millisecond; whoever comes meanwhile waits so long.
        func prepare() -> Bool { painter.prepare() }
    }

    /// What is to be painted.
    typealias Work<Value> = @Sendable (PicturePainter, IndexedPNGEncoder) throws -> Value

    private var idle: [Worker]
    private var waiting: Deque<(id: Int, continuation: CheckedContinuation<Worker?, Never>)> = []
    private var nextID = 0
    private let queueLimit: Int

    /// `width`: how many paint at once; `queueLimit`: how many may wait.
    init(width: Int, queueLimit: Int) throws(PNGError) {
        idle = []
        let stamps = StampStore()
        for _ in 0..<width { idle.append(try Worker(stamps)) }
        self.queueLimit = queueLimit
    }

    /// Does some work as soon as a worker is free.
    /// - Throws: `Problem` 503 when the queue is full; `CancellationError`; what the work throws.
    func run<Value: Sendable>(_ work: Work<Value>) async throws -> Value {
        let worker = try await takeWorker()
        defer { giveBack(worker) }
        return try await worker.run(work)
    }

    private func takeWorker() async throws -> Worker {
        if let worker = idle.popLast() { return worker }
        guard waiting.count < queueLimit else {
            throw Problem(
                .overloaded, detail: "More pictures are wanted than can be drawn just now.",
                retryAfterSeconds: 1)
        }
        let id = nextID
        nextID += 1
        let worker: Worker? = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Worker?, Never>) in
                // Cancelled before it could wait: the handler below has found nothing to remove.
                if Task.isCancelled { continuation.resume(returning: nil) } else { waiting.append((id, continuation)) }
            }
        } onCancel: {
            Task { await self.cancel(id) }
        }
        guard let worker else { throw CancellationError() }
        return worker
    }

    private func cancel(_ id: Int) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).continuation.resume(returning: nil)
    }

    private func giveBack(_ worker: Worker) {
        if let next = waiting.popFirst() { return next.continuation.resume(returning: worker) }
        idle.append(worker)
        Task(priority: .utility) { await prepare(worker) }
    }

    /// Has a worker prepare for the next pictures for as long as it has nothing to paint.
    private func prepare(_ worker: Worker) async {
        while idle.contains(where: { $0 === worker }), await worker.prepare() {}
    }
}
