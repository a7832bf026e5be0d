package nginx

import (
	"slices"
	"strings"
)

// IsBuffered reports whether an access_log is written in blocks instead of line by
// line: gzip implies a buffer.
func IsBuffered(accessLog *Directive) bool {
	return slices.ContainsFunc(accessLog.Args(), func(a string) bool {
		return strings.HasPrefix(a, "buffer=") || strings.HasPrefix(a, "gzip")
	})
}
