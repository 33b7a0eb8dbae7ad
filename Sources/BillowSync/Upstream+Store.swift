import BillowStore
import Turbulence

extension Upstream {
    /// What the store knows of the source; nil before its first answer.
    func known(in store: any Store) async throws(SyncError) -> SourceRecord? {
        try await stored { () async throws(StoreError) in try await store.sources() }.first { $0.id == id }
    }

    /// Makes the source known to the store, once there is an answer: whether its data is made up is what the settings
    /// say, or else what the answer says of itself. Simulated and real data never stand in one file: the one would pass
    /// for the other.
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

    /// What the store gives, its failures translated.
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
