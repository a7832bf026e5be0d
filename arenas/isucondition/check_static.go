package isucondition

import (
	"bytes"
	"hash/crc32"
	"net/http"
	"slices"

	"github.com/iikanji/iikanji/internal/scenario"
)

// checkPage checks the landing page: an HTML text that refers to exactly the
// assets that it is known to have. Its own bytes are free.
func checkPage(res *scenario.Response, assets []Asset) error {
	if err := scenario.WantStatus(res, http.StatusOK); err != nil {
		return err
	}
	if err := scenario.WantType(res, "text/html"); err != nil {
		return err
	}
	var want []string
	for _, a := range assets {
		if !a.Scripted && a.Path != "/" {
			want = append(want, a.Path)
		}
	}
	slices.Sort(want)
	if got := references(res.Body); !slices.Equal(got, want) {
		return scenario.Wrong(res, "page-assets", "the page refers to %q, want %q", got, want)
	}
	return nil
}

// references lists the local paths in src and href attributes of a page,
// sorted, each once. Relative ones are taken from the root.
func references(page []byte) []string {
	var paths []string
	for _, attr := range []string{"src", "href"} {
		for rest := page; ; {
			i := bytes.Index(rest, []byte(attr+"="))
			if i < 0 {
				break
			}
			rest = rest[i+len(attr)+1:]
			if p := localPath(quoted(rest)); p != "" && !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// quoted is an attribute's value, with or without quotes around it.
func quoted(b []byte) string {
	if len(b) > 0 && (b[0] == '"' || b[0] == '\'') {
		if end := bytes.IndexByte(b[1:], b[0]); end >= 0 {
			return string(b[1 : 1+end])
		}
		return ""
	}
	if end := bytes.IndexAny(b, " >\n\t"); end >= 0 {
		return string(b[:end])
	}
	return ""
}

// localPath makes a reference absolute; "" for what is not of this site and
// for links to other pages.
func localPath(ref string) string {
	switch {
	case ref == "" || ref == "/" || ref[0] == '#' || bytes.Contains([]byte(ref), []byte(":")) || len(ref) > 1 && ref[:2] == "//":
		return ""
	case ref[0] == '/':
		return ref
	case len(ref) > 2 && ref[:2] == "./":
		return ref[1:]
	}
	return "/" + ref
}

// checkAsset checks a static file. sure says that this client has found the
// bytes of its cache to be right before.
func checkAsset(res *scenario.Response, a Asset, sure bool) error {
	if err := scenario.WantStatus(res, http.StatusOK); err != nil {
		return err
	}
	if sure && (res.Cached || res.NotModified) {
		return nil
	}
	if got := crc32.ChecksumIEEE(res.Body); got != a.CRC32 {
		return scenario.Wrong(res, "asset-crc", "%d bytes with CRC32 %08x, want %d with %08x", len(res.Body), got, a.Size, a.CRC32)
	}
	return nil
}
