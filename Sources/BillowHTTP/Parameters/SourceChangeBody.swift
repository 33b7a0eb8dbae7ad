package import Foundation
package import JSONKit

/// The body of a change of a source: settings by name. They may be nested under `query`, as in the settings file and
/// the response, or be beside `update`.
package struct SourceChangeBody: Sendable {
    /// The settings to change, by name; none for an empty body.
    package let members: [String: JSONValue]

    /// The most bytes of a body.
    package static let longest = 256 << 10

    /// - Throws: `ParameterProblem` unless the bytes are a JSON object, or none.
    package init(_ bytes: Data) throws(ParameterProblem) {
        if bytes.isEmpty {
            members = [:]
            return
        }
        guard case .object(var members)? = try? JSONDecoder().decode(JSONValue.self, from: bytes) else {
            throw ParameterProblem(
                .invalidBody, detail: "The body is no JSON object.", parameter: "body",
                value: String(decoding: bytes.prefix(100), as: UTF8.self), allowed: "a JSON object")
        }
        if case .object(let query)? = members["query"] {
            members["query"] = nil
            members.merge(query) { $1 }
        }
        self.members = members
    }
}
