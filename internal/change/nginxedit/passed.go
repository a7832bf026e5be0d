package nginxedit

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// A Passed is the argument of a proxy_pass: the address or upstream, and the
// path that replaces the location's prefix, if any.
type Passed struct{ To, URI string }

// PassOf reads the argument of a proxy_pass. It is false for variables and
// https, which are left alone.
func PassOf(arg string) (Passed, bool) {
	rest, ok := strings.CutPrefix(arg, "http://")
	if !ok || rest == "" || strings.Contains(arg, "$") {
		return Passed{}, false
	}
	if sock, ok := strings.CutPrefix(rest, "unix:"); ok {
		path, uri, _ := strings.Cut(sock, ":")
		return Passed{"unix:" + path, uri}, true
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return Passed{rest[:i], rest[i:]}, rest[:i] != ""
	}
	return Passed{rest, ""}, true
}

// String is the argument that was read.
func (p Passed) String() string {
	if strings.HasPrefix(p.To, "unix:") && p.URI != "" {
		return "http://" + p.To + ":" + p.URI
	}
	return "http://" + p.To + p.URI
}

// Host is the Host that nginx sends by default.
func (p Passed) Host() string {
	if strings.HasPrefix(p.To, "unix:") {
		return "localhost"
	}
	return p.To
}

// redirectOf is the default of proxy_redirect: the prefix in the app's
// redirects, and its replacement.
func redirectOf(around []*nginx.Directive, pass Passed) []string {
	if pass.URI != "" {
		return []string{pass.String(), nginx.PatternOf(around[len(around)-1]).What}
	}
	return []string{"http://" + pass.To + "/", "/"}
}

// Sends is what a pass sends to the app besides the client's own request, and
// how it rewrites the app's redirects: the headers in effect and proxy_redirect,
// with nginx's defaults written out. "Connection: close" and an empty Connection
// count as the same.
func (c *Conf) Sends(p nginx.Place) string {
	around := Levels(p.Around)
	pass, _ := PassOf(p.Arg(0))
	lines := map[string]string{"host": pass.Host(), "connection": ""}
	headers, _ := c.Effective(around, "proxy_set_header")
	for _, h := range headers {
		name, value := strings.ToLower(h.Arg(0)), h.Arg(1)
		if name == "connection" && strings.EqualFold(value, "close") {
			value = ""
		}
		if name == "host" && value == "$proxy_host" {
			value = pass.Host()
		}
		lines[name] = value
	}
	redirects, at := c.Effective(around, "proxy_redirect")
	if len(redirects) == 0 || at == len(around)-1 && redirects[0].Arg(0) == "default" {
		lines["redirect"] = strings.Join(redirectOf(around, pass), " ")
	} else {
		for _, r := range redirects {
			lines["redirect"] += strings.Join(r.Args(), " ")
		}
	}
	return fmt.Sprint(lines) // sorted by name
}

// UpstreamFor is the upstream block of a proxy_pass. For an address one is
// made; the Host and the redirects stay as they were.
func (t *Plan) UpstreamFor(p nginx.Place, pass Passed) *nginx.Directive {
	http := p.Around[0]
	name := UpstreamName(pass.To)
	var made *nginx.Directive
	for _, up := range t.Get(http, "upstream") {
		switch {
		case up.Arg(0) == pass.To:
			return up.Directive
		case up.Arg(0) == name && made == nil:
			made = up.Directive
		}
	}
	if made == nil {
		made = nginx.NewBlock("upstream", name).Put(nginx.New("server", pass.To))
		InsertBeforeServers(http, made)
	}
	t.Rename(p, pass, name)
	return made
}

// Rename changes the name in a proxy_pass. What depends on the old name by
// default is written down: the Host that the app receives, and the prefix that
// proxy_redirect replaces in the app's redirects.
func (t *Plan) Rename(p nginx.Place, pass Passed, name string) {
	around := Levels(p.Around)
	if t.Header(around, "Host") == nil {
		t.AddHeader(around, "Host", pass.Host())
	}
	redirects, at := t.Effective(around, "proxy_redirect")
	here := at == len(around)-1 // "default" is valid in locations only
	switch written := redirectOf(around, pass); {
	case len(redirects) == 0:
		around[len(around)-1].Add(nginx.New("proxy_redirect", written...))
	case here && redirects[0].Arg(0) == "default":
		redirects[0].SetArgs(written...)
	}
	p.SetArgs("http://" + name + pass.URI)
}

var notName = regexp.MustCompile(`[^0-9a-zA-Z]`)

// UpstreamName is the name of the upstream that iikanji makes for an address.
func UpstreamName(host string) string { return "iikanji_" + NameOf(host) }

// NameOf is a text as a part of a name: other characters than letters and digits
// become "_".
func NameOf(text string) string { return notName.ReplaceAllString(text, "_") }

// Header is the proxy_set_header of a name that is in effect, or nil.
func (c *Conf) Header(around []*nginx.Directive, name string) *nginx.Directive {
	found, _ := c.Effective(around, "proxy_set_header")
	for _, h := range found {
		if strings.EqualFold(h.Arg(0), name) {
			return h.Directive
		}
	}
	return nil
}

// AddHeader adds a header to the block that has the others in effect, so that
// it hides none of them.
func (c *Conf) AddHeader(around []*nginx.Directive, name, value string) {
	_, at := c.Effective(around, "proxy_set_header")
	if at < 0 {
		at = len(around) - 1
	}
	around[at].Add(nginx.New("proxy_set_header", name, value))
}
