/// The result of a check of the installation, as one line.
struct Finding: Sendable, Hashable {
    /// The subject of a check. Raw values are stable, because the output contains them.
    enum Subject: String, Sendable, Hashable, Encodable, CaseIterable {
        case settings, libraries, fonts, viewer, styles, certificate, folders, disk, database, port, descriptors, clock
        case upstream
    }

    enum Status: String, Sendable, Hashable, Encodable {
        case ok
        /// Billow runs, with a limitation.
        case warning
        /// Something that the settings require does not work.
        case failure
    }

    var subject: Subject
    var status: Status
    /// One sentence without a full stop.
    var message: String
    /// The exit status of a failure; nil for other findings.
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

    /// An error that has an exit status in the command line's table.
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

/// The results of all checks.
struct DoctorReport: Sendable, Encodable {
    let findings: [Finding]
    /// The most severe finding.
    let status: Finding.Status

    /// The findings in the order of their subjects.
    init(_ findings: [Finding]) {
        self.findings = Finding.Subject.allCases.flatMap { subject in findings.filter { $0.subject == subject } }
        status =
            findings.contains { $0.status == .failure }
            ? .failure : findings.contains { $0.status == .warning } ? .warning : .ok
    }

    /// The kind of the exit status, with wrong settings first, as in other commands; nil without a failure.
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

extension Finding.Subject {
    /// The subject of a setting that names a file or a folder.
    init(ofSetting path: String) {
        let subjects: [(setting: String, subject: Self)] = [
            ("server.publicFolder", .viewer), ("server.stylesFolder", .styles), ("server.tls", .certificate),
            ("database", .database),
        ]
        self = subjects.first { path == $0.setting || path.hasPrefix("\($0.setting).") }?.subject ?? .settings
    }
}
