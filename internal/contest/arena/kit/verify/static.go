package verify

import (
	"bytes"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Page checks an HTML page that refers to exactly the local paths want, which
// must be sorted. Its other bytes are free.
func Page(res *scenario.Response, want []string) error {
	if err := scenario.WantStatus(res, http.StatusOK); err != nil {
		return err
	}
	if err := scenario.WantType(res, "text/html"); err != nil {
		return err
	}
	if got := references(res.Body); !slices.Equal(got, want) {
		return scenario.Wrong(res, "page-assets", "the page refers to %q, want %q", got, want)
	}
	return nil
}

// references returns the local paths in the src and href attributes of a page,
// sorted and without duplicates. Relative paths count from the root.
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

// quoted returns an attribute's value, with or without quotes around it.
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

// localPath returns the absolute path of a reference, "" for other sites and for
// links within a page.
func localPath(ref string) string {
	if ref == "" || ref == "/" || ref[0] == '#' || strings.Contains(ref, ":") {
		return ""
	}
	if len(ref) > 2 && ref[:2] == "./" {
		ref = ref[1:]
	}
	if !strings.HasPrefix(ref, "/") {
		ref = "/" + ref
	}
	if strings.HasPrefix(ref, "//") { // another site
		return ""
	}
	return ref
}

// A Sum identifies the bytes of a static file.
type Sum struct {
	CRC32 uint32 // IEEE
	Size  int
}

// SumOf returns the sum of a file's bytes.
func SumOf(body []byte) Sum { return Sum{crc32.ChecksumIEEE(body), len(body)} }

// File checks a static file. sure means that this client's cached bytes were
// found to be right before, so a cached answer is not summed again.
func File(res *scenario.Response, want Sum, sure bool) error {
	if err := scenario.WantStatus(res, http.StatusOK); err != nil {
		return err
	}
	if sure && (res.Cached || res.NotModified) {
		return nil
	}
	if got := crc32.ChecksumIEEE(res.Body); got != want.CRC32 {
		return scenario.Wrong(res, "asset-crc", "%d bytes with CRC32 %08x, want %d with %08x", len(res.Body), got, want.Size, want.CRC32)
	}
	return nil
}
