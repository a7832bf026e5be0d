package nginxconf

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// editKeepalive keeps idle connections to the app open. It takes an upstream
// block with "keepalive", HTTP/1.1, and no "Connection: close": nginx sends
// that by default. Where proxy_pass names an address, the upstream is made.
func editKeepalive(c *conf, args map[string]string) (string, []iikanji.Promise, error) {
	n, err := strconv.Atoi(args["keepalive"])
	if err != nil || n < 1 || n > 65535 {
		return "", nil, fmt.Errorf("keepalive %q: want 1 to 65535", args["keepalive"])
	}
	http, err := c.http()
	if err != nil {
		return "", nil, err
	}
	var passes []place // found first: the edits move directives
	c.walk(http.body, []*directive{http}, func(p place) {
		if p.name() == "proxy_pass" && len(p.around) >= 3 {
			passes = append(passes, p)
		}
	})
	found := false
	for _, p := range passes {
		if u, err := url.Parse(p.arg(0)); err == nil && (args["to"] == "" || u.Host == args["to"] || isOurs(u.Host, args["to"])) {
			found = true
			keepAlive(c, http, p, n)
		}
	}
	if !found {
		return "", nil, fmt.Errorf("no location passes requests on to %q", args["to"])
	}
	return fmt.Sprintf("keep up to %d idle connections from each nginx worker to the app open", n), nil, nil
}

// keepAlive edits one proxy_pass. Variables, https and unix sockets are left alone.
func keepAlive(c *conf, http *directive, p place, n int) {
	u, err := url.Parse(p.arg(0))
	if err != nil || u.Scheme != "http" || u.Host == "" || strings.Contains(p.arg(0), "$") {
		return
	}
	conns := strconv.Itoa(n)
	up := upstreamOf(c, http, u.Host)
	if up == nil {
		up = newBlock("upstream", upstreamName(u.Host)).put(newDirective("server", u.Host), newDirective("keepalive", conns))
		insertBeforeServers(http, up)
	} else if kept := c.get(up, "keepalive"); len(kept) > 0 {
		kept[0].setArgs(conns)
	} else {
		up.add(newDirective("keepalive", conns)) // behind any load balancing method, as it must
	}
	if name := up.arg(0); u.Host != name {
		// The default Host header is proxy_pass's own host: it must not change.
		if headerInEffect(c, p, "Host") == nil {
			addHeader(c, p, "Host", u.Host)
		}
		p.setArgs("http://" + name + strings.TrimPrefix(p.arg(0), "http://"+u.Host))
	}
	if v := inEffect(c, p, "proxy_http_version"); v != nil {
		v.setArgs("1.1")
	} else {
		p.around[len(p.around)-1].add(newDirective("proxy_http_version", "1.1"))
	}
	if h := headerInEffect(c, p, "Connection"); h == nil {
		addHeader(c, p, "Connection", "")
	} else if strings.EqualFold(h.arg(1), "close") {
		h.setArgs(h.arg(0), "")
	}
}

// upstreamOf finds the upstream that a host of proxy_pass means: by name, or
// one of ours whose only server it is.
func upstreamOf(c *conf, http *directive, host string) *directive {
	for _, up := range c.get(http, "upstream") {
		if up.arg(0) == host {
			return up.directive
		}
		if servers := c.get(up.directive, "server"); up.arg(0) == upstreamName(host) && len(servers) == 1 && servers[0].arg(0) == host {
			return up.directive
		}
	}
	return nil
}

// isOurs says whether a host of proxy_pass is the upstream that stands for an address now.
func isOurs(host, address string) bool { return host == upstreamName(address) }

// upstreamName is the name of the upstream that iikanji makes for an address.
func upstreamName(host string) string {
	return "iikanji_" + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, host)
}

// insertBeforeServers puts an upstream before the first server block, or at
// the end of http.
func insertBeforeServers(http, up *directive) {
	at := len(http.body.items)
	for i, d := range http.body.items {
		if d.name() == "server" {
			at = i
			break
		}
	}
	outer := lineIndent(http)
	http.body.insert(at, up, outer, outer+indentStep)
}

// inEffect finds the nearest directive of a name around p, as nginx inherits it.
func inEffect(c *conf, p place, name string) *directive {
	for i := len(p.around) - 1; i >= 0; i-- {
		if found := c.get(p.around[i], name); len(found) > 0 {
			return found[0].directive
		}
	}
	return nil
}

// headerLevel is the block whose proxy_set_header lines are in effect at p: a
// level that has any hides all of those outside.
func headerLevel(c *conf, p place) *directive {
	for i := len(p.around) - 1; i >= 0; i-- {
		if len(c.get(p.around[i], "proxy_set_header")) > 0 {
			return p.around[i]
		}
	}
	return nil
}

func headerInEffect(c *conf, p place, header string) *directive {
	level := headerLevel(c, p)
	if level == nil {
		return nil
	}
	for _, h := range c.get(level, "proxy_set_header") {
		if strings.EqualFold(h.arg(0), header) {
			return h.directive
		}
	}
	return nil
}

// addHeader adds a header where the others in effect are, so that none of them is hidden.
func addHeader(c *conf, p place, name, value string) {
	level := headerLevel(c, p)
	if level == nil {
		level = p.around[len(p.around)-1]
	}
	level.add(newDirective("proxy_set_header", name, value))
}
