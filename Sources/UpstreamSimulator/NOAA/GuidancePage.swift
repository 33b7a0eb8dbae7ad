import Foundation

/// Formats a directory page as Apache's `mod_autoindex`.
enum GuidancePage {
    /// A row of the page.
    struct Row {
        let name: String
        let isDirectory: Bool
        /// The time of modification in Unix seconds.
        let modifiedSeconds: Int
        /// The size as text, such as `28M`.
        let size: String
    }

    static func html(path: String, _ rows: [Row]) -> String {
        var lines = [
            #"<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">"#,
            "<html><head><title>Index of \(path)</title></head><body>", "<h1>Index of \(path)</h1>",
            #"<pre>      <a href="?C=N;O=D">Name</a>  <a href="?C=M;O=A">Last modified</a>  "#
                + #"<a href="?C=S;O=A">Size</a><hr>"#,
            #"<img src="/icons/back.gif" alt="[PARENTDIR]"> <a href="\#(parent(path))">Parent Directory</a>     -"#,
        ]
        lines += rows.map { row in
            let name = row.name + (row.isDirectory ? "/" : "")
            let icon = row.isDirectory ? "folder.gif\" alt=\"[DIR]" : "unknown.gif\" alt=\"[   ]"
            let time = Date(timeIntervalSince1970: Double(row.modifiedSeconds))
                .formatted(
                    .iso8601.year().month().day().dateTimeSeparator(.space).time(includingFractionalSeconds: false))
            return #"<img src="/icons/\#(icon)"> <a href="\#(name)">\#(name)</a>  \#(time.prefix(16))  \#(row.size)"#
        }
        return (lines + ["<hr></pre>", "</body></html>", ""]).joined(separator: "\n")
    }

    private static func parent(_ path: String) -> String {
        "/" + path.split(separator: "/").dropLast().map { $0 + "/" }.joined()
    }
}
