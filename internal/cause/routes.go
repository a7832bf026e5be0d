package cause

import (
	urlpath "path"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

var staticEndings = []string{".js", ".css", ".map", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".webp", ".avif",
	".woff", ".woff2", ".ttf", ".html", ".txt", ".mp4", ".pdf"}

// StaticPath is the path of a row that is a file: by its extension, or because
// the reader of the log recognized one of many files.
func StaticPath(r iikanji.Row) (string, bool) {
	method, name, ok := strings.Cut(r.Key, " ")
	if !ok || method != "GET" {
		return "", false
	}
	return name, urlpath.Base(name) == ":file" || slices.Contains(staticEndings, strings.ToLower(urlpath.Ext(name)))
}
