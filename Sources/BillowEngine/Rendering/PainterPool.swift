import BillowRaster
import BillowTiles
import Synchronization

/// A pool of painters with their buffers, for jobs on work threads. Each painter serves one job at a time.
final class PainterPool: Sendable {
    /// A painter and an encoder, which aren't safe to share.
    ///
    /// `@unchecked Sendable`: a set is either in `idle` or owned by the one caller that removed it under the lock. No
    /// reference outlives that caller's closure.
    private final class PainterSet: @unchecked Sendable {
        let painter: PicturePainter
        let encoder: IndexedPNGEncoder

        init(_ sprites: SpriteCache) throws(PNGError) {
            painter = PicturePainter(sprites: sprites)
            encoder = try IndexedPNGEncoder()
        }
    }

    /// The bytes of the sprites of small cells.
    var spriteBytes: Int { sprites.byteCount }

    private struct PoolState {
        var idle: [PainterSet] = []
        var isPreparing = false
    }

    private let sprites = SpriteCache()
    private let state = Mutex(PoolState())
    private let maximumIdle: Int

    /// - Parameter count: the number of concurrent jobs. The pool holds one more painter, which may be preparing
    ///   meanwhile.
    init(expecting count: Int) throws(PNGError) {
        maximumIdle = count + 1
        var kits: [PainterSet] = []
        for _ in 0..<count { kits.append(try PainterSet(sprites)) }
        state.withLock { [kits] in $0.idle = kits }
    }

    /// Paints on the calling thread.
    func paint<Value>(
        _ body: (PicturePainter, IndexedPNGEncoder) throws(PictureError) -> Value
    ) throws(EngineError) -> Value {
        let kit = try idleKit()
        defer { returnToPool(kit) }
        do { return try body(kit.painter, kit.encoder) } catch { throw .picture(error) }
    }

    private func idleKit() throws(EngineError) -> PainterSet {
        if let kit = state.withLock({ $0.idle.popLast() }) { return kit }
        do { return try PainterSet(sprites) } catch { throw .picture(.png(error)) }
    }

    private func returnToPool(_ kit: PainterSet) {
        state.withLock { if $0.idle.count < maximumIdle { $0.idle.append(kit) } }
    }

    /// Prepares every painter for its next images in the background, in steps of some tenths of a millisecond, and only
    /// while no job paints. Does nothing if no sprites are missing, and if a preparation is already running. The last
    /// picture of many calls this when no other is painted.
    func prepare(on work: WorkExecutor, while isIdle: @escaping @Sendable () -> Bool) {
        guard isIdle() else { return }
        let kits = state.withLock { state -> Int in
            guard !state.isPreparing, state.idle.contains(where: \.painter.lacksSprites) else { return 0 }
            state.isPreparing = true
            return state.idle.count
        }
        guard kits > 0 else { return }
        // No request waits for the task, and it ends by itself.
        Task(executorPreference: work.threads(.background)) { [self] in
            for _ in 0..<kits where isIdle() { await prepareOne(while: isIdle) }
            state.withLock { $0.isPreparing = false }
        }
    }

    /// Prepares the painter that was idle longest.
    private func prepareOne(while isIdle: @Sendable () -> Bool) async {
        guard let kit = state.withLock({ $0.idle.isEmpty ? nil : $0.idle.removeFirst() }) else { return }
        while isIdle(), kit.painter.prepare() { await Task.yield() }
        returnToPool(kit)
    }
}
