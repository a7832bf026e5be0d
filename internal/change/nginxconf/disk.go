package nginxconf

import "io/fs"

// Glob implements nginx.Files.
func (s siteFiles) Glob(pattern string) ([]string, error) { return s.host.Glob(pattern) }

// exists reports whether there is a file, a folder or a link.
func (t *task) exists(path string) bool {
	_, err := t.host.Lstat(path)
	return err == nil
}

// regular reports whether there is a regular file, not a link to one.
func (t *task) regular(path string) bool {
	info, err := t.host.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// stat describes a file; links are followed.
func (t *task) stat(path string) (fs.FileInfo, error) { return t.host.Stat(path) }

// read reads a file.
func (t *task) read(path string) ([]byte, error) { return t.host.Read(path) }

// realPath is a path without links.
func (t *task) realPath(path string) (string, error) { return t.host.RealPath(path) }

// walkFiles calls f for all that is under a folder.
func (t *task) walkFiles(dir string, f fs.WalkDirFunc) error { return t.host.Walk(dir, f) }

// removeScratch removes the folders that nginx made when it tested the
// configuration. A folder that is in use is not empty and stays.
func (t *task) removeScratch() {
	for _, dir := range t.scratch {
		_ = t.host.Rmdir(dir)
	}
}
