package import Turbulence

extension Schema where Record == PilotReport {
    package static let pireps = Schema([
        Field(Property("type", .text, "PIREP, Urgent PIREP or AIREP", role: .title(rank: 5)), .text { $0.type }),
        Field(Property("aircraft", .text, "The aircraft's type, or the call sign of an AIREP"), .text { $0.aircraft }),
        Field(
            Property(
                "altitude", .integer, "The flight level", role: .altitude, unit: "ft", range: 0...60_000,
                filter: "minAltitude"),
            .integer { $0.altitudeFeet }),
        Field(.severity, .number { $0.severity }),
        Field(.severityName, .name { $0.severity }),
        Field(
            Property("observedAt", .instant, "The time of the observation", role: .time, filter: "datetime"),
            .instant { $0.observedAt }),
        Field(
            Property(
                "turbulence", .groups,
                "The turbulence groups: intensity, base, top, type and frequency of each; empty if there are none"
            ),
            .groups { $0.turbulence }),
        Field(Property("text", .text, "The text of the report"), .text { $0.text }),
        Field(.source, .text { $0.source.name }),
        Field(
            Property("kind", .text, "Always pilot-report", filter: "kind"),
            .text { _ in ObservationKind.pilotReport.name }),
    ])
}

extension Dataset {
    /// Pilot reports as they were sent.
    public static let pireps = Dataset(
        id: "pireps", title: "Pilot reports", shortTitle: "PIREPs",
        summary: "Pilot reports as they were sent, including those that don't mention turbulence.", kind: .reports,
        geometry: .point, content: .history(.reports), selection: .observed, timeProperty: "observedAt",
        drawing: .reports, properties: Schema.pireps.properties,
        origins: [Origin("skypath", "pireps"), .aircraftReports, .file], stacking: 90,
        isShownAtFirst: true)
}
