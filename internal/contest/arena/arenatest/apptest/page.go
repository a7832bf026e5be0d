package apptest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// All lists the matches of a pattern's group, in order.
func All(page, pattern string) []string {
	var found []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(page, -1) {
		found = append(found, m[1])
	}
	return found
}

// WantAll compares what a page shows.
func WantAll(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: the page shows %q, want %q", what, got, want)
	}
}

// Driven serves the site's pages with an added script that performs a user's
// actions.
func (s *Site) Driven(t *testing.T, script string) *httptest.Server {
	t.Helper()
	return WithElement(t, s.URL(), "<script type=module>"+script+"</script>")
}

// WithElement serves the pages of a site at a URL with an element added at their end.
func WithElement(t *testing.T, site, element string) *httptest.Server {
	t.Helper()
	target, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			return nil
		}
		page, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		page = append(page, element...)
		r.Body = io.NopCloser(bytes.NewReader(page))
		r.ContentLength = int64(len(page))
		r.Header.Set("Content-Length", strconv.Itoa(len(page)))
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server
}
