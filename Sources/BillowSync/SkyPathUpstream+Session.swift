import BillowStore
import Geometry
import SkyPath
import Turbulence
import UpstreamKit

/// Stores the session of an account across restarts.
extension SkyPathUpstream {
    /// The account and API that a session is valid for.
    private var sessionMark: String? {
        let configuration = client.configuration
        return configuration.account.map { account in
            SkyPathPiece.stableHash(
                [
                    configuration.environment.baseURL, configuration.apiKey.fingerprint, account.company, account.user,
                ].joined(separator: "\n"))
        }
    }

    /// Loads the stored session after a restart. It stays valid until it expires.
    func resumeSession() async throws(SyncError) {
        guard let sessionMark, !progress.hasResumed else { return }
        try await progress.ledger.withLock { () async throws(SyncError) in
            guard !progress.hasResumed, try await known(in: store) != nil else { return }
            let values = try await stored { () async throws(StoreError) in try await store.values(of: id) }
            defer { progress.hasResumed = true }
            guard let kept = values[Self.sessionName], kept.hasPrefix(sessionMark + " ") else { return }
            progress.storedSession = kept
            guard let session = SkyPathSession(text: kept.dropFirst(sessionMark.count + 1)) else { return }
            await client.resume(session)
        }
    }

    /// The session to store; nil if it is stored already or there is no account. The inner value is nil if the session
    /// has ended.
    func changedSession() async -> String?? {
        guard let sessionMark else { return nil }
        let session = await client.session.map { sessionMark + " " + $0.text }
        return session == progress.storedSession ? nil : .some(session)
    }

    /// Stores the session after a round without other results.
    func saveSession() async throws(SyncError) {
        try await progress.ledger.withLock { () async throws(SyncError) in
            guard let session = await changedSession(), try await known(in: store) != nil else { return }
            let batch = Batch(source: id, values: [Self.sessionName: session])
            _ = try await stored { () async throws(StoreError) in try await store.commit(batch) }
            progress.storedSession = session
        }
    }
}
