package import BillowEngine
package import Foundation
package import Geometry
import Turbulence

/// Parses registrations of flights, both from requests and from the store.
package struct FlightBodyReader: FlightReader {
    let airports: AirportTable
    package let areaLimitKm2: Double

    package init(airports: AirportTable, areaLimitKm2: Double) {
        self.airports = airports
        self.areaLimitKm2 = areaLimitKm2
    }

    /// - Throws: `ParameterProblem`.
    package func read(_ bytes: Data) throws(ParameterProblem) -> FlightRegistration {
        let body = try JSONBody.decode(AlertBody.self, from: bytes)
        let request = try body.request(airports, areaLimitKm2: areaLimitKm2)
        guard request.time == .latest else {
            throw ParameterProblem(
                .invalidParameter, detail: "A monitored flight always starts now; only '/alerts' takes 'time'.",
                parameter: "time", value: request.time.text, allowed: "latest")
        }
        if let departure = request.departure {
            throw ParameterProblem(
                .invalidParameter, detail: "A monitored flight always starts now; only '/alerts' takes 'departure'.",
                parameter: "departure", value: departure.description, allowed: "absent")
        }
        return FlightRegistration(body: bytes, request: request, positionSource: try body.positionSource())
    }
}
