package nginxconf

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// publicRoot is the folder to serve: the service's public folder, or the folder
// in it that a remedy names.
func (t *task) publicRoot(named string) (string, error) {
	public := t.Svc.Public
	if public == "" {
		return "", fmt.Errorf("the public folder of the service is unknown: no files can be served from disk")
	}
	root := cmp.Or(named, public)
	if !filepath.IsAbs(root) || strings.ContainsAny(root, "\x00\r\n$") {
		return "", fmt.Errorf("root %q: want an absolute path", root)
	}
	root = filepath.Clean(root)
	real, err := t.RealPath(root)
	if err != nil {
		return "", fmt.Errorf("root %q: %w", root, err)
	}
	within, err := t.RealPath(public)
	if err != nil {
		return "", fmt.Errorf("the public folder: %w", err)
	}
	if real != within && !strings.HasPrefix(real, within+"/") {
		return "", fmt.Errorf("root %q: want the public folder %s or one in it", root, public)
	}
	return root, nil
}

// folderPath is the path of a folder as a spot needs it: "/assets" must not
// match "/assets-old".
func folderPath(path string) string {
	if !strings.HasSuffix(path, "/") {
		path += "/"
	}
	if path == "/" {
		return nginxedit.Everything
	}
	return path
}

// publicFiles are the files that a location would serve.
type publicFiles struct {
	page    string          // the URL path of the file for pages, or ""
	endings map[string]bool // without the dot
}

// maxPublic bounds how many files are looked at.
const maxPublic = 100_000

func (f publicFiles) add(path string) { f.endings[strings.TrimPrefix(filepath.Ext(path), ".")] = true }

// publicFiles reads which files a location would serve. A file whose name
// begins with a dot is not a public one, and is an error.
func (t *task) publicFiles(root, path, page string, want nginx.Pattern) (publicFiles, error) {
	f := publicFiles{page: page, endings: map[string]bool{}}
	if page != "" {
		if err := nginxedit.CleanPath(page); err != nil || want.What == "/" && want.IsPrefix() {
			return f, fmt.Errorf("file %q: want the path of a file, for less than every path", page)
		}
		if !t.Regular(filepath.Join(root, page)) {
			return f, fmt.Errorf("file %q: there is no file of this name in %s", page, root)
		}
		f.add(page)
	}
	at := filepath.Join(root, want.What)
	if want.How == "=" {
		if f.add(at); page == "" && !t.Regular(at) {
			return f, fmt.Errorf("path %q: there is no file %s", path, at)
		}
		return f, nil
	}
	n, err := t.addFolder(f, at)
	if err == nil && n == 0 && page == "" {
		err = fmt.Errorf("there is no file in %s", at)
	}
	if err != nil {
		return f, fmt.Errorf("path %q: %w", path, err)
	}
	return f, nil
}

// addFolder adds the files of a folder and counts them.
func (t *task) addFolder(f publicFiles, dir string) (n int, err error) {
	err = t.WalkFiles(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && d.Name() != ".well-known":
			return fmt.Errorf("%s is not a public file", path)
		case n > maxPublic:
			return fmt.Errorf("there are more than %d files", maxPublic)
		case d.Type().IsRegular():
			n++
			f.add(path)
		}
		return t.Ctx.Err()
	})
	return n, err
}
