import BillowStore
import Turbulence

extension Upstream {
    /// Makes the source known to the store. Simulated and real data never stand under one name: the one would pass for the
    /// other.
    func register(in store: any Store) async throws(SyncError) -> SourceRecord {
        let known = try await stored { () async throws(StoreError) in try await store.sources() }.first { $0.id == id }
        if let known, known.simulated != simulated {
            let (was, now) = known.simulated ? ("simulated", "real") : ("real", "simulated")
            throw SyncError(
                kind: .refused, code: "simulated-data",
                message: "the database holds \(was) data of source \(id), which is configured as \(now): "
                    + "give the source another id, or use another database", isReachable: nil)
        }
        return try await stored { () async throws(StoreError) in
            try await store.register(id, merge: merge, simulated: simulated)
        }
    }

    /// Refuses made-up answers where real ones are expected.
    func refuseSimulated(_ isSimulated: Bool, from baseURL: String) throws(SyncError) {
        guard isSimulated, !simulated else { return }
        throw SyncError(
            kind: .refused, code: "simulated-data",
            message: "\(baseURL) sends simulated data, and source \(id) is not configured as simulated: nothing was "
                + "stored", isReachable: true)
    }

    /// What the store gives, its failures translated.
    func stored<Value>(_ body: () async throws(StoreError) -> Value) async throws(SyncError) -> Value {
        do throws(StoreError) { return try await body() } catch {
            if Task.isCancelled { throw .cancelled }
            throw SyncError(kind: .store, code: "store", message: error.description, isReachable: nil)
        }
    }
}
