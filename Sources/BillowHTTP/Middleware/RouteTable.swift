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

        /// The number of parts of the path that match any text.
        var variables: Int

        init(_ path: RouterPath, _ method: HTTPRequest.Method) {
            self.path = "\(path)"
            components = path.components
            self.method = method
            variables = self.path.count { $0 == "{" }
        }

        func matches(_ segments: [Substring]) -> Bool { zip(components, segments).allSatisfy { $0 ~= $1 } }
    }

    /// The routes by the number of their path's parts. Those with more fixed parts come first, as in the router.
    private let routes = Mutex<[Int: [Route]]>([:])

    /// Must be called when all routes are added.
    func fill<Context: RequestContext>(from router: Router<Context>) {
        let all = router.routes.map { Route($0.path, $0.method) }.sorted { $0.variables < $1.variables }
        routes.withLock { $0 = Dictionary(grouping: all) { $0.components.count } }
    }

    /// Every path, in the form `/collections/{id}`, with its methods except HEAD, in alphabetical order.
    var paths: [(path: String, methods: [HTTPRequest.Method])] {
        var found: [String: Set<HTTPRequest.Method>] = [:]
        for route in routes.withLock({ $0 }).values.joined() where route.method != .head {
            found[route.path, default: []].insert(route.method)
        }
        return found.sorted { $0.key < $1.key }.map { path, methods in
            (path, methods.sorted { $0.rawValue < $1.rawValue })
        }
    }

    /// The route of a path in the form `/collections/{id}`; nil if there is none.
    func template(of path: String, _ method: HTTPRequest.Method) -> String? {
        let segments = path.split(separator: "/")
        return routes.withLock { routes in
            routes[segments.count]?.first { $0.method == method && $0.matches(segments) }?.path
        }
    }

    /// The methods of a path in alphabetical order; empty if no route has the path.
    func methods(of path: String) -> [HTTPRequest.Method] {
        let segments = path.split(separator: "/")
        var methods = routes.withLock { routes in
            Set((routes[segments.count] ?? []).filter { $0.matches(segments) }.map(\.method))
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
