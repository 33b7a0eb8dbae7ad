/// How the simulator misbehaves. The raw value is its name on the command line and in the control route.
package enum Fault: String, CaseIterable, Sendable {
    // Answers with wrong or awkward content.
    /// A delta repeats the records of the last ten minutes before the cursor, and every record twice.
    case duplicatesAtCursor = "duplicates-at-cursor"
    /// The worst cells of each answer (severity 3 and 4, up to eight) are observed again, now smooth. It stays so.
    case fallingSeverity = "falling-severity"
    /// Ids of resolution 10, as the reference's example shows.
    case resolution10 = "resolution-10"
    /// Ids of resolution 4, too coarse to place.
    case resolution4 = "resolution-4"
    /// No `edr` member.
    case missingEDR = "missing-edr"
    /// Severity 5 in place of 4.
    case severity5 = "severity-5"
    /// Every fifth record is broken: nulls, strings, numbers out of range, not an object.
    case wrongTypes = "wrong-types"
    /// No records at all.
    case empty
    /// `lastUpdatedAt` and the tick are a minute behind.
    case clockSkew = "clock-skew"
    /// `lastUpdatedAt` is ten years ahead.
    case futureCursor = "future-cursor"
    /// Neither `lastUpdatedAt` nor a tick.
    case missingCursor = "missing-cursor"
    /// Every second record is missing.
    case halfGone = "half-gone"
    /// The bulk answer's altitudes lack the last one.
    case unequalArrays = "unequal-arrays"

    // Files of NOAA's grids.
    /// Every file appears an hour late.
    case lateFiles = "late-files"
    /// Each file has half of its bytes, changed this moment, and no index.
    case growingFile = "growing-file"
    /// Each call sees another version of a file.
    case replacedFile = "replaced-file"
    /// No file has an index.
    case missingIndex = "missing-index"
    /// Every third message lacks its second half.
    case truncatedMessage = "truncated-message"
    /// Every third message states a length that is not its own.
    case wrongLength = "wrong-length"
    /// A range is answered with the whole file.
    case rangeIgnored = "range-ignored"
    /// A range is answered with another one.
    case wrongRange = "wrong-range"
    /// 302 to another host.
    case redirected

    // Refusals.
    /// 401.
    case unauthorized
    /// The next call is answered, those after it get 401.
    case sessionRevoked = "session-revoked"
    /// 403, FEATURE_DISABLED.
    case forbidden
    /// 423.
    case locked
    /// 426.
    case upgradeRequired = "upgrade-required"
    /// 429 with `Retry-After: 60`.
    case rateLimited = "rate-limited"
    /// 500.
    case serverError = "server-error"
    /// 503 with `Retry-After` as a date, two minutes ahead.
    case unavailable
    /// A delta is refused with 400 CURSOR_EXPIRED; a whole fetch works.
    case deltaRefused = "delta-refused"

    // Broken transport.
    /// Half of the announced bytes, then the connection closes.
    case truncatedBody = "truncated-body"
    /// A complete answer whose JSON stops half way.
    case cutJSON = "cut-json"
    /// The body comes a few bytes at a time.
    case slowBody = "slow-body"
    /// 200 with an HTML page, as a captive portal gives.
    case htmlPage = "html-page"
    /// 200 with no body.
    case emptyBody = "empty-body"
    /// The connection is closed before any answer.
    case connectionReset = "connection-reset"
}
