import Turbulence

/// The value of `Content-Disposition`: a name with content and time, under which a client saves the response.
///
/// Source: RFC 6266
enum ContentDisposition {
    /// - Parameters:
    ///   - what: a collection, or layers separated by commas.
    ///   - isShown: whether a browser shows the response instead of saving it at once.
    static func text(_ what: String, _ instant: Instant, ending: String, isShown: Bool = false) -> String {
        let name = "\(what.replacing(",", with: "-"))-\(instant.compact).\(ending)"
        return "\(isShown ? "inline" : "attachment"); filename=\"\(name)\""
    }
}
