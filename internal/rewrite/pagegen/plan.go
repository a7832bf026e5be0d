package pagegen

import (
	"regexp"
	"strings"
)

// A Plan is what an app keeps generations of.
type Plan struct {
	// Folder has the links. The app writes it, and the web server's workers read it.
	Folder string
	// Kept are the routes of the pages that the web server keeps, as in /article/:id.
	Kept []string
	// Table has the pages that a write changes. A write that has no row changes all. An
	// empty table has one link for all pages.
	Table []Row
}

// A Row is a write, as in "POST /comment/:1", and the pages that it drops, as in "/" or
// "/article/:1": the number stands for the id at that place of the write's path.
type Row struct {
	Write string
	Pages []string
}

// ID is the form of an id in a path. Other texts may name the same thing as an id, such
// as 07; a page with such a path is dropped at every write.
const ID = `(?:0|[1-9][0-9]{0,17}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})`

var id = regexp.MustCompile(`^` + ID + `$`)

// WriteOf is the write that a request is, as in a Row, and the ids in its path.
func WriteOf(method, path string) (write string, ids []string) {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		switch {
		case id.MatchString(s) && len(ids) < 9:
			ids = append(ids, s)
			segments[i] = ":" + string(rune('0'+len(ids)))
		case strings.HasPrefix(s, ":"):
			segments[i] = ":" + s // no row has it
		}
	}
	return method + " " + strings.Join(segments, "/"), ids
}

// matches reports whether a path is of a route, and returns what stands at its
// placeholders.
func matches(route, path string) (values []string, ok bool) {
	want, have := strings.Split(route, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}
	for i, w := range want {
		switch {
		case !strings.HasPrefix(w, ":"):
			if w != have[i] {
				return nil, false
			}
		case !id.MatchString(have[i]):
			return nil, false
		default:
			values = append(values, have[i])
		}
	}
	return values, true
}

// routeOf is the kept route of a path; "" if there is none.
func (p *Plan) routeOf(path string) (route string, values []string) {
	for _, r := range p.Kept {
		if values, ok := matches(r, path); ok {
			return r, values
		}
	}
	return "", nil
}

// pagesOf are the paths of the pages that a write drops. known is false if the table has
// no row for it: then it drops all pages.
func (p *Plan) pagesOf(method, path string) (pages []string, known bool) {
	write, ids := WriteOf(method, path)
	for _, row := range p.Table {
		if row.Write != write {
			continue
		}
		for _, page := range row.Pages {
			pages = append(pages, withIDs(page, ids))
		}
		return pages, true
	}
	return nil, false
}

// withIDs is the path of a page of a Row.
func withIDs(page string, ids []string) string {
	segments := strings.Split(page, "/")
	for i, s := range segments {
		if n, ok := strings.CutPrefix(s, ":"); ok && len(n) == 1 && n[0] >= '1' && int(n[0]-'1') < len(ids) {
			segments[i] = ids[n[0]-'1']
		}
	}
	return strings.Join(segments, "/")
}
