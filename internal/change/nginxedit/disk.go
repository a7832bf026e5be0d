package nginxedit

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// Glob implements nginx.Files.
func (s siteFiles) Glob(pattern string) ([]string, error) { return s.host.Glob(pattern) }

// Exists reports whether there is a file, a folder or a link.
func (t *Plan) Exists(path string) bool {
	_, err := t.Host.Lstat(path)
	return err == nil
}

// Regular reports whether there is a regular file, not a link to one.
func (t *Plan) Regular(path string) bool {
	info, err := t.Host.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// Stat describes a file; links are followed.
func (t *Plan) Stat(path string) (fs.FileInfo, error) { return t.Host.Stat(path) }

// Read reads a file.
func (t *Plan) Read(path string) ([]byte, error) { return t.Host.Read(path) }

// RealPath is a path without links.
func (t *Plan) RealPath(path string) (string, error) { return t.Host.RealPath(path) }

// WalkFiles calls f for all that is under a folder.
func (t *Plan) WalkFiles(dir string, f fs.WalkDirFunc) error { return t.Host.Walk(dir, f) }

// removeScratch removes the folders that nginx made when it tested the
// configuration. A folder that is in use is not empty and stays.
func (t *Plan) removeScratch() {
	for _, dir := range t.Scratch {
		_ = t.Host.Rmdir(dir)
	}
}

// RunFolder is the folder of nginx's temporary files, in which nginx may make a
// folder for a cache.
func (t *Plan) RunFolder(http *nginx.Directive) (string, error) {
	run := ""
	for _, name := range []string{"proxy_temp_path", "client_body_temp_path", "fastcgi_temp_path"} {
		if found := t.Get(http, name); run == "" && len(found) > 0 && filepath.IsAbs(found[0].Arg(0)) {
			run = filepath.Dir(found[0].Arg(0))
		}
	}
	if found := t.Find("pid"); run == "" && len(found) > 0 && filepath.IsAbs(found[0].Arg(0)) {
		run = filepath.Dir(found[0].Arg(0))
	}
	if run == "" {
		return "", fmt.Errorf("no folder for the cache is known: neither proxy_temp_path nor pid is an absolute path")
	}
	return run, nil
}
