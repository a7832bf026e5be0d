package nginxconf

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/nginx"
)

// upstreamKeepalive keeps idle connections to the app open. This needs an
// upstream block with "keepalive", HTTP/1.1, and no "Connection: close", which
// nginx sends by default. If proxy_pass has an address, the upstream is made.
type upstreamKeepalive struct {
	Keepalive int    `arg:"keepalive,required" range:"1,65535" help:"how many idle connections each worker keeps"`
	To        string `arg:"to" help:"host:port or upstream of proxy_pass; all by default"`
	Requests  int    `arg:"requests" range:"1,1000000000" help:"after how many requests a connection is closed"`
	Timeout   span   `arg:"timeout" help:"after which idle time a connection is closed, as 60s"`
}

func (a *upstreamKeepalive) edit(t *task) error {
	t.Says = fmt.Sprintf("keep up to %d idle connections from each nginx worker to the app open", a.Keepalive)
	return t.eachPass(a.To, func(p nginx.Place, pass nginxedit.Passed) error {
		up := t.UpstreamFor(p, pass)
		nginxedit.SetIn(t.Conf, up, "keepalive", strconv.Itoa(a.Keepalive)) // must be after a load balancing method
		if a.Requests != 0 {
			nginxedit.SetIn(t.Conf, up, "keepalive_requests", strconv.Itoa(a.Requests))
		}
		if a.Timeout != "" {
			nginxedit.SetIn(t.Conf, up, "keepalive_timeout", string(a.Timeout))
		}
		around := nginxedit.Levels(p.Around)
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
		return nil
	})
}

// A pass is a proxy_pass before the edits.
type pass struct {
	nginx.Place
	nginxedit.Passed
	edited bool
	sends  string
}

// eachPass edits every proxy_pass to an address or upstream, or all. They are
// found and read before the edits, because the edits move directives, and
// because a proxy_pass in a file that is included in several places is one for
// each of them. What the app receives must be the same after the edits.
func (t *task) eachPass(to string, edit func(nginx.Place, nginxedit.Passed) error) error {
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
			return fmt.Errorf("location %s shares directives with others, by a file that is included in several places: it would send %q, and sends %q", nginxedit.PatternOf(where), now, f.sends)
		}
	}
	return nil
}

// allPasses lists the proxy_pass directives in locations, and which of them
// pass requests on to an address or upstream; to all if it is "".
func (t *task) allPasses(to string) ([]pass, error) {
	http, err := t.HTTP()
	if err != nil {
		return nil, err
	}
	var all []pass
	edits := 0
	t.Walk(http.Block, []*nginx.Directive{http}, func(p nginx.Place) {
		read, ok := nginxedit.PassOf(p.Arg(0))
		if p.Name() != "proxy_pass" || len(p.Around) < 3 || !ok {
			return
		}
		f := pass{p, read, to == "" || read.To == to || read.To == nginxedit.UpstreamName(to), t.Sends(p)}
		if all = append(all, f); f.edited {
			edits++
		}
	})
	if edits == 0 {
		return nil, fmt.Errorf("no location passes requests on to %q", to)
	}
	return all, nil
}
