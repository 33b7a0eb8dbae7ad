public import BillowRaster
import Synchronization

/// The styles in use, replaced whole when their folder has been read again.
public final class StyleShelf: Sendable {
    private let library: Mutex<StyleLibrary>

    init(_ library: StyleLibrary) { self.library = Mutex(library) }

    /// What a request answers from.
    public var current: StyleLibrary { library.withLock { $0 } }

    /// Puts others in their place, for the requests that come after.
    public func replace(by library: StyleLibrary) { self.library.withLock { $0 = library } }
}
