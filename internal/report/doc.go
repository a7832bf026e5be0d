// Package report turns the words into text for people and programs: terminal
// tables that fit their width, TSV, CSV, Markdown and JSON. It computes
// nothing that the words do not say, and writes to the io.Writer it is given.
package report
