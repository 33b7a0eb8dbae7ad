import Foundation
import Testing

@testable import OpenSky

/// Payloads made by hand, of the service's shapes.
@Suite("What is read of an answer")
struct ReplyTests {
    private func states(_ text: String) throws -> StateVectors { try OpenSkyReplyReader.states(Array(text.utf8)) }

    private let full =
        (#"["3c6444","DLH9LF  ","Germany",1700000000,1700000001,8.5706,50.0333,10668,false,231.5,"#
            + #"359.99,-3.25,[7,8],10900.5,"1000",true,2,6]"#)

    @Test("every column is read in its unit")
    func everyColumnIsReadInItsUnit() throws {
        let vectors = try states(#"{"time":1700000001,"states":[\#(full)]}"#)
        #expect(vectors.time == date(1_700_000_001))
        let vector = try #require(vectors.vectors.first)
        let expected = try StateVector(
            address: address("3c6444"), callsign: "DLH9LF", originCountry: "Germany",
            positionTime: date(1_700_000_000), lastContact: date(1_700_000_001), longitude: 8.5706, latitude: 50.0333,
            barometricAltitude: Length(metres: 10_668), geometricAltitude: Length(metres: 10_900.5),
            isOnGround: false, groundSpeed: Speed(metresPerSecond: 231.5), trackDegrees: 359.99,
            verticalRate: Speed(metresPerSecond: -3.25), sensors: [7, 8], squawk: "1000", isSpecialPurpose: true,
            positionSource: .multilateration, category: EmitterCategory(rawValue: 6))
        #expect(vector == expected)
        #expect(vectors.counts.read == 1 && vectors.counts.skipped.isEmpty && vectors.counts.droppedValues == 0)
        let altitude = try #require(vector.barometricAltitude)
        let speed = try #require(vector.groundSpeed)
        #expect(Int(altitude.feet.rounded()) == 35_000)
        #expect(abs(speed.knots - 450) < 0.01)
        #expect(abs(Speed(metresPerSecond: 5.08).feetPerMinute - 1_000) < 1e-9)
        #expect("\(vector.positionSource)" == "MLAT" && vector.category?.description == "heavy")
    }

    /// A null costs its value, and only in the address's or both times' place the row.
    @Test("a null anywhere costs only itself", arguments: 0..<18)
    func aNullAnywhereCostsOnlyItself(column: Int) throws {
        let whole = try #require(try states(#"{"states":[\#(full)],"time":1700000001}"#).vectors.first)
        var columns = try #require(JSONSerialization.jsonObject(with: Data(full.utf8)) as? [Any])
        columns[column] = NSNull()
        let row = String(decoding: try JSONSerialization.data(withJSONObject: columns), as: UTF8.self)
        let answer = try states(#"{"states":[\#(row),\#(full)],"time":1700000001}"#)
        #expect(answer.counts.read == 2 && answer.counts.droppedValues == 0)
        #expect(answer.vectors.last == whole)
        guard column != 0 else {
            #expect(answer.vectors.count == 1 && answer.counts.skipped == [.address: 1])
            return
        }
        let vector = try #require(answer.vectors.first)
        #expect(answer.vectors.count == 2 && vector.address == whole.address)
        #expect((vector.longitude == nil) == (column == 5 || column == 6))
        #expect((vector.latitude == nil) == (column == 5 || column == 6))
        #expect(vector.lastContact == (column == 4 ? whole.positionTime : whole.lastContact))
        #expect((vector.barometricAltitude == nil) == (column == 7))
        #expect((vector.sensors == nil) == (column == 12))
    }

    @Test("bad rows are counted by reason and cost no other")
    func badRowsAreCountedByReasonAndCostNoOther() throws {
        let rows = [
            "null", "{}", #""row""#, "17", "[]", #"[17]"#, #"["zzzzzz"]"#, #"["3c644"]"#,
            #"["3c6444",null,null,null,null]"#,
            #"["3c6444","","",1,2]"#, full,
        ]
        let answer = try states(#"{"time":1700000001,"states":[\#(rows.joined(separator: ","))]}"#)
        #expect(answer.vectors.count == 1)
        #expect(answer.counts.read == rows.count)
        #expect(answer.counts.skipped == [.unreadable: 4, .address: 4, .time: 2])
    }

    @Test("values of another type or out of range are nil")
    func valuesOfAnotherTypeOrOutOfRangeAreNil() throws {
        let row =
            (#"["3C6444",7,false,"soon",1700000001,181,50,1e99,"no","fast",361,-9999,"none",true,1200,"#
                + #""?","x","heavy",{"new":1}]"#)
        let answer = try states(#"{"time":1700000001,"states":[\#(row)]}"#)
        let vector = try #require(answer.vectors.first)
        #expect(try vector == StateVector(address: address("3c6444"), lastContact: date(1_700_000_001)))
        #expect(answer.counts.droppedValues == 15)
    }

    @Test("undocumented numbers are preserved")
    func numbersThatAreNotDocumentedAreKept() throws {
        let row =
            #"["3c6444","        ","X",null,1700000001.0,-180,-90,-30.48,true,0,360,0,[],0,"",false,9,-1]"#
        let vector = try #require(try states(#"{"time":1.700000001E9,"states":[\#(row)]}"#).vectors.first)
        #expect(vector.positionSource.rawValue == 9 && "\(vector.positionSource)" == "unknown (9)")
        #expect(vector.category?.rawValue == -1 && vector.category?.description == "unknown (-1)")
        #expect(vector.callsign == nil && vector.squawk == nil && vector.sensors == [])
        #expect(vector.trackDegrees == 0 && vector.longitude == -180 && vector.isOnGround)
    }

    /// As a real snapshot has them.
    @Test(
        "a track to the left is brought to 0 to 360",
        arguments: [("-109.4", 250.6), ("-0.0", 0), ("-180", 180), ("359.99", 359.99)])
    func aTrackToTheLeftIsBroughtTo0To360(text: String, degrees: Double) throws {
        let row = #"["3c6444","","",1,1700000001,8,50,0,false,1,\#(text)]"#
        let vector = try #require(try states(#"{"time":1700000001,"states":[\#(row)]}"#).vectors.first)
        #expect(abs((vector.trackDegrees ?? -1) - degrees) < 1e-9)
    }

    @Test("no states is empty and not a failure")
    func noStatesIsEmptyAndNotAFailure() throws {
        for text in [#"{"states":null,"time":1700000001}"#, #"{"time":1700000001,"states":[]}"#] {
            let answer = try states(text)
            #expect(answer.vectors.isEmpty && answer.time == date(1_700_000_001))
        }
    }

    @Test(
        "an invalid response is an error with its reason",
        arguments: [
            ("", UnreadableResponse.empty), ("  \n", .empty), ("<html>", .html),
            (#"{"time":1700000001}"#, .missing("states")),
            ("[]", .missing("states")), ("null", .missing("states")), (#"{"states":7,"time":1}"#, .missing("states")),
            (#"{"states":null}"#, .missing("time")), (#"{"states":[["3c6444""#, .notJSON(atByte: 20)),
            (#"{"states":null,"time":1} x"#, .notJSON(atByte: 25)),
        ])
    func whatIsNoAnswerSaysWhy(text: String, reason: UnreadableResponse) {
        #expect(throws: UpstreamError.unreadable(reason)) { try states(text) }
    }

    @Test("a missing time is that of the newest vector")
    func aMissingTimeIsThatOfTheNewestVector() throws {
        #expect(try states(#"{"states":[\#(full)],"time":null}"#).time == date(1_700_000_001))
    }

    @Test("flights are read with airports that may be missing")
    func flightsAreReadWithAirportsThatMayBeMissing() throws {
        let text =
            (#"[{"icao24":"3c6444","firstSeen":1700000000,"estDepartureAirport":"EDDF","#
                + #""lastSeen":1700003600,"estArrivalAirport":null,"callsign":"DLH9LF  ","#
                + #""estDepartureAirportHorizDistance":310,"estDepartureAirportVertDistance":23,"#
                + #""estArrivalAirportHorizDistance":null,"estArrivalAirportVertDistance":null,"#
                + #""departureAirportCandidatesCount":1,"arrivalAirportCandidatesCount":0,"new":{}},"#)
            + #"{"icao24":"3c6445","firstSeen":null,"lastSeen":1.7000036E9},null,{"icao24":null},{"icao24":"3c6446"}]"#
        let answer = try OpenSkyReplyReader.flights(Array(text.utf8))
        let first = try Flight(
            address: address("3c6444"), callsign: "DLH9LF", firstSeen: date(1_700_000_000),
            lastSeen: date(1_700_003_600),
            departure: Flight.EstimatedAirport(
                code: "EDDF", horizontalDistance: Length(metres: 310), verticalDistance: Length(metres: 23)),
            departureCandidates: 1)
        let second = try Flight(
            address: address("3c6445"), firstSeen: date(1_700_003_600), lastSeen: date(1_700_003_600))
        #expect(answer.flights == [first, second])
        #expect(answer.counts.skipped == [.unreadable: 1, .address: 1, .time: 1])
        #expect(throws: UpstreamError.unreadable(.missing("the list of flights"))) {
            try OpenSkyReplyReader.flights(Array("{}".utf8))
        }
    }

    @Test("a track takes latitude first and times in exponent form")
    func aTrackTakesLatitudeFirstAndTimesInExponentForm() throws {
        let text =
            (#"{"icao24":"0ac382","callsign":"HK5220  ","startTime":1.694114383E9,"#
                + #""endTime":1.694115007E9,"path":[[1694114383,5.0259,-73.9715,3048,218,false],[1694114388,"#
                + #"null,null,null,null,true],[1694115007,5,181,0,0,false],[null,1,2,3,4,false],7]}"#)
        let track = try OpenSkyReplyReader.track(Array(text.utf8))
        #expect(try track.address == address("0ac382") && track.callsign == "HK5220")
        #expect(track.start == date(1_694_114_383) && track.end == date(1_694_115_007))
        #expect(
            track.path == [
                Track.Waypoint(
                    time: date(1_694_114_383), longitude: -73.9715, latitude: 5.0259,
                    barometricAltitude: Length(metres: 3_048), trackDegrees: 218),
                Track.Waypoint(time: date(1_694_114_388), isOnGround: true),
                Track.Waypoint(time: date(1_694_115_007), barometricAltitude: Length(metres: 0), trackDegrees: 0),
            ])
        #expect(track.counts.read == 5 && track.counts.skipped == [.time: 1, .unreadable: 1])
    }

    @Test("an address is six hexadecimal digits")
    func anAddressIsSixHexadecimalDigits() {
        for text in ["3c6444", "3C6444", "000000", "ffffff"] {
            #expect(TransponderAddress(text)?.description == text.lowercased())
        }
        for text in ["", "1", "3c644", "3c64444", "3c644g", "+3c644", "123456789", "３c6444", "3c 444"] {
            #expect(TransponderAddress(text) == nil, "\(text)")
        }
        #expect(TransponderAddress(value: 0x100_0000) == nil)
    }
}
