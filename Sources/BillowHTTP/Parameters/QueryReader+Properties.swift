import BillowEngine
import Datasets

extension QueryReader {
    /// The parameter names for a list of properties: the names in OGC API Features and OGC API EDR, and the name that
    /// OWSLib sends.
    static let propertyLists = ["properties", "parameter-name", "parameter_names"]

    /// The properties that features are to have; nil for all.
    func properties(of collection: Dataset) throws(ParameterProblem) -> Set<String>? {
        let given = Self.propertyLists.filter { has($0) }
        guard let name = given.first, let text = text(name) else { return nil }
        if let other = given.dropFirst().first {
            throw invalid(other, self.text(other) ?? "", "left out where \(name) is given")
        }
        let known = collection.propertyNames
        var names: Set<String> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard known.contains(String(word)) else {
                throw invalid(name, text, "a list of \(known.joined(separator: ", "))")
            }
            names.insert(String(word))
        }
        return names
    }
}
