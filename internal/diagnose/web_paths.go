package diagnose

import (
	urlpath "path"
	"regexp"
	"strings"
)

// A remedy of the kind nginxconf names what it is about by a path, and refuses
// what is none: the names that the reader of a log gives to routes are not all
// paths that a web server's configuration can say.

// placeholder is a segment of a route that stands for any one segment. Others
// that the log's reader makes (":id.png", "@:name", "**") stand for more, or
// for parts of one, which no location of nginx's says.
var placeholder = regexp.MustCompile(`^:[A-Za-z_][A-Za-z0-9_]*$`)

// sayable says whether a path is one that nginx would see after it has cleaned
// a request's, in characters that need no quoting.
func sayable(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.ContainsAny(path, "\x00\r\n\t ;{}?#%\\\"'$") &&
		(path == "/" || urlpath.Clean(path) == strings.TrimSuffix(path, "/"))
}

// pathOf is the path of a route as "GET /a", without its query.
func pathOf(route string) string {
	_, path, _ := strings.Cut(route, " ")
	path, _, _ = strings.Cut(path, "?")
	return path
}

// onePath is the path of a route in the form in which the acts "cache" and
// "expires" mean it and nothing else: "/", "/a", "= /a/" (for "/a/" would be all
// that is in it), "/a/:id". ok is false where they have no form for it.
func onePath(route string) (path string, ok bool) {
	path = pathOf(route)
	if !sayable(path) {
		return "", false
	}
	several := false
	for s := range strings.SplitSeq(path, "/") {
		switch {
		case placeholder.MatchString(s):
			several = true
		case folds(s):
			return "", false
		}
	}
	if !several && path != "/" && strings.HasSuffix(path, "/") {
		path = "= " + path
	}
	return path, true
}

// folderOf is the folder of a file, with its slash; ok is false where it would
// be more than a folder of files: the root, in which all pages are, too.
func folderOf(route string) (folder string, ok bool) {
	folder = urlpath.Dir(pathOf(route)) + "/"
	return folder, folder != "//" && sayable(folder) && !folds(folder)
}

// publicFolder is the nearest folder around a file that the act "static files"
// takes, "/" at the farthest: it asks the app for what is not on disk.
func publicFolder(route string) string {
	folder := urlpath.Dir(pathOf(route))
	for folder != "/" && (!sayable(folder) || folds(folder)) {
		if folder = urlpath.Dir(folder); folder == "." {
			return "/"
		}
	}
	return folder
}
