import Testing
import Turbulence

@Suite("Addresses of aircraft")
struct ICAO24Tests {
    @Test(
        "an address is six digits of either case",
        arguments: [("4CA1fa", "4ca1fa"), ("000001", "000001"), ("ffffff", "ffffff")])
    func sixDigitsOfEitherCase(text: String, written: String) { #expect(ICAO24(text)?.text == written) }

    @Test("nothing else is an address", arguments: ["", "4ca1f", "4ca1fa0", "+4ca1f", "4ca1fg", "４ca1fa", " 4ca1f"])
    func nothingElse(text: String) { #expect(ICAO24(text) == nil) }
}
