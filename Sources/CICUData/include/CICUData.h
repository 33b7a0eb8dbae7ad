// Nothing: the data is found by the name that ICU gives it.
