package httpcache

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/rewrite/pagegen"
)

// drops are the rows of an argument: writes, and the pages that each of them drops.
type drops []pagegen.Row

// maxRows bounds the rows, and the pages of one row.
const maxRows = 50

var (
	writeForm = regexp.MustCompile(`^(POST|PUT|PATCH|DELETE) (/[A-Za-z0-9._~!&'()*+@:-]*)+$`)
	rowPage   = regexp.MustCompile(`^(/[A-Za-z0-9._~!&'()*+@:-]*)+$`)
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (ds *drops) UnmarshalText(b []byte) error {
	*ds = nil
	if len(b) == 0 {
		return nil
	}
	for text := range strings.SplitSeq(string(b), ";") {
		write, list, found := strings.Cut(strings.TrimSpace(text), "=")
		if !found || len(write) > 500 || !writeForm.MatchString(write) || slices.ContainsFunc(*ds, func(r pagegen.Row) bool { return r.Write == write }) {
			return fmt.Errorf("%.80q: want a write and its pages, as in POST /comment/:1=/article/:1,/list", text)
		}
		row := pagegen.Row{Write: write}
		for page := range strings.SplitSeq(list, ",") {
			if page = strings.TrimSpace(page); page == "" && list == "" {
				continue // a write that changes no page
			}
			if len(page) > 500 || !rowPage.MatchString(page) {
				return fmt.Errorf("%.80q: want the path of a page, as in /article/:1", page)
			}
			row.Pages = append(row.Pages, page)
		}
		*ds = append(*ds, row)
	}
	if len(*ds) > maxRows || slices.ContainsFunc(*ds, func(r pagegen.Row) bool { return len(r.Pages) > maxRows }) {
		return fmt.Errorf("want %d rows of %d pages at most", maxRows, maxRows)
	}
	return nil
}

// String is the argument.
func (ds drops) String() string {
	var rows []string
	for _, r := range ds {
		rows = append(rows, r.Write+"="+strings.Join(r.Pages, ","))
	}
	return strings.Join(rows, ";")
}

// within refuses pages that are not among the kept ones, and ids that the write has not.
func (ds drops) within(paths []string) error {
	for _, row := range ds {
		_, ids := numbered(row.Write)
		for _, page := range row.Pages {
			route, numbers := numbered(page)
			if !slices.ContainsFunc(paths, func(p string) bool { kept, _ := numbered(p); return kept == route }) {
				return fmt.Errorf("drops: %q is not among the kept paths", page)
			}
			for _, n := range numbers {
				if !slices.Contains(ids, n) {
					return fmt.Errorf("drops: %q of %q: the write has no id %q", page, row.Write, n)
				}
			}
		}
	}
	return nil
}

// numbered is a route with ":" in place of each placeholder, and their names.
func numbered(route string) (plain string, names []string) {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, ":"); ok {
			names = append(names, name)
			segments[i] = ":"
		}
	}
	return strings.Join(segments, "/"), names
}

// megs is an argument in MiB, as "64m".
type megs int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *megs) UnmarshalText(b []byte) error {
	text, ok := strings.CutSuffix(string(b), "m")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 1 || n > 1024 {
		return fmt.Errorf("%q: want a size of 1m to 1024m", b)
	}
	*m = megs(n)
	return nil
}
