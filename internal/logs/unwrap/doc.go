// Package unwrap removes what carries a log: the records of Docker, CRI, the
// journal, syslog, Cloud Logging and other shippers, the names that Compose writes
// before each line, the headers of tail -f, colours, and NUL bytes that copytruncate
// leaves. Readers of logs get the lines that the program wrote.
//
// Find looks at the first bytes of a log and returns a [Chain] of layers, the outer one
// first. A layer changes one line at a time, so that a log needs no more memory than
// its longest line; lines that a shipper cut into parts are joined again.
//
// Two kinds of layers differ in how sure they are. The form of a certain one occurs in
// no log by itself, and is always removed. The form of a possible one (a time before
// each line, a JSON object with a "message") may be the log's own: a reader tries it
// only if it does not recognise the log as it is.
package unwrap
