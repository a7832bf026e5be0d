package isucholar

import (
	"context"
	"net/http"
	"regexp"
	"slices"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// linked matches the local files that a page loads.
var linked = regexp.MustCompile(`(?:src|href)="(/[^"/][^"]*)"`)

// sums returns the checksums, by path, of the three static files that are compared byte by byte.
func sums() map[string]verify.Sum {
	m := map[string]verify.Sum{}
	for _, f := range staticFiles() {
		if f.path == appPath || f.path == runtimePath || f.path == stylePath {
			m[f.path] = verify.SumOf(f.body)
		}
	}
	return m
}

// openPage gets the page and the files that it loads, as a browser does. The three
// scripts and styles must be among them, unchanged.
func (a *agent) openPage(ctx context.Context) error {
	var paths []string
	err := a.get(ctx, stepStatic, "/", func(res *scenario.Response) error {
		if err := scenario.WantStatus(res, http.StatusOK); err != nil {
			return err
		}
		if err := scenario.WantType(res, "text/html"); err != nil {
			return err
		}
		for _, m := range linked.FindAllSubmatch(res.Body, -1) {
			paths = append(paths, string(m[1]))
		}
		for path := range a.ct.sums {
			if !slices.Contains(paths, path) {
				return scenario.Wrong(res, "page-assets", "the page does not load %s", path)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return parallel.Do(ctx, len(paths), func(ctx context.Context, i int) error {
		return a.get(ctx, stepStatic, paths[i], func(res *scenario.Response) error {
			if sum, ok := a.ct.sums[paths[i]]; ok {
				return verify.File(res, sum, false)
			}
			return scenario.WantStatus(res, http.StatusOK)
		})
	})
}
