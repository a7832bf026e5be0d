package isuports

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A staticFile is a file that the target must serve unchanged.
type staticFile struct {
	path string
	sum  verify.Sum
}

// staticFiles returns the page, the first script and the first style sheet of the
// folder with the page.
func staticFiles(public fs.FS) ([]staticFile, error) {
	found := map[string]string{}
	err := fs.WalkDir(public, ".", func(name string, d fs.DirEntry, err error) error {
		kind := path.Ext(name)
		if err != nil || d.IsDir() || kind != ".js" && kind != ".css" || found[kind] != "" {
			return err
		}
		found[kind] = name
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the static files: %w", err)
	}
	var files []staticFile
	for _, name := range []string{"index.html", found[".js"], found[".css"]} {
		if name == "" {
			return nil, fmt.Errorf("listing the static files: a page needs a script and a style sheet")
		}
		text, err := fs.ReadFile(public, name)
		if err != nil {
			return nil, fmt.Errorf("reading the static files: %w", err)
		}
		files = append(files, staticFile{"/" + strings.TrimSuffix(name, "index.html"), verify.SumOf(text)})
	}
	return files, nil
}

// checkStatic checks the static files, and that an unknown path gets the page:
// the page draws every path by itself.
func (ct *contest) checkStatic(ctx context.Context) error {
	b := ct.browser(ct.data.Tenants[0].Name, "", 0)
	defer b.close()
	wanted := append(ct.static[:len(ct.static):len(ct.static)], staticFile{"/competitions", ct.static[0].sum})
	for _, f := range wanted {
		err := b.get(ctx, stepStatic, f.path, func(res *scenario.Response) error { return verify.File(res, f.sum, false) })
		if err != nil {
			return err
		}
	}
	return nil
}
