import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// An XML document as a list of its elements, read by Foundation.
final class ReadXML: NSObject, XMLParserDelegate {
    struct Element {
        var path: String
        var attributes: [String: String]
        var text = ""
    }

    private(set) var elements: [Element] = []
    private var open: [Int] = []
    private var names: [String] = []

    /// - Throws: where it is not well-formed.
    init(_ text: String) throws {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.propertyListReadCorrupt) }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        names.append(name)
        open.append(elements.count)
        elements.append(Element(path: names.joined(separator: "/"), attributes: attributes))
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if let last = open.last { elements[last].text += text }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        open.removeLast()
        names.removeLast()
    }

    /// Those whose path ends so.
    func all(_ path: String) -> [Element] { elements.filter { $0.path == path || $0.path.hasSuffix("/\(path)") } }
    func texts(_ path: String) -> [String] {
        all(path).map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) }
    }
}
