import BillowRaster

/// Writes an XML document. It escapes texts and attribute values; names are constants.
struct XMLWriter {
    private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

    typealias Attribute = (name: StaticString, value: String)

    private mutating func open(_ name: StaticString, _ attributes: [Attribute]) {
        text += "<\(name)"
        for attribute in attributes { text += " \(attribute.name)=\"\(XMLText.escaped(attribute.value))\"" }
    }

    /// An element without content.
    mutating func element(_ name: StaticString, _ attributes: [Attribute] = []) {
        open(name, attributes)
        text += "/>\n"
    }

    /// An element with a text.
    mutating func element(_ name: StaticString, _ attributes: [Attribute], _ content: String) {
        open(name, attributes)
        text += ">\(XMLText.escaped(content))</\(name)>\n"
    }

    /// An element with a text, and without attributes.
    mutating func element(_ name: StaticString, _ content: String) { element(name, [], content) }

    /// An element with elements.
    mutating func element(_ name: StaticString, _ attributes: [Attribute], _ content: (inout XMLWriter) -> Void) {
        open(name, attributes)
        text += ">\n"
        content(&self)
        text += "</\(name)>\n"
    }

    /// An element with elements, and without attributes.
    mutating func element(_ name: StaticString, _ content: (inout XMLWriter) -> Void) { element(name, [], content) }
}
