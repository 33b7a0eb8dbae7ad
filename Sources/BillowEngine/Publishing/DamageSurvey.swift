package import BillowStore
package import Logging
import ServiceLifecycle
import Turbulence

/// Reads the whole store after a start and once a day, so that damage is detected before a request needs the data.
package struct DamageSurvey: Service {
    package let store: any Store
    package let logger: Logger

    package init(store: any Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// The pause after each piece: a survey of a million rows takes some 15 s, with a tenth of a CPU.
    private static let rest = Duration.milliseconds(50)
    private static let pause = Duration.seconds(86_400)

    package func run() async {
        repeat { await cancelWhenGracefulShutdown { await survey() } } while await ServicePause.rest(Self.pause)
    }

    private func survey() async {
        do throws(StoreError) { try await store.survey(rest: Self.rest) } catch {
            if Task.isCancelled { return }
            logger.error(
                "the database could not be checked for damage; the check is retried in a day",
                metadata: ["error": "\(error)"])
        }
    }
}
