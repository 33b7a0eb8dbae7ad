import BillowEngine
import HTTPTypes
import Hummingbird
import Synchronization

/// Counts requests by route and class of status. Labels are the router's routes, never a client's address.
final class RequestMetrics: Sendable {
    /// The counters of a method of a route.
    final class Route: Sendable {
        /// The counters of a route that had at least one request.
        private final class Handles: Sendable {
            /// One counter for each class of status, from 1xx to 5xx.
            let classes: [MetricRegistry.Counter]
            let duration: MetricRegistry.Histogram

            init(_ registry: MetricRegistry, _ labels: [String]) {
                classes = (1...5).map { registry.counter(.requests, labels + ["\($0)xx"]) }
                duration = registry.histogram(.requestDuration, labels)
            }
        }

        let method: String
        /// The route's path, or the label of answers without a route.
        let path: String
        private let registry: MetricRegistry
        private let handles = AtomicLazyReference<Handles>()

        fileprivate init(_ registry: MetricRegistry, method: String, path: String) {
            self.registry = registry
            self.method = method
            self.path = path
        }

        /// Counts an answer.
        ///
        /// - Complexity: O(1), with a lock only for the first answer of a route.
        func note(status: Int, nanoseconds: Int64) {
            let handles = handles.load() ?? handles.storeIfNil(Handles(registry, [method, path]))
            handles.classes[min(max(status / 100, 1), 5) - 1].increment(by: 1)
            handles.duration.recordNanoseconds(nanoseconds)
        }
    }

    private final class Table: Sendable {
        /// Path → method → route.
        let routes: [String: [HTTPRequest.Method: Route]]
        /// The counters of answers without a route, such as errors and files.
        let others: [UnroutedLabel: [HTTPRequest.Method: Route]]
        /// The counters of unknown methods.
        let unknown: Route

        init(_ registry: MetricRegistry, _ paths: [(path: String, methods: [HTTPRequest.Method])]) {
            func all(_ path: String, _ methods: [HTTPRequest.Method]) -> [HTTPRequest.Method: Route] {
                Dictionary(
                    methods.map { ($0, Route(registry, method: $0.rawValue, path: path)) },
                    uniquingKeysWith: { first, _ in first })
            }
            routes = Dictionary(
                paths.map { ($0.path, all($0.path, $0.methods.contains(.get) ? $0.methods + [.head] : $0.methods)) },
                uniquingKeysWith: { first, _ in first })
            others = Dictionary(
                UnroutedLabel.allCases.map {
                    ($0, all($0.rawValue, [.get, .head, .post, .put, .patch, .delete, .options]))
                },
                uniquingKeysWith: { first, _ in first })
            unknown = Route(registry, method: "other", path: UnroutedLabel.unrouted.rawValue)
        }
    }

    /// The label of answers without a route.
    private enum UnroutedLabel: String, CaseIterable {
        case unrouted = "none"
        case files
    }

    let registry: MetricRegistry
    private let table = AtomicLazyReference<Table>()
    private let paths = AtomicLazyReference<RouteTable>()

    init(_ registry: MetricRegistry) { self.registry = registry }

    /// Must be called when the table has all routes.
    func fill(from routes: RouteTable) {
        _ = table.storeIfNil(Table(registry, routes.paths))
        _ = paths.storeIfNil(routes)
    }

    /// The counters of an answer.
    ///
    /// - Parameter path: the route's path; nil for an answer without a route.
    func route(_ path: String?, _ method: HTTPRequest.Method, status: Int) -> Route? {
        guard let table = table.load() else { return nil }
        let methods = path.flatMap { table.routes[$0] }
        if let route = methods?[method] { return route }
        let isFile = methods == nil && status < 400 && method != .options
        return table.others[isFile ? .files : .unrouted]?[method] ?? table.unknown
    }

    /// The counters of an answer that the microcache repeats without the router.
    ///
    /// - Complexity: O(routes). It is called once for each cached answer.
    func route(ofAddress address: String) -> Route? {
        route(paths.load()?.template(of: String(address.prefix { $0 != "?" }), .get), .get, status: 200)
    }
}
