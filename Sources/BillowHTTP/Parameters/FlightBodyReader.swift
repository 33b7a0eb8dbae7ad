import BillowEngine
import Foundation
import Geometry
import Turbulence

/// Reads registrations of flights, as they are sent and as they were stored.
struct FlightBodyReader: FlightReader {
    let airports: AirportTable
    let areaLimitKm2: Double

    /// - Throws: `Problem` 400.
    func read(_ body: Data) throws(Problem) -> (AlertRequest, FlightMonitor.Follow) {
        let body = try JSONBody.decode(AlertBody.self, from: body)
        let request = try body.request(airports, areaLimitKm2: areaLimitKm2)
        guard request.time == .latest else {
            throw Problem(
                .invalidParameter, detail: "A flight is looked ahead for from now on; 'time' is for '/alerts' alone.",
                parameter: "time", value: "given", allowed: "latest")
        }
        return (request, try body.follow())
    }
}
