package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
)

// licenceFile matches the names of files that a module's licence asks to be handed on.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|copyright)([._-].*)?$`)

// licences is the text of the licences of this program and of everything that it links. A
// module without a licence is an error: it could not be handed on.
func (d *deb) licences(ctx context.Context) ([]byte, error) {
	var all strings.Builder
	add := func(name, dir string) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("reading the licence of %s: %w", name, err)
		}
		found := false
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return fmt.Errorf("reading the licence of %s: %w", name, err)
			}
			found = true
			fmt.Fprintf(&all, "%s\n%s, %s\n%[1]s\n\n%s\n\n", strings.Repeat("=", 78), name, e.Name(), strings.TrimSpace(string(text)))
		}
		if !found {
			return fmt.Errorf("%s has no file of a licence in %s", name, dir)
		}
		return nil
	}
	if err := add("iikanji", d.src); err != nil {
		return nil, err
	}
	root, err := output(ctx, d.src, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := add("Go "+runtime.Version(), strings.TrimSpace(root)); err != nil {
		return nil, err
	}
	for _, m := range d.modules {
		dir, err := moduleFolder(ctx, d.src, m)
		if err != nil {
			return nil, err
		}
		if err := add(m.Path+" "+m.Version, dir); err != nil {
			return nil, err
		}
	}
	return []byte(all.String()), nil
}

// moduleFolder is where the files of a module are.
func moduleFolder(ctx context.Context, src string, m *debug.Module) (string, error) {
	dir, err := output(ctx, src, nil, "go", "list", "-m", "-f", "{{.Dir}}", m.Path)
	if dir = strings.TrimSpace(dir); err == nil && dir == "" {
		err = fmt.Errorf("module %s is not in the module cache", m.Path)
	}
	return dir, err
}
