import BillowStore
import Turbulence

extension Upstream {
    /// The source's record in the store; nil before the first response.
    func known(in store: any Store) async throws(SyncError) -> SourceRecord? {
        try await stored { () async throws(StoreError) in try await store.sources() }.first { $0.id == id }
    }

    /// Registers the source once there is a response. The settings decide whether its data is simulated, or else the
    /// response does. Simulated and real data never share a file, because they could be confused.
    @discardableResult
    func register(
        in store: any Store, answerIsSimulated: Bool, from baseURL: String
    ) async throws(SyncError) -> SourceRecord {
        if answerIsSimulated, simulated == false {
            throw SyncError(
                kind: .refused, code: .simulatedData,
                message: "\(baseURL) sends simulated data, and source \(id) is configured as real: nothing was stored",
                isReachable: true)
        }
        let isSimulated = simulated ?? answerIsSimulated
        if let record = try await known(in: store), record.merge == merge, record.simulated == isSimulated {
            return record
        }
        return try await stored { () async throws(StoreError) in
            try await store.register(id, merge: merge, simulated: isSimulated)
        }
    }

    /// Runs a store operation and translates its errors.
    func stored<Value>(_ body: () async throws(StoreError) -> Value) async throws(SyncError) -> Value {
        do throws(StoreError) { return try await body() } catch {
            if Task.isCancelled { throw .cancelled }
            if case .mixed = error {
                throw SyncError(kind: .refused, code: .simulatedData, message: error.description, isReachable: nil)
            }
            throw SyncError(kind: .store, code: .store, message: error.description, isReachable: nil)
        }
    }
}
