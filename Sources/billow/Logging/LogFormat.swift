/// How a line of the log is written.
enum LogFormat: String, Sendable, CaseIterable {
    /// Lines for people.
    case text
    /// An object a line, for programs.
    case json
}
