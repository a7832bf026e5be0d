package accesslog

import (
	"bytes"
	"unicode/utf8"
)

// A Content is what the first bytes of a log are.
type Content uint8

const (
	ContentText   Content = iota // lines of text
	ContentHole                  // NUL bytes at the beginning, as copytruncate leaves them
	ContentUTF16                 // text in UTF-16
	ContentSQLite                // a database
	ContentELF                   // a program
	ContentBinary                // other bytes that are not text
)

var contentWords = []string{"does not look like an access log", "begins with a hole of NUL bytes, as copytruncate leaves it",
	"is in UTF-16", "is an SQLite database", "is a program", "is binary"}

// String completes the sentence "the log …".
func (c Content) String() string { return contentWords[c] }

// hints lists commands that make the content readable.
func (c Content) hints() []string {
	switch c {
	case ContentText:
		return []string{"--log-format '…' or --nginx-conf FILE sets the format"}
	case ContentHole:
		return []string{"remove the NUL bytes first: tr -d '\\0' <FILE | iikanji access -"}
	case ContentUTF16:
		return []string{"convert it first: iconv -f UTF-16 -t UTF-8 FILE | iikanji access -"}
	}
	return nil
}

// minHole is how many NUL bytes before text make a hole.
const minHole = 512

// contentOf classifies the head of a log.
func contentOf(head []byte) Content {
	zeros := 0
	for zeros < len(head) && head[zeros] == 0 {
		zeros++
	}
	switch {
	case zeros > 0 && zeros == len(head) || zeros >= minHole:
		return ContentHole
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		return ContentUTF16
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return ContentSQLite
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return ContentELF
	case isBinary(head):
		return ContentBinary
	}
	return ContentText
}

// isBinary reports whether more than a tenth of the first characters are
// control characters or invalid UTF-8.
func isBinary(head []byte) bool {
	odd, seen := 0, 0
	for rest := head; len(rest) > 0 && seen < 4096; seen++ {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != 0x1b {
			odd++
		}
		rest = rest[n:]
	}
	return odd*10 > seen
}
