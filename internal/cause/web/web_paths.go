package web

import (
	urlpath "path"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/cause"
)

// Remedies of the kind nginxconf name locations by path, and the kind refuses
// anything else. Not every route that the reader of a log infers can be expressed
// as a path in nginx's configuration.

// placeholder matches a segment of a route that stands for any one segment, or for any
// with an ending (":id.png"). Others that the reader of the log infers ("@:name", "**")
// stand for several segments, or for another part of one: no location of nginx can
// express them.
var placeholder = regexp.MustCompile(`^:[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9]+)?$`)

// expressible reports whether a path is normalized as nginx normalizes requests,
// and has no characters that need quoting.
func expressible(path string) bool {
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
// "expires" match exactly that route: "/", "/a", "= /a/" ("/a/" would match
// everything below it), "/a/:id". ok is false if no form matches it.
func onePath(route string) (path string, ok bool) {
	path = pathOf(route)
	if !expressible(path) {
		return "", false
	}
	several := false
	for s := range strings.SplitSeq(path, "/") {
		switch {
		case placeholder.MatchString(s):
			several = true
		case cause.Folds(s):
			return "", false
		}
	}
	if !several && path != "/" && strings.HasSuffix(path, "/") {
		path = "= " + path
	}
	return path, true
}

// folderOf is the folder of a file, with its slash; ok is false if it contains
// more than files: the root, which contains all pages.
func folderOf(route string) (folder string, ok bool) {
	folder = urlpath.Dir(pathOf(route)) + "/"
	return folder, folder != "//" && expressible(folder) && !cause.Folds(folder)
}

// publicFolder is the nearest folder around a file that the act "static files"
// accepts, "/" at the farthest. The act passes requests for files that are not
// on disk to the app.
func publicFolder(route string) string {
	folder := urlpath.Dir(pathOf(route))
	for folder != "/" && (!expressible(folder) || cause.Folds(folder)) {
		if folder = urlpath.Dir(folder); folder == "." {
			return "/"
		}
	}
	return folder
}
