/// Formats parts of a Markdown page.
enum Markdown {
    /// The longest line in characters; rows of tables can't be wrapped.
    private static let width = 120

    /// A wrapped paragraph.
    static func paragraph(_ text: some StringProtocol) -> String {
        var lines = [""]
        for word in text.split(whereSeparator: \.isWhitespace) {
            let last = lines[lines.count - 1]
            if last.isEmpty || last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last.isEmpty ? String(word) : last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    static func head(_ cells: [String]) -> String {
        row(cells) + "| " + cells.map { _ in "---" }.joined(separator: " | ") + " |\n"
    }

    static func row(_ cells: [String]) -> String {
        "| " + cells.map { $0.replacing("|", with: "\\|").replacing("\n", with: " ") }.joined(separator: " | ") + " |\n"
    }
}
