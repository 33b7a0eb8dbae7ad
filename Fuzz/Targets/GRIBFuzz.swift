import GRIBKit
import Geometry

/// Bytes as messages of GRIB2: the splitter, the headers, and ecCodes behind its wrapper.
enum GRIBFuzz {
    /// Grids as small as the inputs, so that a run tries many.
    private static let limits = {
        var limits = GRIBLimits()
        limits.gridPoints = 10_000
        limits.messageBytes = 1 << 16
        return limits
    }()

    static func run(_ bytes: [UInt8]) {
        let items = items(bytes, cut: 0)
        // As it comes from a network: the cut may be anywhere, and makes no difference.
        let cut = self.items(bytes, cut: bytes.count / 2)
        precondition(items.map(place) == cut.map(place), "pieces")
        for case .message(let message) in items {
            for field in message.fields.indices { check(message, field) }
        }
    }

    private static func items(_ bytes: [UInt8], cut: Int) -> [GRIBMessages.Element] {
        var messages = GRIBMessages(limits: limits)
        return messages.read(bytes[..<cut]) + messages.read(bytes[cut...]) + messages.finish()
    }

    private static func place(_ item: GRIBMessages.Element) -> String {
        switch item {
        case .message(let message): "message \(message.number) at \(message.offset)"
        case .refused(let reason, let number, let offset): "\(reason) \(number) at \(offset)"
        }
    }

    private static func check(_ message: GRIBMessage, _ place: Int) {
        let header = message.fields[place]
        precondition((1...limits.gridPoints).contains(header.grid.count), "points")
        if let projection = try? GridProjection(header.grid) {
            let corner = GridPosition(x: Double(header.grid.columns - 1), y: Double(header.grid.rows - 1))
            precondition(projection.contains(corner), "a corner")
            if let lonLat = projection.lonLat(corner) { _ = projection.index(of: lonLat) }
        }
        guard let field = try? GRIBField(message, field: place) else { return }
        let statistics = field.statistics
        let counted = statistics.missing + statistics.usable + statistics.notANumber + statistics.huge
        precondition(field.values.count == header.grid.count && counted == header.grid.count, "values")
        precondition(
            field.values.count(where: \.isNaN) == statistics.missing + statistics.notANumber, "values without a number")
    }
}
