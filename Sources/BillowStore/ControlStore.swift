package import Turbulence

/// The tables outside the log: access keys, persisted overrides and monitored flights. Writing to them does not raise
/// the version.
package protocol ControlStore: Sendable {
    /// All access keys, including revoked ones, oldest first.
    func accessKeys() async throws(StoreError) -> [AccessKey]

    /// Stores a new key, durable when this returns.
    func add(_ key: AccessKey) async throws(StoreError)

    /// Revokes a key. Returns false where no valid key has that id.
    func revokeAccessKey(id: String, at: Instant) async throws(StoreError) -> Bool

    /// The persisted override of a source, as JSON; nil without one.
    func persistedOverride(of source: SourceID) async throws(StoreError) -> String?

    /// Stores the override of a source, durable when this returns; nil removes it.
    func setPersistedOverride(_ value: String?, of source: SourceID) async throws(StoreError)

    /// Every monitored flight, by id.
    func monitoredFlights() async throws(StoreError) -> [MonitoredFlight]

    /// Adds a flight, durable when this returns.
    func add(_ flight: MonitoredFlight) async throws(StoreError)

    /// Updates stored flights in one transaction. A flight that was removed meanwhile stays removed.
    func update(_ flights: [MonitoredFlight]) async throws(StoreError)

    /// Removes flights, durable when this returns. An unknown id changes nothing.
    func removeMonitoredFlights(_ ids: [String]) async throws(StoreError)
}

/// A flight for which alerts are generated, as stored.
package struct MonitoredFlight: Sendable, Hashable {
    package var id: String
    /// The id of the access key that registered it.
    package var accessKey: String
    /// Its request, its last position and its last alerts, as JSON.
    package var value: String

    package init(id: String, accessKey: String, value: String) {
        self.id = id
        self.accessKey = accessKey
        self.value = value
    }
}
