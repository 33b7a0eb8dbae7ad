import BillowEngine
import HTTPTypes
import Hummingbird
import Synchronization

/// Which methods each path has. It is filled from the router, so that it can't differ from the routes there are.
final class RouteTable: Sendable {
    private struct Route {
        var components: [RouterPath.Element]
        var method: HTTPRequest.Method
    }

    private let routes = Mutex<[Route]>([])

    /// To be called when all routes are there.
    func fill<Context: RequestContext>(from router: Router<Context>) {
        let all = router.routes.map { Route(components: $0.path.components, method: $0.method) }
        routes.withLock { $0 = all }
    }

    /// The methods of a path in alphabetical order; empty where no route has the path.
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

/// What a path can be asked for by, as `Allow` lists it.
enum AllowedMethods {
    static func text(_ methods: [HTTPRequest.Method]) -> String {
        (methods.map(\.rawValue) + ["OPTIONS"]).joined(separator: ", ")
    }
}
