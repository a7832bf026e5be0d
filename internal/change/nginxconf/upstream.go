package nginxconf

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

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
	t.says = fmt.Sprintf("keep up to %d idle connections from each nginx worker to the app open", a.Keepalive)
	return t.eachPass(a.To, func(p nginx.Place, pass passed) error {
		up := t.upstreamFor(p, pass)
		setIn(t.conf, up, "keepalive", strconv.Itoa(a.Keepalive)) // must be after a load balancing method
		if a.Requests != 0 {
			setIn(t.conf, up, "keepalive_requests", strconv.Itoa(a.Requests))
		}
		if a.Timeout != "" {
			setIn(t.conf, up, "keepalive_timeout", string(a.Timeout))
		}
		around := levels(p.Around)
		if v, _ := t.effective(around, "proxy_http_version"); len(v) > 0 {
			v[0].SetArgs("1.1")
		} else {
			around[len(around)-1].Add(nginx.New("proxy_http_version", "1.1"))
		}
		if h := t.header(around, "Connection"); h == nil {
			t.addHeader(around, "Connection", "")
		} else if strings.EqualFold(h.Arg(1), "close") {
			h.SetArgs(h.Arg(0), "")
		}
		return nil
	})
}

// A passed is the argument of a proxy_pass: the address or upstream, and the
// path that replaces the location's prefix, if any.
type passed struct{ to, uri string }

// passOf reads the argument of a proxy_pass. It is false for variables and
// https, which are left alone.
func passOf(arg string) (passed, bool) {
	rest, ok := strings.CutPrefix(arg, "http://")
	if !ok || rest == "" || strings.Contains(arg, "$") {
		return passed{}, false
	}
	if sock, ok := strings.CutPrefix(rest, "unix:"); ok {
		path, uri, _ := strings.Cut(sock, ":")
		return passed{"unix:" + path, uri}, true
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return passed{rest[:i], rest[i:]}, rest[:i] != ""
	}
	return passed{rest, ""}, true
}

// String is the argument that was read.
func (p passed) String() string {
	if strings.HasPrefix(p.to, "unix:") && p.uri != "" {
		return "http://" + p.to + ":" + p.uri
	}
	return "http://" + p.to + p.uri
}

// host is the Host that nginx sends by default.
func (p passed) host() string {
	if strings.HasPrefix(p.to, "unix:") {
		return "localhost"
	}
	return p.to
}

// A pass is a proxy_pass before the edits.
type pass struct {
	nginx.Place
	passed
	edited bool
	sends  string
}

// eachPass edits every proxy_pass to an address or upstream, or all. They are
// found and read before the edits, because the edits move directives, and
// because a proxy_pass in a file that is included in several places is one for
// each of them. What the app receives must be the same after the edits.
func (t *task) eachPass(to string, edit func(nginx.Place, passed) error) error {
	all, err := t.allPasses(to)
	if err != nil {
		return err
	}
	for _, f := range all {
		if !f.edited {
			continue
		}
		if err := edit(f.Place, f.passed); err != nil {
			return err
		}
	}
	for _, f := range all {
		if now := t.sends(f.Place); now != f.sends {
			where := f.Around[len(f.Around)-1]
			return fmt.Errorf("location %s shares directives with others, by a file that is included in several places: it would send %q, and sends %q", patternOf(where), now, f.sends)
		}
	}
	return nil
}

// allPasses lists the proxy_pass directives in locations, and which of them
// pass requests on to an address or upstream; to all if it is "".
func (t *task) allPasses(to string) ([]pass, error) {
	http, err := t.http()
	if err != nil {
		return nil, err
	}
	var all []pass
	edits := 0
	t.Walk(http.Block, []*nginx.Directive{http}, func(p nginx.Place) {
		read, ok := passOf(p.Arg(0))
		if p.Name() != "proxy_pass" || len(p.Around) < 3 || !ok {
			return
		}
		f := pass{p, read, to == "" || read.to == to || read.to == upstreamName(to), t.sends(p)}
		if all = append(all, f); f.edited {
			edits++
		}
	})
	if edits == 0 {
		return nil, fmt.Errorf("no location passes requests on to %q", to)
	}
	return all, nil
}

// sends is what a pass sends to the app besides the client's own request, and
// how it rewrites the app's redirects: the headers in effect and proxy_redirect,
// with nginx's defaults written out. "Connection: close" and an empty Connection
// count as the same.
func (c *conf) sends(p nginx.Place) string {
	around := levels(p.Around)
	pass, _ := passOf(p.Arg(0))
	lines := map[string]string{"host": pass.host(), "connection": ""}
	headers, _ := c.effective(around, "proxy_set_header")
	for _, h := range headers {
		name, value := strings.ToLower(h.Arg(0)), h.Arg(1)
		if name == "connection" && strings.EqualFold(value, "close") {
			value = ""
		}
		if name == "host" && value == "$proxy_host" {
			value = pass.host()
		}
		lines[name] = value
	}
	redirects, at := c.effective(around, "proxy_redirect")
	if len(redirects) == 0 || at == len(around)-1 && redirects[0].Arg(0) == "default" {
		lines["redirect"] = strings.Join(redirectOf(around, pass), " ")
	} else {
		for _, r := range redirects {
			lines["redirect"] += strings.Join(r.Args(), " ")
		}
	}
	return fmt.Sprint(lines) // sorted by name
}

// redirectOf is the default of proxy_redirect: the prefix in the app's
// redirects, and its replacement.
func redirectOf(around []*nginx.Directive, pass passed) []string {
	if pass.uri != "" {
		return []string{pass.String(), patternOf(around[len(around)-1]).what}
	}
	return []string{"http://" + pass.to + "/", "/"}
}

// upstreamFor is the upstream block of a proxy_pass. For an address one is
// made; the Host and the redirects stay as they were.
func (t *task) upstreamFor(p nginx.Place, pass passed) *nginx.Directive {
	http := p.Around[0]
	name := upstreamName(pass.to)
	var made *nginx.Directive
	for _, up := range t.Get(http, "upstream") {
		switch {
		case up.Arg(0) == pass.to:
			return up.Directive
		case up.Arg(0) == name && made == nil:
			made = up.Directive
		}
	}
	if made == nil {
		made = nginx.NewBlock("upstream", name).Put(nginx.New("server", pass.to))
		insertBeforeServers(http, made)
	}
	t.rename(p, pass, name)
	return made
}

// rename changes the name in a proxy_pass. What depends on the old name by
// default is written down: the Host that the app receives, and the prefix that
// proxy_redirect replaces in the app's redirects.
func (t *task) rename(p nginx.Place, pass passed, name string) {
	around := levels(p.Around)
	if t.header(around, "Host") == nil {
		t.addHeader(around, "Host", pass.host())
	}
	redirects, at := t.effective(around, "proxy_redirect")
	here := at == len(around)-1 // "default" is valid in locations only
	switch written := redirectOf(around, pass); {
	case len(redirects) == 0:
		around[len(around)-1].Add(nginx.New("proxy_redirect", written...))
	case here && redirects[0].Arg(0) == "default":
		redirects[0].SetArgs(written...)
	}
	p.SetArgs("http://" + name + pass.uri)
}

var notName = regexp.MustCompile(`[^0-9a-zA-Z]`)

// upstreamName is the name of the upstream that iikanji makes for an address.
func upstreamName(host string) string { return "iikanji_" + notName.ReplaceAllString(host, "_") }

// header is the proxy_set_header of a name that is in effect, or nil.
func (c *conf) header(around []*nginx.Directive, name string) *nginx.Directive {
	found, _ := c.effective(around, "proxy_set_header")
	for _, h := range found {
		if strings.EqualFold(h.Arg(0), name) {
			return h.Directive
		}
	}
	return nil
}

// addHeader adds a header to the block that has the others in effect, so that
// it hides none of them.
func (c *conf) addHeader(around []*nginx.Directive, name, value string) {
	_, at := c.effective(around, "proxy_set_header")
	if at < 0 {
		at = len(around) - 1
	}
	around[at].Add(nginx.New("proxy_set_header", name, value))
}
