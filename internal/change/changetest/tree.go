package changetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Tree describes the content of a folder: names, modes and contents.
func Tree(dir string) (string, error) { return tree(dir, true) }

// tree is Tree, optionally without hidden names: only the files from which the
// go command makes a program.
func tree(dir string, hidden bool) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if !hidden && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := contentOf(path, info)
		fmt.Fprintf(&b, "== %s %v\n%s", path[len(dir):], info.Mode(), text)
		return err
	})
	return b.String(), err
}

// contentOf returns the content of a file, or the destination of a link.
func contentOf(path string, info fs.FileInfo) (string, error) {
	if info.Mode()&fs.ModeSymlink != 0 {
		return os.Readlink(path)
	}
	b, err := os.ReadFile(path)
	return string(b), err
}
