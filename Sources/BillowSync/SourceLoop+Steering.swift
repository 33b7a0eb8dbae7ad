package import BillowStore
package import JSONKit
import Logging
import Turbulence

/// What is asked for while the source runs, and what of that lasts across restarts.
extension SourceLoop {
    /// What is asked for, and how often.
    package var settings: SourceSettings { SourceSettings(query: upstream.query, update: update) }

    /// The types of data that may be asked for.
    package var types: [DataQuery.DataType] { upstream.types }

    /// The settings after a change of some members, by the rules of the settings' file.
    /// - Throws: at the first member that can't be used, or that leads to a query that can't be asked.
    package func settings(changedBy members: [String: JSONValue]) throws(SourceSettings.Problem) -> SourceSettings {
        let changed = try settings.changed(by: members, types: upstream.types)
        if let query = changed.query, query != settings.query, let problem = upstream.problem(with: query) {
            throw SourceSettings.Problem(unaskable: problem.member, problem.text)
        }
        return changed
    }

    /// Changes some members, all others as they are at this moment.
    /// - Throws: `SourceSettings.Problem`; `StoreError` where the change can't be kept.
    package func change(by members: [String: JSONValue]) async throws {
        try await change(settings(changedBy: members))
    }

    /// Asks for something else from now on, or at another frequency. An area whose data is not enough is fetched
    /// within a second, in one round with all other changes of that second. Another frequency counts from the last
    /// round. Rounds that ask for something else than is wanted now end; what they have committed stays.
    /// - Throws: where the change can't be kept; it is not made then.
    package func change(_ settings: SourceSettings) async throws(StoreError) {
        let old = self.settings
        guard settings != old else { return }
        let before = (upstream: upstream, update: update)
        if let query = settings.query, query != old.query { upstream = upstream.with(query: query) }
        update = settings.update
        do throws(StoreError) { try await persist() } catch {
            // Another change may have come meanwhile.
            if self.settings == settings { (upstream, update) = before }
            // That one may have begun to ask for what is taken back here.
            if machine.plan != plan { note(.changed(plan)) }
            throw error
        }
        note(.changed(plan))
    }

    // MARK: - Across restarts

    /// Restores the settings of before the restart, and only then lets the upstream prepare the store. A change of the
    /// configuration, or of the key, ends them.
    func restore() async {
        await restoreSettings()
        do throws(SyncError) { try await upstream.prepareAfterRestart(now: now()) } catch {
            logger.error("what was stored for the process before can't be ended", metadata: ["error": "\(error)"])
        }
    }

    private func restoreSettings() async {
        guard let control else { return }
        var isHalted = false
        var refusal: SourceState.Failure?
        do throws(StoreError) {
            let text = try await control.control(of: id)
            guard let override = text.flatMap({ PersistedSourceOverride(text: $0) }) else { return }
            if override.configured == configured.text {
                if let settings = override.settings(like: configured) { take(settings) }
            } else {
                logger.notice("its configuration changed; what was settled while it ran is forgotten")
            }
            if override.haltedCredential != nil, override.haltedCredential == upstream.credential {
                (isHalted, refusal) = (true, override.refusal)
                logger.warning("its key was refused before the restart; nothing is tried until it is started again")
            }
        } catch {
            logger.error("what was settled before can't be read", metadata: ["error": "\(error)"])
        }
        note(.restored(plan, isHalted: isHalted, refusal: refusal))
    }

    /// Takes over the settings of the process before, where the upstream can still be asked them.
    private func take(_ settings: SourceSettings) {
        if let query = settings.query, let problem = upstream.problem(with: query) {
            return logger.notice(
                "what was settled while it ran can't be asked any more and is forgotten",
                metadata: ["member": "\(problem.member)", "problem": "\(problem.text)"])
        }
        if let query = settings.query { upstream = upstream.with(query: query) }
        update = settings.update
    }

    /// Stores settings and refusal for the next process.
    func persist() async throws(StoreError) {
        let isHalted = machine.isHalted
        let override = PersistedSourceOverride(
            configured: configured.text, settings: settings, haltedCredential: isHalted ? upstream.credential : nil,
            refusal: isHalted ? machine.refusal : nil)
        let isNew = settings != configured || isHalted
        try await control?.setControl(isNew ? override.text : nil, of: id)
    }
}
