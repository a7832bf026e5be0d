package field

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/rewrite/gosource"
)

// sourceRoutes are the routes of one app's source in a state of its files.
type sourceRoutes struct {
	state  string
	routes []accesslog.Pattern
}

// routes are the routes that the source of the Go apps registers. They have priority
// over routes that are learned from the log. Source that cannot be read has none: the
// reading of its facts reports why.
func (f *Field) routes(ctx context.Context) (all []accesslog.Pattern) {
	site := f.Subject.Site()
	for _, s := range f.Subject.Target().WithEngine(iikanji.EngineGo) {
		if dir, err := sourceHere(ctx, site.Services[s.Name]); err == nil && dir != "" {
			all = append(all, f.routesOf(ctx, dir)...)
		}
	}
	return all
}

// routesOf reads the routes of a folder of source. They are kept as long as no Go file
// of it is written, because reading them takes seconds.
func (f *Field) routesOf(ctx context.Context, dir string) (all []accesslog.Pattern) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	state := stateOfSource(dir)
	if known, ok := f.sourceRoutes[dir]; ok && known.state == state {
		return known.routes
	}
	limited, cancel := context.WithTimeout(ctx, sourceLimit)
	defer cancel()
	texts, err := gosource.Routes(limited, dir)
	if err != nil {
		return nil
	}
	for _, text := range texts {
		if p, err := accesslog.Route(text); err == nil && tellsApart(text) && !p.Tail() {
			all = append(all, p)
		}
	}
	if f.sourceRoutes == nil {
		f.sourceRoutes = map[string]sourceRoutes{}
	}
	f.sourceRoutes[dir] = sourceRoutes{state, all}
	return all
}

// tellsApart reports whether a route holds a fixed word, or is that of the root. One of
// parameters alone, such as "/:page", and a subtree of net/http, such as "/files/", would
// also take what the web server answers itself.
func tellsApart(route string) bool {
	path := route[strings.IndexByte(route, '/'):]
	if path == "/" {
		return !strings.HasPrefix(route, "/") // of net/http, it is the subtree of everything
	}
	for seg := range strings.SplitSeq(path[1:], "/") {
		if seg != "" && !strings.ContainsAny(seg, ":{<*") {
			return !strings.HasSuffix(path, "/")
		}
	}
	return false
}

// stateOfSource differs if Go files below a folder were written, added or removed.
func stateOfSource(dir string) string {
	files, size, newest := 0, int64(0), int64(0)
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil // what cannot be read has no routes either
		}
		if info, err := d.Info(); err == nil {
			files++
			size += info.Size()
			newest = max(newest, info.ModTime().UnixNano())
		}
		return nil
	})
	return fmt.Sprint(files, size, newest)
}
