package nginx

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// An Undecided is a question that the configuration alone does not decide.
type Undecided struct {
	What string
	By   *Directive // nil if it is not about one directive
}

func (e *Undecided) Error() string {
	if e.By != nil {
		return fmt.Sprintf("%s:%d: %s", e.By.File, e.By.Line, e.What)
	}
	return e.What
}

// A Listen is an address that a server listens on.
type Listen struct {
	IP   string // "" for all addresses of IPv4, "::" for those of IPv6; a name if it is not resolved here
	Port string // "" for a unix socket
	Unix string // the path of a unix socket

	isDefault bool // the server answers requests for names that no server has
	both      bool // "::" stands for the addresses of IPv4 too
}

// Listens are the addresses of a server; port 80 of all addresses of IPv4 without
// any, which is nginx's default if root starts it.
func (s Scope) Listens() []Listen {
	var out []Listen
	for _, d := range s.Own("listen") {
		if d.Has("quic") {
			continue
		}
		l := ParseAddress(d.Arg(0))
		l.isDefault = d.Has("default_server") || d.Has("default")
		l.both = l.IP == "::" && d.Has("ipv6only=off")
		low, high, ports := strings.Cut(l.Port, "-")
		from, err := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if !ports || err != nil || err2 != nil || from > to || to > 65535 {
			out = append(out, l)
			continue
		}
		for port := from; port <= to; port++ {
			l.Port = strconv.Itoa(port)
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		out = []Listen{{Port: "80"}}
	}
	return out
}

// ParseAddress reads the address of a listen directive or of a request: "80",
// "*:80", "127.0.0.1:80", "[::]:80", "localhost", "unix:/run/x". The port is 80
// where none is written.
func ParseAddress(text string) Listen {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		return Listen{Unix: path}
	}
	if text != "" && strings.Trim(text, "0123456789-") == "" {
		return Listen{Port: text}
	}
	ip, port, ok := splitHostPort(text)
	if !ok {
		ip, port = strings.Trim(text, "[]"), "80"
	}
	switch ip = strings.ToLower(ip); ip {
	case "*", "0.0.0.0":
		ip = ""
	case "localhost":
		ip = "127.0.0.1"
	default:
		if a, err := netip.ParseAddr(ip); err == nil {
			ip = a.String()
		}
	}
	return Listen{IP: ip, Port: port}
}

// splitHostPort splits "host:port" and "[host]:port"; ok is false where there is
// no port. (net.SplitHostPort is in a package that does I/O.)
func splitHostPort(s string) (host, port string, ok bool) {
	if rest, bracketed := strings.CutPrefix(s, "["); bracketed {
		host, port, ok = strings.Cut(rest, "]:")
	} else {
		host, port, ok = strings.Cut(s, ":")
	}
	if !ok || strings.ContainsAny(host, "[]") || strings.ContainsAny(port, ":[]") {
		return "", "", false
	}
	return host, port, true
}

// isName reports whether the address is a name, which is not resolved here.
func (l Listen) isName() bool {
	_, err := netip.ParseAddr(l.IP)
	return l.Unix == "" && l.IP != "" && err != nil
}

// Server is the server that answers a request that arrives at an address with a
// Host header: among the servers that listen there, the one that has the name, else
// the default server, else the first. An address whose name is not an IP address is
// any of this machine. The error is an *Undecided if that is not enough to tell, or
// if no server listens there.
func (c *Config) Server(address, host string) (Scope, error) {
	http, ok := c.HTTP()
	if !ok {
		return Scope{}, &Undecided{What: "the configuration has no http block"}
	}
	to := ParseAddress(address)
	servers := http.Blocks("server")
	var named, others []selected
	for _, l := range addressesFor(servers, to) {
		s, err := listening(servers, l).choose(host)
		if err != nil {
			return Scope{}, err
		}
		if s.byName {
			named = append(named, s)
		} else {
			others = append(others, s)
		}
	}
	if len(named) == 0 { // a name is more probably the address of the server that has it
		named = others
	}
	for _, s := range named {
		if s.Last() != named[0].Last() {
			return Scope{}, &Undecided{What: fmt.Sprintf("several servers may answer at %s", address)}
		}
	}
	if len(named) == 0 {
		return Scope{}, &Undecided{What: fmt.Sprintf("no server listens at %s", address)}
	}
	return named[0].Scope, nil
}

// addressesFor are the addresses that servers listen on and at which a request for
// an address may arrive: one, if the address is exact.
func addressesFor(servers []Scope, to Listen) []Listen {
	var all []Listen
	for _, s := range servers {
		for _, l := range s.Listens() {
			l.isDefault = false
			if l.Port == to.Port && l.Unix == to.Unix && !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	if to.isName() {
		return all
	}
	ip, err := netip.ParseAddr(to.IP)
	six := err == nil && ip.Is6()
	for _, is := range []func(Listen) bool{
		func(l Listen) bool { return l.IP == to.IP },
		func(l Listen) bool { return !six && l.IP == "" || six && l.IP == "::" },
		func(l Listen) bool { return !six && l.both },
	} {
		if i := slices.IndexFunc(all, is); i >= 0 {
			return all[i : i+1]
		}
	}
	return nil
}

// A selected is the server that nginx selects.
type selected struct {
	Scope
	byName   bool
	captured *captured // of the name's expression
}

// A listener is an address with the servers that listen on it.
type listener struct {
	servers []Scope
	other   Scope // answers requests for other names
}

func listening(servers []Scope, at Listen) listener {
	var l listener
	explicit := false
	for _, s := range servers {
		for _, own := range s.Listens() {
			isDefault := own.isDefault
			own.isDefault = false
			if own != at {
				continue
			}
			if len(l.servers) == 0 || isDefault && !explicit {
				l.other = s
			}
			explicit = explicit || isDefault
			l.servers = append(l.servers, s)
			break
		}
	}
	return l
}

// choose selects a server by the Host header: by its exact name, the longest name
// that begins with "*.", the longest that ends with ".*", the first regular
// expression.
func (l listener) choose(host string) (selected, error) {
	host = hostName(host)
	t := newNameTable(l.servers)
	if s, ok := t.find(host); ok {
		return selected{Scope: s, byName: true}, nil
	}
	for _, e := range t.expressions {
		if host == "" {
			break
		}
		m, err := matchExpression(e.text, host, e.text != strings.ToLower(e.text))
		if err != nil {
			what := fmt.Sprintf("cannot tell whether the name ~%s is that of %s: %v", e.text, host, err)
			return selected{}, &Undecided{what, e.server.Last()}
		}
		if m != nil {
			return selected{e.server, true, m}, nil
		}
	}
	return selected{Scope: l.other}, nil
}

// hostName is the name in a Host header, in lower case and without a port and a
// period at its end.
func hostName(header string) string {
	name := header
	if i := strings.LastIndexByte(header, ':'); i >= 0 && !strings.HasSuffix(header, "]") {
		name = header[:i]
	}
	return strings.TrimSuffix(strings.ToLower(name), ".")
}

// A nameTable has the names of the servers at one address. Of equal names, the
// first one counts.
type nameTable struct {
	exact       map[string]Scope
	front       map[string]wildcard // "*.example.org" and ".example.org", by "example.org"
	behind      map[string]Scope    // "www.*", by "www"
	taken       map[string]bool     // the names without a wildcard, and those of ".example.org"
	expressions []nameExpression
}

type wildcard struct {
	Scope
	itself bool // also the name without what the wildcard stands for
}

type nameExpression struct {
	text   string
	server Scope
}

func newNameTable(servers []Scope) *nameTable {
	t := &nameTable{map[string]Scope{}, map[string]wildcard{}, map[string]Scope{}, map[string]bool{}, nil}
	for _, s := range servers {
		for _, name := range s.serverNames() {
			if text, ok := strings.CutPrefix(name, "~"); ok {
				t.expressions = append(t.expressions, nameExpression{text, s})
			} else {
				t.add(strings.ToLower(name), s)
			}
		}
	}
	return t
}

// serverNames are the names of a server; one without any has the empty name.
func (s Scope) serverNames() []string {
	var names []string
	for _, d := range s.Own("server_name") {
		names = append(names, d.Args()...)
	}
	if len(names) == 0 {
		names = []string{""}
	}
	return names
}

// add adds a name unless it is there, as ngx_hash_add_key does.
func (t *nameTable) add(name string, s Scope) {
	rest, itself := strings.CutPrefix(name, ".")
	below, isFront := strings.CutPrefix(name, "*.")
	start, isBehind := strings.CutSuffix(name, ".*")
	switch {
	case itself && rest != "":
		if t.taken[rest] {
			return
		}
		t.taken[rest] = true
		if _, ok := t.front[rest]; !ok {
			t.front[rest] = wildcard{s, true}
		}
	case isFront:
		if _, ok := t.front[below]; !ok {
			t.front[below] = wildcard{s, false}
		}
	case isBehind:
		if _, ok := t.behind[start]; !ok {
			t.behind[start] = s
		}
	case !t.taken[name]:
		t.taken[name] = true
		t.exact[name] = s
	}
}

// find looks a name up that is in lower case.
func (t *nameTable) find(host string) (Scope, bool) {
	if s, ok := t.exact[host]; ok || host == "" {
		return s, ok
	}
	if w, ok := t.front[host]; ok && w.itself {
		return w.Scope, true
	}
	for rest := host; ; {
		_, after, ok := strings.Cut(rest, ".")
		if !ok {
			break
		}
		if w, ok := t.front[after]; ok {
			return w.Scope, true
		}
		rest = after
	}
	for rest := host; ; {
		i := strings.LastIndexByte(rest, '.')
		if i < 0 {
			return Scope{}, false
		}
		if s, ok := t.behind[rest[:i]]; ok {
			return s, true
		}
		rest = rest[:i]
	}
}
