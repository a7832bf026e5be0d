package slowlog

// TablesOf returns the tables of a statement with the given fingerprint, in order
// of appearance, at most 16, spelled as in the statement.
func TablesOf(fingerprint string, sql []byte) []string { return tablesOf(fingerprint, sql) }
