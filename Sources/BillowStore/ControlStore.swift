package import Turbulence

/// The tables beside the log: keys, changed queries of sources, and followed flights. None of it raises the version.
package protocol ControlStore: Sendable {
    /// Every key that was ever made, revoked ones too, the oldest first.
    func accessKeys() async throws(StoreError) -> [AccessKey]

    /// Stores a new key, durable when this returns.
    func add(_ key: AccessKey) async throws(StoreError)

    /// Ends a key; false where there is none of that id that still opens something.
    func revokeAccessKey(id: String, at: Instant) async throws(StoreError) -> Bool

    /// The persisted override of a source, as JSON; nil where there is none.
    func control(of source: SourceID) async throws(StoreError) -> String?

    /// Stores the override of a source, durable when this returns; nil removes it.
    func setControl(_ value: String?, of source: SourceID) async throws(StoreError)

    /// Every followed flight, by id.
    func followedFlights() async throws(StoreError) -> [FollowedFlight]

    /// Adds a flight, durable when this returns.
    func add(_ flight: FollowedFlight) async throws(StoreError)

    /// Replaces stored flights, in one transaction. A flight that was removed meanwhile stays removed.
    func update(_ flights: [FollowedFlight]) async throws(StoreError)

    /// Removes flights, durable when this returns. An unknown id changes nothing.
    func removeFollowedFlights(_ ids: [String]) async throws(StoreError)
}

/// A flight that alerts are made for, as it is stored.
package struct FollowedFlight: Sendable, Hashable {
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
