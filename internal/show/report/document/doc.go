// Package document writes the summary of a history as one HTML file, as Markdown
// for a pull request or a blog, as JSON, and as a folder of TSV tables.
//
// The HTML file loads nothing: its style and its charts are in it, it has no
// script, and its content security policy forbids requests. It stays below
// [MaxSize]. All text of the summary is hostile and escaped.
package document
