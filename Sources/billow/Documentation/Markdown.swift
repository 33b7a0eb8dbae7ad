/// Parts of a page.
enum Markdown {
    static func head(_ cells: [String]) -> String {
        row(cells) + "| " + cells.map { _ in "---" }.joined(separator: " | ") + " |\n"
    }

    static func row(_ cells: [String]) -> String {
        "| " + cells.map { $0.replacing("|", with: "\\|").replacing("\n", with: " ") }.joined(separator: " | ") + " |\n"
    }
}
