import AsyncHTTPClient
import Foundation
import TraceExport

/// Where spans go, and of which requests.
struct TracingSettings: Sendable {
    enum Destination: Sendable {
        case file(String)
        /// The address of a collector.
        case collector(String)
    }

    var destination: Destination
    /// The part of the requests that are recorded, unless their clients have decided it.
    var share = 1.0

    /// nil without a destination.
    init?(_ section: SettingsReader.Section) {
        let file = section.value("file", expected: "the path of a file") {
            $0.isEmpty || FileManager.default.isFolder($0) ? nil : $0
        }
        let endpoint = section.value(
            "endpoint", expected: "the http address of a collector, such as http://127.0.0.1:4318/v1/traces"
        ) { text in
            let parts = URLComponents(string: text)
            return ["http", "https"].contains(parts?.scheme) && parts?.host?.isEmpty == false && parts?.user == nil
                ? text : nil
        }
        let share = section.value("requests", expected: "a number from 0 to 1") {
            Double($0).flatMap { (0...1).contains($0) ? $0 : nil }
        }
        if file != nil, endpoint != nil { section.problem("endpoint", "can't be given beside file") }
        section.finish()
        guard let destination = file.map(Destination.file) ?? endpoint.map(Destination.collector) else { return nil }
        self.destination = destination
        self.share = share ?? self.share
    }
}

extension SpanDestination {
    init(_ destination: TracingSettings.Destination) {
        switch destination {
        case .file(let path): self = .file(path)
        case .collector(let address): self = .collector(at: address)
        }
    }
}
