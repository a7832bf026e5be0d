package facts

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// besideApp are the usual folders of an app's static files, relative to its
// working directory.
var besideApp = []string{".", "public", "static", "../public"}

// An AppProcess is a process of an app on its machine.
type AppProcess struct {
	Host host.Host
	PID  int
}

// FileFolders are the folders in which a URL's path may name a file of a target:
// each root in the web server's configuration, the working directories of the
// processes of its apps, and the usual folders beside those. Some of them may not
// exist. The web server's machine may have the files of an app of another one at the same
// paths, as machines of one image do.
func FileFolders(apps []AppProcess, conf *nginx.Config) []string {
	out := roots(conf)
	for _, app := range apps {
		cwd, err := app.Host.Readlink(fmt.Sprintf("/proc/%d/cwd", app.PID))
		if err != nil { // the process has ended, or belongs to another user
			continue
		}
		for _, beside := range besideApp {
			out = append(out, filepath.Join(cwd, beside))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// roots are the folders in the root directives of a configuration; none if it is nil.
func roots(conf *nginx.Config) []string {
	if conf == nil {
		return nil
	}
	var out []string
	conf.Walk(conf.Root(), nil, func(p nginx.Place) {
		if p.Name() == "root" && filepath.IsAbs(p.Arg(0)) {
			out = append(out, filepath.Clean(p.Arg(0)))
		}
	})
	return out
}

// onDisk is the path of a file in folders with the same bytes as the answer, ""
// for none.
func (a *asked) onDisk(h host.Host, folders []string) string {
	u, err := url.ParseRequestURI(a.URL)
	if err != nil || a.Status != 200 || len(a.body) == 0 {
		return ""
	}
	body, whole := a.plain()
	if !whole {
		return ""
	}
	for _, folder := range folders {
		name := filepath.Join(folder, filepath.FromSlash(path.Clean("/"+u.Path)))
		info, err := h.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(body)) {
			continue
		}
		if text, err := h.Read(name); err == nil && bytes.Equal(text, body) {
			return name
		}
	}
	return ""
}

// plain is an answer's body, decoded; whole is false if the encoding is not
// supported or the body is longer than the part that was read.
func (a *asked) plain() (body []byte, whole bool) {
	switch a.Encoding {
	case "":
		return a.body, len(a.body) < mostBody
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(a.body))
		if err != nil {
			return nil, false
		}
		body, err := io.ReadAll(io.LimitReader(r, mostBody))
		return body, err == nil && len(body) < mostBody
	}
	return nil, false
}
