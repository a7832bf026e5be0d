package httpcache

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/rewrite/pagegen"
)

// fragments are the paths of an argument, with semicolons between them: parts of pages
// that nginx includes (SSI).
type fragments []string

// UnmarshalText implements encoding.TextUnmarshaler.
func (fs *fragments) UnmarshalText(b []byte) error {
	*fs = nil
	for path := range strings.SplitSeq(string(b), ";") {
		path = strings.TrimSpace(path)
		if !rowPage.MatchString(path) || len(path) > 500 || path == "/" || strings.HasSuffix(path, "/") || strings.Contains(path, "/:") || strings.Contains(path, ".") {
			return fmt.Errorf("%.80q: want the path of a fragment, as in /sidebar", path)
		}
		if slices.Contains(*fs, path) {
			return fmt.Errorf("%q is named twice", path)
		}
		*fs = append(*fs, path)
	}
	return nil
}

// ssiCapability is the value of the header Surrogate-Capability. An app may send includes
// only to servers that announce it.
const ssiCapability = `iikanji="SSI/1.0"`

// includes has nginx put the pages of a location together. They have no length, so a
// client that waits for the end of the connection would hang if it stayed open. The app
// must not compress: nginx finds no includes in compressed pages.
func (t *task) includes(s nginxedit.Spot) {
	t.Ensure(s.Chain, "ssi", "on")
	t.Ensure(s.Chain, "keepalive_timeout", "0")
	t.plain(s)
	t.EnsureOneOf(s.Chain, "proxy_set_header", nginxedit.SameHeader("Surrogate-Capability"), "Surrogate-Capability", ssiCapability)
}

// plain keeps the app from compressing.
func (t *task) plain(s nginxedit.Spot) {
	t.EnsureOneOf(s.Chain, "proxy_set_header", nginxedit.SameHeader("Accept-Encoding"), "Accept-Encoding", "")
}

// sameForPages refuses a fragment if the request for it has a header with $request_uri: in
// a request for a fragment, this is the URL of the page. The key of a fragment has only
// the fragment's path, so the app must not answer by the page.
func (t *task) sameForPages(path string, s nginxedit.Spot) error {
	found, _ := t.Effective(s.Chain, "proxy_set_header")
	for _, d := range found {
		if slices.Contains(nginxedit.VariablesOf(d.Arg(1)), "request_uri") {
			return fmt.Errorf("fragment %q: the app receives the URL of the page in the header %s: it may send another fragment for each page", path, d.Arg(0))
		}
	}
	return nil
}

// A linked is the generation of the pages in a location: the link in whose folder it is,
// and the names of the variables that have it. Requests for the fragments of a page share
// the variables of the page, so each link of fragments has its own.
type linked struct{ link, suffix string }

// ofPages is the link of a location of pages; ofFragment is that of a fragment.
func (ds drops) ofPages() linked {
	if len(ds) == 0 {
		return linked{link: pagegen.Common}
	}
	return linked{link: linkVariable}
}

func (ds drops) ofFragment(path string) linked {
	link := pagegen.Common
	if len(ds) > 0 {
		link = pagegen.BucketOf(path)
	}
	return linked{link, "_" + link}
}

func (l linked) generation() string { return generation + l.suffix }
func (l linked) none() string       { return noGeneration + l.suffix }

// hasBlock reports whether http has a block that sets a variable.
func (t *task) hasBlock(http *nginx.Directive, block, variable string) bool {
	return slices.ContainsFunc(t.Get(http, block), func(d nginx.Place) bool { return d.Arg(1) == variable })
}

// define adds the maps of a generation.
func (l linked) define(t *task, http *nginx.Directive) {
	if t.hasBlock(http, "map", l.generation()) {
		return
	}
	made := "iikanji_made" + l.suffix
	nginxedit.InsertBeforeServers(http, nginx.NewBlock("map", "$realpath_root", l.generation()).Put(nginx.New("~^(?<"+made+">.+)$", "$"+made)))
	nginxedit.InsertBeforeServers(http, nginx.NewBlock("map", l.generation(), l.none()).Put(nginx.New("", "1")))
}
