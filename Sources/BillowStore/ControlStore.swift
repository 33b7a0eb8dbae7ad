public import Turbulence

/// What is kept beside the log: keys, and what was settled about sources while they ran. None of it raises the version.
public protocol ControlStore: Sendable {
    /// Every key that was ever made, revoked ones too, the oldest first.
    func accessKeys() async throws(StoreError) -> [AccessKey]

    /// Keeps a new key, durable when this returns.
    func add(_ key: AccessKey) async throws(StoreError)

    /// Ends a key; false where there is none of that id that still opens something.
    func revokeAccessKey(id: String, at: Instant) async throws(StoreError) -> Bool

    /// What was settled about a source, as JSON; nil where nothing was.
    func control(of source: SourceID) async throws(StoreError) -> String?

    /// Keeps what was settled about a source, durable when this returns; nil forgets it.
    func setControl(_ value: String?, of source: SourceID) async throws(StoreError)
}
