package isutrain

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// sums are those of all static files, by path.
func sums() map[string]verify.Sum {
	m := map[string]verify.Sum{}
	public, err := fs.Sub(webapp, publicFolder)
	if err == nil {
		err = fs.WalkDir(public, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			body, err := fs.ReadFile(public, name)
			m["/"+name] = verify.SumOf(body)
			return err
		})
	}
	if err != nil {
		panic(fmt.Sprintf("BUG: reading the static files: %v", err))
	}
	m["/"] = m["/index.html"]
	return m
}

// checkStatic compares every byte of the static files.
func (a *agent) checkStatic(ctx context.Context) error {
	paths := slices.Sorted(maps.Keys(a.ct.sums))
	return parallel.Do(ctx, len(paths), func(ctx context.Context, i int) error {
		return a.do(ctx, &scenario.Request{Step: stepStatic, Path: paths[i]}, func(res *scenario.Response) error {
			return verify.File(res, a.ct.sums[paths[i]], false)
		})
	})
}
