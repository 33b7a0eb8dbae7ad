import BillowSync
import Logging
import OpenSky
import SkyPath
import UpstreamKit

enum Logs {
    /// The secrets that no log may contain.
    static let secrets = SecretRegister()

    /// Structured lines on standard error, as the settings want them.
    static func start(_ settings: Settings) -> Logger {
        start(level: settings.logLevel, format: settings.logFormat, secrets: settings.secrets)
    }

    static func start(level: String, format: LogFormat = .text, secrets: [Secret] = []) -> Logger {
        let level = Logger.Level(rawValue: level) ?? .info
        Self.secrets.add(secrets)
        let output = LogOutput(redaction: LogRedaction(Self.secrets))
        LoggingSystem.bootstrap { label in
            var handler: any LogHandler =
                switch format {
                case .text: StreamLogHandler(label: label, stream: output)
                case .json: JSONLogHandler(label: label, output: output)
                }
            handler.logLevel = level
            return handler
        }
        return Logger(label: "billow")
    }
}

extension Settings {
    /// The secrets that no log may contain.
    var secrets: [Secret] {
        sources.flatMap { source -> [Secret?] in
            switch source.kind {
            case .skyPath(let settings): [settings.configuration.apiKey]
            case .openSky(let settings): [settings.configuration.credentials?.clientSecret]
            case .billow(let settings): [settings.configuration.apiKey]
            case .aviationWeather, .noaa, .inbox: []
            }
        }.compactMap(\.self)
    }
}
