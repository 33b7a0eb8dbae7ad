package import BillowRaster
import Synchronization

/// A value that is replaced whole while others read it, for example when settings are reloaded.
package final class Replaceable<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    private let replacements = Atomic<UInt64>(0)

    package init(_ value: Value) { self.value = Mutex(value) }

    /// The number of replacements. Whoever has seen a value reads its number or a later one.
    package var generation: UInt64 { replacements.load(ordering: .acquiring) }

    /// The value for new requests.
    package var current: Value { value.withLock { $0 } }

    /// Replaces the value for later requests.
    package func replace(by value: Value) {
        self.value.withLock {
            $0 = value
            replacements.add(1, ordering: .releasing)
        }
    }
}

/// The current styles, which are replaced when their folder is reloaded.
package typealias StyleStore = Replaceable<StyleLibrary>

/// The current configuration of freshness, which a reload of the settings replaces.
package typealias FreshnessRegister = Replaceable<FreshnessSettings>
