extension SkyPathWire {
    /// The syntax of a name or path in messages.
    package enum Form: Sendable, Hashable {
        /// The path of a call.
        case path
        /// The name of a header field.
        case header
        /// The name of a member in JSON.
        case member
        /// The name of a query parameter, which may also be a member.
        case parameter

        package var expected: String {
            switch self {
            case .path: "a path that begins with / and has no blank, ?, # or %"
            case .header: "a header's name of letters, digits and -, and none that HTTP itself needs"
            case .member: "1 to 100 characters"
            case .parameter: "1 to 100 letters, digits, -, _, . and ~"
            }
        }

        /// Whether a text has this syntax.
        ///
        /// Source: RFC 3986 sections 2.3 and 3.3, RFC 9110 section 5.6.2 (a common subset of its tokens)
        package func allows(_ text: String) -> Bool {
            func isPlain(_ byte: UInt8) -> Bool {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
            guard (1...100).contains(text.utf8.count) else { return false }
            return switch self {
            case .path:
                text.first == "/" && text.utf8.allSatisfy { isPlain($0) || "/_.~!$&'()*+,;=:@".utf8.contains($0) }
            case .header: text.utf8.allSatisfy(isPlain) && !Self.headersOfHTTP.contains(text.lowercased())
            case .member: text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
            case .parameter: text.utf8.allSatisfy { isPlain($0) || "_.~".utf8.contains($0) }
            }
        }

        private static let headersOfHTTP: Set = [
            "accept", "accept-encoding", "connection", "content-length", "content-type", "expect", "host", "te",
            "trailer",
            "transfer-encoding", "upgrade",
        ]
    }

    /// A configurable name or path.
    package struct Setting: Sendable {
        /// The name of the setting.
        package let name: String
        package let value: any WritableKeyPath<SkyPathWire, String> & Sendable
        package let form: Form

        init(_ name: String, _ value: any WritableKeyPath<SkyPathWire, String> & Sendable, _ form: Form) {
            self.name = name
            self.value = value
            self.form = form
        }
    }

    /// All names and paths that SkyPath doesn't document.
    package static let settings = [
        Setting("corridorPath", \.corridorPath, .path), Setting("hexagonsPath", \.hexagonsPath, .path),
        Setting("mapPath", \.mapPath, .path), Setting("polygonsPath", \.polygonsPath, .path),
        Setting("nowcastPath", \.nowcastPath, .path), Setting("flightsPath", \.flightsPath, .path),
        Setting("pirepsPath", \.pirepsPath, .path), Setting("sessionPath", \.sessionPath, .path),
        Setting("apiKeyHeader", \.apiKeyHeader, .header), Setting("accessTokenHeader", \.accessTokenHeader, .header),
        Setting("updatedSince", \.updatedSince, .member), Setting("hoursAgo", \.hoursAgo, .parameter),
        Setting("aircraftCategory", \.aircraftCategory, .member), Setting("minAltitude", \.minAltitude, .parameter),
        Setting("maxAltitude", \.maxAltitude, .parameter), Setting("minSeverity", \.minSeverity, .parameter),
        Setting("tick", \.tick, .member), Setting("fields", \.fields, .member),
        Setting("turbulence", \.turbulence, .member), Setting("geofence", \.geofence, .member),
        Setting("mapRecordSeverity", \.mapRecord.severity, .member),
        Setting("mapRecordObservedAt", \.mapRecord.observedAt, .member),
        Setting("mapRecordEDR", \.mapRecord.edr, .member),
    ]

    /// A problem: the setting, and a sentence about its value.
    package struct Problem: Sendable, Hashable {
        package let setting: String
        package let text: String
    }

    /// All problems; empty if the names are usable.
    package var problems: [Problem] {
        let unusable = Self.settings.filter { !$0.form.allows(self[keyPath: $0.value]) }.map {
            Problem(setting: $0.name, text: "is '\(self[keyPath: $0.value])'; it must be \($0.form.expected)")
        }
        var settings = Set<String>()
        return (unusable + Self.calls.flatMap(sharedNames)).filter { settings.insert($0.setting).inserted }
    }

    /// Names that must differ, because they occur in one message.
    private static let calls: [(name: String, names: [any WritableKeyPath<SkyPathWire, String> & Sendable])] = [
        (
            "the corridor call",
            [\.corridor, \.hoursAgo, \.minAltitude, \.maxAltitude, \.updatedSince, \.aircraftCategory]
        ),
        ("the bulk call", [\.hoursAgo, \.minAltitude, \.maxAltitude, \.minSeverity]),
        ("the map call", [\.mapHours, \.tick, \.fields, \.geofence, \.severities, \.aircraftCategory]),
        ("the map call's answer", [\.tick, \.turbulence]),
        (
            "a record of the map",
            [
                \.mapRecord.id, \.mapRecord.altitude, \.mapRecord.severity, \.mapRecord.edr, \.mapRecord.observedAt,
            ]
        ),
        ("the header of every call", [\.apiKeyHeader, \.accessTokenHeader]),
    ]

    private func sharedNames(
        _ call: String, _ names: [any WritableKeyPath<SkyPathWire, String> & Sendable]
    ) -> [Problem] {
        let standard = SkyPathWire()
        return names.indices.compactMap { index in
            let value = self[keyPath: names[index]]
            let others = names.indices.filter { $0 != index && self[keyPath: names[$0]] == value }
            // Of two equal names, report the one that was configured; if both were, report the second.
            guard let setting = Self.settings.first(where: { $0.value == names[index] }),
                value != standard[keyPath: names[index]],
                others.contains(where: {
                    $0 < index || self[keyPath: names[$0]] == standard[keyPath: names[$0]]
                })
            else { return nil }
            return Problem(setting: setting.name, text: "is '\(value)'; \(call) has another name with the same value")
        }
    }
}
