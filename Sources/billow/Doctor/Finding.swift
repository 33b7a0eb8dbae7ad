/// What a check of a set-up has found, as one line.
struct Finding: Sendable, Hashable {
    /// What was looked at. The raw values are stable: the output has them.
    enum Subject: String, Sendable, Hashable, Encodable, CaseIterable {
        case settings, libraries, fonts, viewer, styles, folders, disk, database, port, descriptors, clock, upstream
    }

    enum Status: String, Sendable, Hashable, Encodable {
        case ok
        /// Billow runs, and something is worse than it could be.
        case warning
        /// Something that the settings ask for doesn't work.
        case failure
    }

    var subject: Subject
    var status: Status
    /// One sentence without a stop at its end.
    var message: String
    /// The exit status that a failure leads to; nil where there is none.
    var kind: Failure.Kind?

    static func ok(_ subject: Subject, _ message: String) -> Finding {
        Finding(subject: subject, status: .ok, message: message)
    }

    static func warning(_ subject: Subject, _ message: String) -> Finding {
        Finding(subject: subject, status: .warning, message: message)
    }

    static func failure(_ subject: Subject, _ kind: Failure.Kind, _ message: String) -> Finding {
        Finding(subject: subject, status: .failure, message: message, kind: kind)
    }

    /// An error that the command line's own table has a status for.
    static func failure(_ subject: Subject, _ error: any Error) -> Finding {
        let failure = Failure(error)
        return .failure(subject, failure.kind, failure.message)
    }
}

extension Finding: Encodable {
    private enum Key: String, CodingKey {
        case subject, status, message
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(subject, forKey: .subject)
        try container.encode(status, forKey: .status)
        try container.encode(message, forKey: .message)
    }
}

/// All that was found.
struct DoctorReport: Sendable, Encodable {
    let findings: [Finding]
    /// The worst of all.
    let status: Finding.Status

    /// In the order of the subjects.
    init(_ findings: [Finding]) {
        self.findings = Finding.Subject.allCases.flatMap { subject in findings.filter { $0.subject == subject } }
        status =
            findings.contains { $0.status == .failure }
            ? .failure : findings.contains { $0.status == .warning } ? .warning : .ok
    }

    /// The exit status's kind: wrong settings before all else, as everywhere; nil where nothing failed.
    var kind: Failure.Kind? {
        let kinds = findings.compactMap(\.kind)
        return kinds.contains(.usage) ? .usage : kinds.first
    }

    /// A line for each finding.
    var text: String {
        findings.map { finding in
            let status = finding.status.rawValue.padding(to: 9)
            return status + finding.subject.rawValue.padding(to: 13) + finding.message + "\n"
        }.joined()
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
