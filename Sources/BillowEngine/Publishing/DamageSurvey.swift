package import BillowStore
package import Logging
import ServiceLifecycle
import Turbulence

/// Reads all of the store after a start and once a day, so that damage is known before anybody asks for what is
/// damaged.
package struct DamageSurvey: Service {
    package let store: any Store
    package let logger: Logger

    package init(store: any Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// After each piece: a survey of a million rows takes some 15 s, and a tenth of a processor.
    private static let rest = Duration.milliseconds(50)
    private static let pause = Duration.seconds(86_400)

    package func run() async throws {
        repeat { await cancelWhenGracefulShutdown { await survey() } } while await ServicePause.rest(Self.pause)
    }

    private func survey() async {
        do throws(StoreError) { try await store.survey(rest: Self.rest) } catch {
            if Task.isCancelled { return }
            logger.error(
                "the store could not be surveyed; it is surveyed again in a day", metadata: ["error": "\(error)"])
        }
    }
}
