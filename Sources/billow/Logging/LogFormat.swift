/// How a line of the log is written.
enum LogFormat: String, Sendable, CaseIterable {
    /// For people.
    case text
    /// An object a line, for programs.
    case json
}
