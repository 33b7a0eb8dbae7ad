import BillowStore
import Geometry
import SkyPath
import Turbulence
import UpstreamKit

/// The session of an account, kept across restarts.
extension SkyPathUpstream {
    /// What a session is good for.
    private var sessionMark: String? {
        let configuration = client.configuration
        return configuration.account.map { account in
            SkyPathPiece.stableHash(
                [
                    configuration.environment.baseURL, configuration.apiKey.fingerprint, account.company, account.user,
                ].joined(separator: "\n"))
        }
    }

    /// After a restart the session that is kept goes on until it ends.
    func resumeSession() async throws(SyncError) {
        guard let sessionMark, !progress.hasResumed else { return }
        try await progress.ledger.alone { () async throws(SyncError) in
            guard !progress.hasResumed, try await known(in: store) != nil else { return }
            let values = try await stored { () async throws(StoreError) in try await store.values(of: id) }
            defer { progress.hasResumed = true }
            guard let kept = values[Self.sessionName], kept.hasPrefix(sessionMark + " ") else { return }
            progress.keptSession = kept
            guard let session = SkyPathSession(text: kept.dropFirst(sessionMark.count + 1)) else { return }
            await client.resume(session)
        }
    }

    /// The session as it is to be stored; nil where the stored one is the same, or no account has one. The value is nil
    /// where the session has ended.
    func changedSession() async -> String?? {
        guard let sessionMark else { return nil }
        let session = await client.session.map { sessionMark + " " + $0.text }
        return session == progress.keptSession ? nil : .some(session)
    }

    /// Stores the session of a round that brought nothing else.
    func keepSession() async throws(SyncError) {
        try await progress.ledger.alone { () async throws(SyncError) in
            guard let session = await changedSession(), try await known(in: store) != nil else { return }
            let batch = Batch(source: id, values: [Self.sessionName: session])
            _ = try await stored { () async throws(StoreError) in try await store.commit(batch) }
            progress.keptSession = session
        }
    }
}
