package lines

import "unsafe"

// View returns a string that shares b's memory, for lookups and parsing without
// a copy. b must not change while the string is in use, so the string must not
// outlive the callback that received the block.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
