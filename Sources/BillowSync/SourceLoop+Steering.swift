package import BillowStore
package import JSONKit
import Logging
import Turbulence

/// Changes a source's settings at run time, and stores them across restarts.
extension SourceLoop {
    /// The current query and update frequency.
    package var settings: SourceSettings { SourceSettings(query: upstream.query, update: update) }

    /// The types of data that the query may request.
    package var types: [QueryType] { upstream.types }

    /// Returns the settings after a change of some members. The rules are those of the settings file.
    /// - Throws: at the first invalid member, or one that makes the query invalid.
    package func settings(changedBy members: [String: JSONValue]) throws(SourceSettings.Problem) -> SourceSettings {
        let changed = try settings.changed(by: members, types: upstream.types)
        if let query = changed.query, query != settings.query, let problem = upstream.problem(with: query) {
            throw SourceSettings.Problem(unaskable: problem.member, problem.text)
        }
        return changed
    }

    /// Changes some members; the others keep their current values.
    /// - Throws: `SourceSettings.Problem`; `StoreError` if the change can't be stored.
    package func change(by members: [String: JSONValue]) async throws {
        try await change(settings(changedBy: members))
    }

    /// Changes the query or the frequency. An area whose data no longer suffices is fetched within a second, in one
    /// round with all other changes of that second. A new frequency counts from the last round. Rounds with an outdated
    /// request are cancelled; their committed data stays.
    /// - Throws: if the change can't be stored. The settings then stay as they were.
    package func change(_ settings: SourceSettings) async throws(StoreError) {
        let old = self.settings
        guard settings != old else { return }
        let before = (upstream: upstream, update: update)
        if let query = settings.query, query != old.query { upstream = upstream.with(query: query) }
        update = settings.update
        do throws(StoreError) { try await persist() } catch {
            // Another change may have been made meanwhile.
            if self.settings == settings { (upstream, update) = before }
            // That change may have scheduled requests that are withdrawn here.
            if machine.plan != plan { note(.changed(plan)) }
            throw error
        }
        note(.changed(plan))
    }

    // MARK: - Across restarts

    /// Restores the stored settings, and then lets the upstream prepare the store. A change of the configuration or of
    /// the access key discards them.
    func restore() async {
        await restoreSettings()
        do throws(SyncError) { try await upstream.prepareAfterRestart(now: now()) } catch {
            logger.error("the stored data can't be prepared after the restart", metadata: ["error": "\(error)"])
        }
    }

    private func restoreSettings() async {
        guard let control else { return }
        var isHalted = false
        var refusal: SourceState.Failure?
        do throws(StoreError) {
            let text = try await control.persistedOverride(of: id)
            guard let override = text.flatMap({ PersistedSourceOverride(text: $0) }) else { return }
            if override.configured == configured.text {
                if let settings = override.settings(like: configured, types: upstream.types) { apply(settings) }
            } else {
                logger.notice("the source's configuration changed; its persisted override is dropped")
            }
            if override.haltedCredential != nil, override.haltedCredential == upstream.credential {
                (isHalted, refusal) = (true, override.refusal)
                logger.warning(
                    "the key was refused before the restart; the source sends no request until it is started again")
            }
        } catch {
            logger.error("the persisted override can't be read", metadata: ["error": "\(error)"])
        }
        note(.restored(plan, isHalted: isHalted, refusal: refusal))
    }

    /// Applies the settings of the previous process, if they are still valid for the upstream.
    private func apply(_ settings: SourceSettings) {
        if let query = settings.query, let problem = upstream.problem(with: query) {
            return logger.notice(
                "the upstream can't answer the persisted override's query; the override is dropped",
                metadata: ["member": "\(problem.member)", "problem": "\(problem.text)"])
        }
        if let query = settings.query { upstream = upstream.with(query: query) }
        update = settings.update
    }

    /// Stores the settings and the rejected key for the next process.
    func persist() async throws(StoreError) {
        let isHalted = machine.isHalted
        let override = PersistedSourceOverride(
            configured: configured.text, settings: settings, haltedCredential: isHalted ? upstream.credential : nil,
            refusal: isHalted ? machine.refusal : nil)
        let isNew = settings != configured || isHalted
        try await control?.setPersistedOverride(isNew ? override.text : nil, of: id)
    }
}
