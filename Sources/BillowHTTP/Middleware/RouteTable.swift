import BillowEngine
import HTTPTypes
import Hummingbird
import Synchronization

/// The methods of each path. The table is filled from the router, so it always matches the routes.
final class RouteTable: Sendable {
    private struct Route {
        var path: String
        var components: [RouterPath.Element]
        var method: HTTPRequest.Method

        /// The parts of a path that match any text.
        var variables: Int { path.count { $0 == "{" } }
    }

    private let routes = Mutex<[Route]>([])

    /// Must be called when all routes are added.
    func fill<Context: RequestContext>(from router: Router<Context>) {
        let all = router.routes.map { Route(path: "\($0.path)", components: $0.path.components, method: $0.method) }
        routes.withLock { $0 = all }
    }

    /// Every path, in the form `/collections/{id}`, with its methods except HEAD, in alphabetical order.
    var paths: [(path: String, methods: [HTTPRequest.Method])] {
        var found: [String: Set<HTTPRequest.Method>] = [:]
        for route in routes.withLock({ $0 }) where route.method != .head {
            found[route.path, default: []].insert(route.method)
        }
        return found.sorted { $0.key < $1.key }.map { path, methods in
            (path, methods.sorted { $0.rawValue < $1.rawValue })
        }
    }

    /// The route of a path in the form `/collections/{id}`; nil if there is none.
    func template(of path: String, _ method: HTTPRequest.Method) -> String? {
        let segments = path.split(separator: "/")
        let found = routes.withLock { routes in
            routes.filter { route in
                route.method == method && route.components.count == segments.count
                    && zip(route.components, segments).allSatisfy { $0 ~= $1 }
            }
        }
        // Routes with more fixed parts come first, as in the router.
        return found.min { $0.variables < $1.variables }?.path
    }

    /// The methods of a path in alphabetical order; empty if no route has the path.
    func methods(of path: String) -> [HTTPRequest.Method] {
        let segments = path.split(separator: "/")
        var methods: Set<HTTPRequest.Method> = routes.withLock { routes in
            var found: Set<HTTPRequest.Method> = []
            for route in routes where route.components.count == segments.count && !found.contains(route.method) {
                if zip(route.components, segments).allSatisfy({ $0 ~= $1 }) { found.insert(route.method) }
            }
            return found
        }
        if methods.contains(.get) { methods.insert(.head) }
        return methods.sorted { $0.rawValue < $1.rawValue }
    }
}

/// The methods of a path in the order of `Allow`.
enum AllowedMethods {
    static func text(_ methods: [HTTPRequest.Method]) -> String {
        (methods.map(\.rawValue) + ["OPTIONS"]).joined(separator: ", ")
    }
}
