package isublog

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
)

// A Static is one static file of the contest. Path begins with "/".
type Static struct {
	Path string
	Body []byte
}

// staticSums lists the static files: path, bytes and CRC-32 of each, recorded when
// the arena was made. A test compares the generated files with the list.
//
//go:embed static.sums
var staticSums string

// A staticSum is a line of static.sums.
type staticSum struct {
	path string
	sum  verify.Sum
}

// statics are the static files that clients request and check.
var statics = sync.OnceValue(func() []staticSum {
	var list []staticSum
	for line := range strings.Lines(staticSums) {
		var s staticSum
		if _, err := fmt.Sscanf(line, "%s %d %x", &s.path, &s.sum.Size, &s.sum.CRC32); err != nil {
			panic("BUG: static.sums: " + err.Error())
		}
		list = append(list, s)
	}
	return list
})

// sizes of the files that are filled up to the contest's number of bytes.
const (
	themeBytes   = 25419
	styleBytes   = 1082
	libraryBytes = 91556
	widgetBytes  = 109113
	titleBytes   = 31930
)

// staticFiles generates all static files, in the order of static.sums. The last
// script is empty, as it was in the contest.
func staticFiles() ([]Static, error) {
	title, err := titleImage()
	if err != nil {
		return nil, err
	}
	return []Static{
		{"/css/jquery-ui-1.8.14.custom.css", theme()},
		{"/css/isucon.css", padded([]byte(style), styleBytes)},
		{"/js/jquery-1.6.2.min.js", script(1, 1800, libraryBytes)},
		{"/js/jquery-ui-1.8.14.custom.min.js", script(2, 250, widgetBytes)},
		{"/js/isucon.js", nil},
		{"/images/isucon_title.jpg", title},
	}, nil
}
