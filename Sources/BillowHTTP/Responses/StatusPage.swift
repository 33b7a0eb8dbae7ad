import BillowEngine
import HTTPTypes
import JSONKit

/// `/status` as an HTML page.
enum StatusPage {
    /// Whether an `Accept` header asks for HTML. A client that accepts anything counts as a program.
    static func isWanted(_ accept: String?) -> Bool { accept?.contains("text/html") == true }

    /// The columns of a source's row, after its id.
    private static let columns: [(title: String, member: String)] = [
        ("State", "state"), ("Kind", "kind"), ("Last success", "lastSuccess"), ("Age, s", "ageSeconds"),
        ("Lag, s", "lagSeconds"), ("Next attempt", "nextAttempt"), ("Update", "update"),
    ]

    private static let style = """
        :root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
        body{margin:2rem auto;max-width:72rem;padding:0 1rem}
        h1{font-size:1.4rem;margin:0 0 .25rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}
        table{border-collapse:collapse;width:100%}
        th,td{text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid #8886;vertical-align:top}
        .bad{color:#c22;font-weight:600}.note{opacity:.75}
        @media(prefers-color-scheme:dark){.bad{color:#f77}}
        """

    /// The headers of the page; its inline style sheet is allowed by its hash.
    static let headers: HTTPFields = {
        var headers = PageRules(publicURL: nil, style: style).headers
        headers[.contentType] = "text/html; charset=utf-8"
        return headers
    }()

    private static func head(_ rest: String) -> String {
        """
        <!doctype html><html lang="en"><meta charset="utf-8"><title>Billow: status</title>
        <link rel="icon" href="icon.svg"><meta name="viewport" content="width=device-width">\(rest)
        <style>\(style)</style><body>

        """
    }

    /// A page that asks for an access key and then shows the status.
    static let keyForm =
        head("<script type=\"module\" src=\"js/status-page.js\"></script>") + """
            <h1>Billow: status</h1><p class="note">This server's status needs a key with scope read.</p>
            <noscript><p>This page needs JavaScript to send a key. A program sends it in the header X-API-Key.</p>\
            </noscript>
            </body></html>

            """

    static func html(_ status: JSONValue) -> String {
        let sources = status["sources"]?.array ?? []
        var page =
            head("<meta http-equiv=\"refresh\" content=\"15\">") + """
                <h1>Billow is \(headline(status))</h1>
                <p class="note">\(text(status["now"])) · version \(text(status["version"])) · \
                \(text(status["liveObservations"])) live observations · up since \(text(status["started"]))</p>
                """
        if let failure = status["storeFailure"]?.string {
            page += "<p class=\"bad\">The store can't be read: \(escaped(failure))</p>"
        }
        for damage in status["damage"]?.array ?? [] {
            page += "<p class=\"bad\">Rows of table \(text(damage["table"])) can't be read: see the log</p>"
        }
        page += "<h2>Sources</h2><table><tr><th>Source</th>"
        page += columns.map { "<th>\($0.title)</th>" }.joined() + "<th>Taken</th><th>Skipped</th></tr>"
        for source in sources { page += row(source) }
        page += sources.isEmpty ? "<tr><td class=\"note\">none</td></tr>" : ""
        return page + "</table><p class=\"note\"><a href=\"./\">Map</a></p></body></html>\n"
    }

    private static func headline(_ status: JSONValue) -> String {
        if status["draining"] == .bool(true) { return "stopping" }
        guard status["ready"] == .bool(true) else { return "<span class=\"bad\">not ready</span>" }
        let made = status["simulated"] == .bool(true) ? ", and its data is simulated" : ""
        return status["stale"] == .bool(true)
            ? "<span class=\"bad\">serving stale data</span>\(made)" : "serving\(made)"
    }

    private static func row(_ source: JSONValue) -> String {
        let isBad = source["stale"] == .bool(true) || source["lastError"] != nil || source["disabled"] != nil
        var cells = "<td\(isBad ? " class=\"bad\"" : "")>\(text(source["id"]))</td>"
        for column in columns { cells += "<td>\(text(source[column.member]))</td>" }
        cells += "<td>\(text(source["counts"]?["accepted"]))</td><td>\(reasons(source["counts"]?["skipped"]))</td>"
        var rows = "<tr>\(cells)</tr>"
        func addLine(_ html: String) {
            rows += "<tr><td></td><td class=\"bad\" colspan=\"\(columns.count + 2)\">\(html)</td></tr>"
        }
        if let error = source["lastError"] {
            addLine("\(text(error["code"])): \(text(error["message"])) (\(text(error["at"])))")
        }
        if case .object(let types)? = source["disabled"] {
            for (type, words) in types.sorted(by: { $0.key < $1.key }) { addLine("\(escaped(type)): \(text(words))") }
        }
        return rows
    }

    private static func reasons(_ skipped: JSONValue?) -> String {
        guard case .object(let counts)? = skipped, !counts.isEmpty else { return "–" }
        return counts.sorted { $0.key < $1.key }.map { "\(text($0.value)) \(escaped($0.key))" }.joined(
            separator: "<br>")
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): escaped(text)
        case nil, .null: "–"
        case .some(let value): escaped(value.text)
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
