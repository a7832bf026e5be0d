package nginxconf

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// editKeepalive keeps idle connections to the app open. It takes an upstream
// block with "keepalive", HTTP/1.1, and no "Connection: close": nginx sends
// that by default. Where proxy_pass names an address, the upstream is made.
func editKeepalive(t *task) error {
	n, err := t.number("keepalive", 1, 65535)
	if err != nil {
		return err
	}
	if t.args["requests"] != "" {
		if _, err := t.number("requests", 1, 1_000_000_000); err != nil {
			return err
		}
	}
	if v := t.args["timeout"]; v != "" && !duration.MatchString(v) {
		return fmt.Errorf("timeout %q: want a time, as 60s", v)
	}
	err = t.eachPass(func(p place, pass passed) error {
		up := t.upstreamFor(p, pass)
		setIn(t.conf, up, "keepalive", strconv.Itoa(n)) // behind any load balancing method, as it must
		if v := t.args["requests"]; v != "" {
			setIn(t.conf, up, "keepalive_requests", v)
		}
		if v := t.args["timeout"]; v != "" {
			setIn(t.conf, up, "keepalive_timeout", v)
		}
		around := levels(p.around)
		if v, _ := t.effective(around, "proxy_http_version"); len(v) > 0 {
			v[0].setArgs("1.1")
		} else {
			around[len(around)-1].add(newDirective("proxy_http_version", "1.1"))
		}
		if h := t.header(around, "Connection"); h == nil {
			t.addHeader(around, "Connection", "")
		} else if strings.EqualFold(h.arg(1), "close") {
			h.setArgs(h.arg(0), "")
		}
		return nil
	})
	t.says = fmt.Sprintf("keep up to %d idle connections from each nginx worker to the app open", n)
	return err
}

// setIn sets a directive right inside a block, or adds it at its end.
func setIn(c *conf, d *directive, name string, args ...string) {
	if found := c.get(d, name); len(found) > 0 {
		if !slices.EqualFunc(found[0].args(), args, sameValue) {
			found[0].setArgs(args...)
		}
		return
	}
	d.add(newDirective(name, args...))
}

// A passed is what a proxy_pass says: the address or upstream, and the path
// that stands for the location's, if any.
type passed struct{ to, uri string }

// passOf reads the argument of a proxy_pass. Variables and https are left alone.
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

// eachPass edits every proxy_pass to args["to"], or all. They are found and
// read first, as the edits move directives, and as one that stands in a file
// that several places include is one for each of them. What the app is asked
// must be the same behind the edits, everywhere.
func (t *task) eachPass(edit func(place, passed) error) error {
	http, err := t.http()
	if err != nil {
		return err
	}
	type found struct {
		place
		passed
		edited bool
		asks   string // before
	}
	var all []found
	edits := 0
	t.walk(http.body, []*directive{http}, func(p place) {
		pass, ok := passOf(p.arg(0))
		if p.name() != "proxy_pass" || len(p.around) < 3 || !ok {
			return
		}
		to := t.args["to"]
		f := found{p, pass, to == "" || pass.to == to || pass.to == upstreamName(to), t.asks(p)}
		if all = append(all, f); f.edited {
			edits++
		}
	})
	if edits == 0 {
		return fmt.Errorf("no location passes requests on to %q", t.args["to"])
	}
	for _, f := range all {
		if !f.edited {
			continue
		}
		if err := edit(f.place, f.passed); err != nil {
			return err
		}
	}
	for _, f := range all {
		if now := t.asks(f.place); now != f.asks {
			where := f.around[len(f.around)-1]
			return fmt.Errorf("location %s shares directives with others, by a file that is included in several places: it would send %q, and sends %q", matches(where), now, f.asks)
		}
	}
	return nil
}

// asks is what a pass sends to the app besides the client's own request, and
// how it reads the answer's redirects: the headers in effect and proxy_redirect,
// with nginx's defaults spelled out. "Connection: close" is told from an empty
// one by nobody but connections.
func (c *conf) asks(p place) string {
	around := levels(p.around)
	pass, _ := passOf(p.arg(0))
	lines := map[string]string{"host": pass.host(), "connection": ""}
	headers, _ := c.effective(around, "proxy_set_header")
	for _, h := range headers {
		name, value := strings.ToLower(h.arg(0)), h.arg(1)
		if name == "connection" && strings.EqualFold(value, "close") {
			value = ""
		}
		if name == "host" && value == "$proxy_host" {
			value = pass.host()
		}
		lines[name] = value
	}
	redirects, at := c.effective(around, "proxy_redirect")
	if len(redirects) == 0 || at == len(around)-1 && redirects[0].arg(0) == "default" {
		lines["redirect"] = strings.Join(redirectOf(around, pass), " ")
	} else {
		for _, r := range redirects {
			lines["redirect"] += strings.Join(r.args(), " ")
		}
	}
	return fmt.Sprint(lines) // in the order of the names
}

// redirectOf is what proxy_redirect takes from the app's redirects by default,
// and what it makes of that.
func redirectOf(around []*directive, pass passed) []string {
	if pass.uri != "" {
		return []string{pass.String(), matches(around[len(around)-1]).what}
	}
	return []string{"http://" + pass.to + "/", "/"}
}

// upstreamFor is the upstream block that a proxy_pass names; one is made for
// an address, and the app and the clients are told the same host as before.
func (t *task) upstreamFor(p place, pass passed) *directive {
	http := p.around[0]
	for _, up := range t.get(http, "upstream") {
		if up.arg(0) == pass.to {
			return up.directive
		}
	}
	name := upstreamName(pass.to)
	i := slices.IndexFunc(t.get(http, "upstream"), func(up place) bool { return up.arg(0) == name })
	var up *directive
	if i >= 0 {
		up = t.get(http, "upstream")[i].directive
	} else {
		up = newBlock("upstream", name).put(newDirective("server", pass.to))
		insertBeforeServers(http, up)
	}
	t.rename(p, pass, name)
	return up
}

// rename passes on to another name. What depends on the old one is written
// down: the Host that the app sees, and the prefix that proxy_redirect takes
// from the app's own redirects.
func (t *task) rename(p place, pass passed, name string) {
	around := levels(p.around)
	if t.header(around, "Host") == nil {
		t.addHeader(around, "Host", pass.host())
	}
	redirects, at := t.effective(around, "proxy_redirect")
	here := at == len(around)-1 // "default" stands in locations only
	switch written := redirectOf(around, pass); {
	case len(redirects) == 0:
		around[len(around)-1].add(newDirective("proxy_redirect", written...))
	case here && redirects[0].arg(0) == "default":
		redirects[0].setArgs(written...)
	}
	p.setArgs("http://" + name + pass.uri)
}

var notName = regexp.MustCompile(`[^0-9a-zA-Z]`)

// upstreamName is the name of the upstream that iikanji makes for an address.
func upstreamName(host string) string { return "iikanji_" + notName.ReplaceAllString(host, "_") }

// insertBeforeServers puts a block before the first server block, or at the
// end of http.
func insertBeforeServers(http, d *directive) {
	at := slices.IndexFunc(http.body.items, func(d *directive) bool { return d.name() == "server" })
	if at < 0 {
		at = len(http.body.items)
	}
	outer := lineIndent(http)
	http.body.insert(at, d, outer, outer+indentStep)
}

// header is the proxy_set_header of a name that is in effect, or nil.
func (c *conf) header(around []*directive, name string) *directive {
	found, _ := c.effective(around, "proxy_set_header")
	for _, h := range found {
		if strings.EqualFold(h.arg(0), name) {
			return h.directive
		}
	}
	return nil
}

// addHeader adds a header where the others in effect are, so that none of them
// is hidden.
func (c *conf) addHeader(around []*directive, name, value string) {
	_, at := c.effective(around, "proxy_set_header")
	if at < 0 {
		at = len(around) - 1
	}
	around[at].add(newDirective("proxy_set_header", name, value))
}
