/// A simulated fault. The raw value is its name on the command line and in the control route.
package enum Fault: String, CaseIterable, Sendable {
    // Responses with wrong or unusual content.
    /// A delta repeats the records of the last ten minutes before the cursor, and every record twice.
    case duplicatesAtCursor = "duplicates-at-cursor"
    /// The worst cells of each response (severity 3 and 4, up to eight) are observed again as smooth, permanently.
    case fallingSeverity = "falling-severity"
    /// Ids of resolution 10, as in the reference's example.
    case resolution10 = "resolution-10"
    /// Ids of resolution 4, which is too coarse.
    case resolution4 = "resolution-4"
    /// Records without an `edr` member.
    case missingEDR = "missing-edr"
    /// Severity 5 instead of 4.
    case severity5 = "severity-5"
    /// Every fifth record is invalid: nulls, strings, numbers out of range, not an object.
    case wrongTypes = "wrong-types"
    /// Responses without records.
    case empty
    /// `lastUpdatedAt` and the tick are a minute in the past.
    case clockSkew = "clock-skew"
    /// `lastUpdatedAt` is ten years in the future.
    case futureCursor = "future-cursor"
    /// `lastUpdatedAt` and the tick are missing.
    case missingCursor = "missing-cursor"
    /// Every second record is missing.
    case halfGone = "half-gone"
    /// The last altitude of the bulk response is missing.
    case unequalArrays = "unequal-arrays"

    // Faults of NOAA's files.
    /// Every file appears an hour late.
    case lateFiles = "late-files"
    /// Each file has half of its bytes, was just modified, and has no index.
    case growingFile = "growing-file"
    /// Each call gets another version of a file.
    case replacedFile = "replaced-file"
    /// No file has an index.
    case missingIndex = "missing-index"
    /// The second half of every third message is missing.
    case truncatedMessage = "truncated-message"
    /// Every third message has a wrong length in its header.
    case wrongLength = "wrong-length"
    /// The response to a range is the whole file.
    case rangeIgnored = "range-ignored"
    /// The response to a range is another range.
    case wrongRange = "wrong-range"
    /// The response is a 302 to another host.
    case redirected

    // Error responses.
    /// The response is a 401.
    case unauthorized
    /// The next call succeeds, later ones get 401.
    case sessionRevoked = "session-revoked"
    /// The response is a 403, FEATURE_DISABLED.
    case forbidden
    /// The response is a 423.
    case locked
    /// The response is a 426.
    case upgradeRequired = "upgrade-required"
    /// The response is a 429 with `Retry-After: 60`.
    case rateLimited = "rate-limited"
    /// The response is a 500.
    case serverError = "server-error"
    /// The response is a 503 with `Retry-After` as a date, two minutes in the future.
    case unavailable
    /// A delta gets 400 CURSOR_EXPIRED; a complete fetch succeeds.
    case deltaRefused = "delta-refused"

    // Faults of the transport.
    /// Half of the announced bytes are sent, then the connection closes.
    case truncatedBody = "truncated-body"
    /// A complete response with truncated JSON.
    case cutJSON = "cut-json"
    /// The body is sent a few bytes at a time.
    case slowBody = "slow-body"
    /// 200 with an HTML page, as from a captive portal.
    case htmlPage = "html-page"
    /// 200 with no body.
    case emptyBody = "empty-body"
    /// The connection is closed before any response.
    case connectionReset = "connection-reset"
}
