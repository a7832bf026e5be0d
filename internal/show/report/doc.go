// Package report formats runs, profiles and findings for people and programs:
// terminal tables that fit their width, TSV, CSV, Markdown and JSON.
//
// It computes nothing that its input does not hold, and writes to the io.Writer
// that it is given. All text of its input is hostile: Clean makes it safe for a
// terminal.
package report
