/// Parses and formats ISO 8601 durations of weeks, days, hours, minutes and seconds. Months and years are rejected,
/// because they have no fixed length.
///
/// Source: ISO 8601-1:2019 section 5.5.2
package enum ISODuration {
    /// The maximum duration: ten years.
    package static let longestSeconds = 3_653 * 86_400

    /// Parses a duration to whole seconds, at most ten years; nil for any other text.
    package static func seconds(_ text: some StringProtocol) -> Int? {
        guard text.first == "P", text.utf8.count <= 32 else { return nil }
        var total = 0
        var number = ""
        var isTime = false
        var order = 0
        for character in text.dropFirst() {
            if character == "T" {
                guard !isTime, number.isEmpty else { return nil }
                isTime = true
                continue
            }
            if character.isASCII, character.isNumber {
                number.append(character)
                continue
            }
            let units: [Character: (Int, Int)] =
                isTime ? ["H": (3, 3_600), "M": (4, 60), "S": (5, 1)] : ["W": (1, 604_800), "D": (2, 86_400)]
            guard let (place, unit) = units[character], place > order, number.count <= 9, let count = Int(number) else {
                return nil
            }
            order = place
            total += count * unit
            number = ""
        }
        guard number.isEmpty, order > 0, text.last != "T", total <= longestSeconds else { return nil }
        return total
    }

    /// Formats a number of seconds, 0 or more: `P7D`, `PT2H30M`, `PT0S`.
    package static func text(_ seconds: Int) -> String {
        let (days, rest) = max(seconds, 0).quotientAndRemainder(dividingBy: 86_400)
        let parts = [(rest / 3_600, "H"), (rest / 60 % 60, "M"), (rest % 60, "S")]
        let time = parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
        if days == 0, time.isEmpty { return "PT0S" }
        return "P" + (days > 0 ? "\(days)D" : "") + (time.isEmpty ? "" : "T\(time)")
    }
}
