import BillowEngine
import BillowExchange
import BillowHTTP
import BillowSync
import Foundation
import UpstreamSimulator

/// The parts of the documentation that are generated from the code, between `<!-- generated: NAME -->` and
/// `<!-- end -->`.
enum ReferencePages {
    /// The pages that have such a part, relative to the documentation's folder.
    static let pages = [
        "settings.md", "command-line.md", "http/errors.md", "http/events.md", "http/administration.md",
        "http/features.md", "http/README.md", "concepts.md", "import.md",
        "operating/metrics.md",
    ]

    enum Page: String, CaseIterable {
        case settings, commands, faults, errors, events, failures, refusals, layers, collections, properties
        case kinds, changing, products, names, areas, metrics

        func markdown() throws -> String {
            switch self {
            case .settings: SettingsReference.markdown()
            case .commands: try CommandReference.markdown()
            case .layers: DatasetReference.layers
            case .collections: DatasetReference.collections
            case .properties: DatasetReference.properties
            case .kinds: DatasetReference.kinds
            case .changing: DatasetReference.changing
            case .products: DatasetReference.products
            case .names: DatasetReference.names
            case .areas: DatasetReference.areas
            case .metrics:
                Markdown.head(["metric", "kind", "labels", "meaning"])
                    + MetricDescription.all.map { metric in
                        Markdown.row([
                            "`\(metric.name)`", metric.kind.rawValue,
                            metric.labels.isEmpty ? "–" : metric.labels.map { "`\($0)`" }.joined(separator: ", "),
                            metric.help,
                        ])
                    }.joined()
            case .faults: Fault.allCases.map { "- `\($0.rawValue)`\n" }.joined()
            case .errors:
                Markdown.head(["code", "status", "meaning"])
                    + ProblemCode.allCases.map {
                        Markdown.row(["`\($0.rawValue)`", "\($0.statusCode)", $0.meaning])
                    }.joined()
            case .events:
                Markdown.head(["event", "data", "when"])
                    + EventName.allCases.map {
                        Markdown.row([
                            "`\($0.rawValue)`", $0.members.map { "`\($0)`" }.joined(separator: ", "), $0.meaning,
                        ])
                    }.joined()
            case .failures:
                Markdown.head(["failure", "meaning"])
                    + SyncError.Code.allCases.map { Markdown.row(["`\($0.rawValue)`", $0.meaning]) }.joined()
            case .refusals:
                Markdown.head(["code of a refused observation", "meaning"])
                    + RefusalCode.allCases.map { Markdown.row(["`\($0.rawValue)`", $0.meaning]) }.joined()
            }
        }
    }

    /// The names of the generated parts of a page, in its order.
    static func parts(of page: String) -> [String] {
        page.matches(of: /<!-- generated: ([a-z]+) -->\n/).map { String($0.1) }
    }

    /// A page with its generated parts made anew.
    ///
    /// - Throws: `Failure` for a part that the code doesn't generate, or without an end.
    static func updated(_ page: String) throws -> String {
        var result = ""
        var rest = page[...]
        while let mark = rest.firstMatch(of: /<!-- generated: ([a-z]+) -->\n/) {
            guard let part = Page(rawValue: String(mark.1)) else {
                throw Failure(.data, "there is no generated part '\(mark.1)'")
            }
            guard let end = rest[mark.range.upperBound...].range(of: "<!-- end -->") else {
                throw Failure(.data, "the generated part '\(mark.1)' has no end")
            }
            result += rest[..<mark.range.upperBound]
            result += "\n" + (try part.markdown()) + "\n"
            rest = rest[end.lowerBound...]
        }
        return result + rest
    }

    /// Makes the generated parts of all pages anew.
    static func write(in folder: String) throws {
        for page in pages {
            let path = folder + "/" + page
            do {
                let text = try String(contentsOfFile: path, encoding: .utf8)
                let new = try updated(text)
                if new != text { try new.write(toFile: path, atomically: true, encoding: .utf8) }
            } catch let failure as Failure { throw failure } catch {
                throw Failure(.inputOutput, "\(path) can't be read or written: \(error.localizedDescription)")
            }
        }
    }
}
