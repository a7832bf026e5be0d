package lines

import (
	"bytes"
	"iter"
	"unsafe"
)

// View returns a string that shares b's memory, for lookups and parsing without
// a copy. b must not change while the string is in use, so the string must not
// outlive the callback that received the block.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Split yields the lines of a text without their newlines and carriage returns.
func Split(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			line := text
			if i := bytes.IndexByte(text, '\n'); i >= 0 {
				line, text = text[:i], text[i+1:]
			} else {
				text = nil
			}
			if !yield(bytes.TrimSuffix(line, []byte("\r"))) {
				return
			}
		}
	}
}
