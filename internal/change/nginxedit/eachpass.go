package nginxedit

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// A pass is a proxy_pass before the edits.
type pass struct {
	nginx.Place
	Passed
	edited bool
	sends  string
}

// EachPass edits every proxy_pass to an address or upstream, or all. They are
// found and read before the edits, because the edits move directives, and
// because a proxy_pass in a file that is included in several places is one for
// each of them. What the app receives must be the same after the edits.
func (t *Plan) EachPass(to string, edit func(nginx.Place, Passed) error) error {
	all, err := t.allPasses(to)
	if err != nil {
		return err
	}
	for _, f := range all {
		if !f.edited {
			continue
		}
		if err := edit(f.Place, f.Passed); err != nil {
			return err
		}
	}
	for _, f := range all {
		if now := t.Sends(f.Place); now != f.sends {
			where := f.Around[len(f.Around)-1]
			return fmt.Errorf("location %s shares directives with others, by a file that is included in several places: it would send %q, and sends %q", nginx.PatternOf(where), now, f.sends)
		}
	}
	return nil
}

// allPasses lists the proxy_pass directives in locations, and which of them
// pass requests on to an address or upstream; to all if it is "".
func (t *Plan) allPasses(to string) ([]pass, error) {
	http, err := t.HTTP()
	if err != nil {
		return nil, err
	}
	var all []pass
	edits := 0
	t.Walk(http.Block, []*nginx.Directive{http}, func(p nginx.Place) {
		read, ok := PassOf(p.Arg(0))
		if p.Name() != "proxy_pass" || len(p.Around) < 3 || !ok {
			return
		}
		f := pass{p, read, to == "" || read.To == to || read.To == UpstreamName(to), t.Sends(p)}
		if all = append(all, f); f.edited {
			edits++
		}
	})
	if edits == 0 {
		return nil, fmt.Errorf("no location passes requests on to %q", to)
	}
	return all, nil
}

// KeepOpen makes the requests of a location keep their connection to an upstream
// open: HTTP/1.1, and no "Connection: close", which nginx sends by default.
func (t *Plan) KeepOpen(around []*nginx.Directive) {
	around = Levels(around)
	if v, _ := t.Effective(around, "proxy_http_version"); len(v) > 0 {
		v[0].SetArgs("1.1")
	} else {
		around[len(around)-1].Add(nginx.New("proxy_http_version", "1.1"))
	}
	if h := t.Header(around, "Connection"); h == nil {
		t.AddHeader(around, "Connection", "")
	} else if strings.EqualFold(h.Arg(1), "close") {
		h.SetArgs(h.Arg(0), "")
	}
}
