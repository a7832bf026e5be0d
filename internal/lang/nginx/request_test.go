package nginx

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestAnswersAsNginx compares who answers requests with a real nginx.
func TestAnswersAsNginx(t *testing.T) {
	tier.Slow(t)
	rounds, certain, asked := 4, 0, 0
	if tier.Soaking() {
		rounds = 100
	}
	for seed := range rounds {
		c, n := compareAnswers(t, uint64(seed), 150)
		certain, asked = certain+c, asked+n
	}
	t.Logf("%d of %d answers are certain", certain, asked)
	if asked < 2000 || certain < asked/2 {
		t.Errorf("%d of %d answers are certain: want more than half, and 2000 or more", certain, asked)
	}
}

// FuzzAnswersAsNginx does the same with more configurations.
func FuzzAnswersAsNginx(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { compareAnswers(t, seed, 40) })
}

// compareAnswers makes some servers, has a real nginx read them, and sends requests
// to each. It returns how many of the answers were certain.
func compareAnswers(t *testing.T, seed uint64, servers int) (certain, asked int) {
	dir := t.TempDir()
	g := &generator{rand.New(rand.NewPCG(seed, 1)), 0, nil}
	blocks := make([]string, servers)
	var http strings.Builder
	for i := range blocks {
		blocks[i] = g.server(i)
		http.WriteString(blocks[i])
	}
	text := strings.ReplaceAll(answersSkeleton, "SERVERS", http.String())
	text = strings.NewReplacer("DIR", dir, "MERGE", g.one("on", "on", "off")).Replace(text)
	start(t, dir, text)
	conf, err := Load("nginx.conf", oneText(text))
	if err != nil {
		t.Fatal(err)
	}
	ask := &rawClient{t: t, path: filepath.Join(dir, "s")}
	for i, block := range blocks {
		for range 12 {
			r := g.request()
			r.Address, r.Host = "unix:"+filepath.Join(dir, "s"), fmt.Sprintf("s%d.test", i)
			asked++
			if compareAnswer(t, conf, ask, r, dir, block) {
				certain++
			}
			if t.Failed() {
				t.FailNow()
			}
		}
	}
	return certain, asked
}

// answersSkeleton has a server beside the generated ones, to which they pass
// requests on; it answers with the header X-Id and the path that it gets.
const answersSkeleton = `daemon off; master_process off; pid DIR/pid; error_log DIR/error.log crit;
events { worker_connections 64; }
http {
	access_log off; client_body_temp_path DIR/t; proxy_temp_path DIR/t; fastcgi_temp_path DIR/t; uwsgi_temp_path DIR/t; scgi_temp_path DIR/t;
	keepalive_requests 1000000; server_names_hash_max_size 8192; root DIR/none; default_type text/plain; absolute_redirect off; merge_slashes MERGE;
SERVERS
	server { listen unix:DIR/b; location / { return 200 "passed $http_x_id $uri"; } }
}
`

type oneText string

func (o oneText) Read(string) ([]byte, error)   { return []byte(o), nil }
func (o oneText) Glob(string) ([]string, error) { return nil, nil }

// compareAnswer sends one request; it returns false for an answer that rests on
// assumptions that are not met here, or on what the configuration does not decide.
func compareAnswer(t *testing.T, conf *Config, client *rawClient, r Request, dir, block string) bool {
	t.Helper()
	status, header, body := client.ask(r)
	a, err := conf.Answer(r)
	var undecided *Undecided
	if errors.As(err, &undecided) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	fail := func(what string, got, want any) {
		t.Errorf("%s %s %v\n%s\n%s: %v; nginx has %v\n(status %d, %s, %q; here %d, by %v, path %s, %d blocks)", r.Method, r.URI, r.Headers, block, what, got, want,
			status, header.Get("X-Id"), body, a.Status, a.By, a.Path, len(a.Chain))
	}
	id := ""
	for _, d := range a.Effective("add_header") {
		id = d.Arg(1)
	}
	if a.Status == 400 { // nginx refuses the request before it knows the server
		id = header.Get("X-Id")
	}
	if got := header.Get("X-Id"); got != id {
		fail("add_header", id, got)
	}
	want := a.Status
	switch {
	case a.By != nil && strings.HasSuffix(a.By.Name(), "_pass"):
		want = max(want, 200)
		sent := ""
		for _, d := range a.Effective("proxy_set_header") {
			sent = d.Arg(1)
		}
		path, _ := NormalPath((&url.URL{Path: a.Path}).EscapedPath(), a.mergesSlashes(r.Address))
		if says := "passed " + sent + " " + path; body != says {
			fail("passed on", says, body)
		}
	case want == 0:
		want = 404
		if strings.HasSuffix(a.Path, "/") && status == 403 {
			want = 403
		}
	}
	if status != want {
		fail("status", want, status)
	}
	if a.Status == 200 && a.By.Name() == "return" && a.Text != body {
		fail("text", a.Text, body)
	}
	if a.Status >= 301 && a.Status <= 302 {
		if to, _ := url.PathUnescape(header.Get("Location")); to != a.Text && !(a.Text == "" && r.Headers == nil) {
			fail("redirect", a.Text, to)
		}
	}
	return true
}

// A rawClient sends requests over one connection, without changing their paths.
type rawClient struct {
	t    *testing.T
	path string
	conn net.Conn
	in   *bufio.Reader
}

func (c *rawClient) ask(r Request) (int, http.Header, string) {
	c.t.Helper()
	if c.conn == nil {
		var err error
		if c.conn, err = net.Dial("unix", c.path); err != nil {
			c.t.Fatal(err)
		}
		c.in = bufio.NewReader(c.conn)
	}
	fmt.Fprintf(c.conn, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.URI, r.Host)
	for name, value := range r.Headers {
		fmt.Fprintf(c.conn, "%s: %s\r\n", name, value)
	}
	fmt.Fprint(c.conn, "\r\n")
	resp, err := http.ReadResponse(c.in, &http.Request{Method: r.Method})
	if err != nil {
		c.t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if resp.Close {
		c.conn.Close()
		c.conn = nil
	}
	return resp.StatusCode, resp.Header, string(body)
}

// A generator makes servers and requests.
type generator struct {
	*rand.Rand
	id    int
	named []string // the named locations of the server
}

func (g *generator) one(words ...string) string { return words[g.IntN(len(words))] }

// chance is true n times of 100.
func (g *generator) chance(n int) bool { return g.IntN(100) < n }

func (g *generator) nextID() string { g.id++; return fmt.Sprintf("i%d", g.id) }

// segment is a part of a path; few of them, so that locations meet.
func (g *generator) segment() string { return g.one("a", "b", "ab", "c.png", "A", "a.b", "é") }

func (g *generator) path() string {
	p := ""
	for range g.IntN(4) {
		p += "/" + g.segment()
	}
	if p == "" || g.chance(30) {
		p += "/"
	}
	return p
}

// expression is a regular expression that both dialects read.
func (g *generator) expression() string {
	return g.one(`^/a`, `/b`, `\.png$`, `^/(a|b)/(.*)$`, `^/([^/]+)/ab`, `b$`, `^/(?<first>[a-z]+)`, `A`, `^/a/.`, `/a\.b`, `^/.$`, `^/ab?/`, `[éx]`, `/$`, `^/a{1,2}b`)
}

func (g *generator) request() Request {
	uri := g.path()
	if g.chance(20) {
		uri = strings.NewReplacer("a", "%61", "/b", "//b", "/A", "/./A", "c.png", "x/../c.png", "é", "%C3%A9").Replace(uri)
	}
	if g.chance(3) {
		uri += g.one("/..", "/.", "/../..", "%2F", "%3Fa", "%00", "%", "%25b")
	}
	if g.chance(25) {
		uri += g.one("?x=1", "?x=2&y=a", "?", "?y=b")
	}
	r := Request{Method: g.one("GET", "GET", "POST", "DELETE"), URI: uri, Headers: map[string]string{}}
	if g.chance(40) {
		r.Headers["x-t"] = g.one("0", "1", "a", "/b")
	}
	if g.chance(20) {
		r.Headers["cookie"] = g.one("k=1", "j=2; k=a", "kk=1")
	}
	if g.chance(10) {
		r.Headers = nil
	}
	return r
}

func (g *generator) server(i int) string {
	var b strings.Builder
	g.named = nil
	for _, name := range []string{"@x", "@y"} {
		if g.chance(40) {
			g.named = append(g.named, name)
		}
	}
	fmt.Fprintf(&b, "server { listen unix:DIR/s; server_name s%d.test;\n", i)
	b.WriteString(g.ids("\t", 80))
	if g.chance(20) {
		b.WriteString("\terror_page 404 " + g.target() + ";\n")
	}
	if g.chance(20) {
		b.WriteString(g.rewrites("\t", false))
	}
	b.WriteString(g.locations("\t", ""))
	for _, name := range g.named {
		b.WriteString("\tlocation " + name + " {\n" + g.body("\t\t", "") + "\t}\n")
	}
	return b.String() + "}\n"
}

// ids are the directives by which an answer names its block.
func (g *generator) ids(indent string, share int) string {
	text := ""
	if g.chance(share) {
		text += indent + "add_header X-Id " + g.nextID() + " always;\n"
	}
	if g.chance(share) {
		text += indent + "proxy_set_header X-Id " + g.nextID() + ";\n"
	}
	return text
}

// target is where a try_files or an error_page leads to.
func (g *generator) target() string {
	if len(g.named) > 0 && g.chance(60) {
		return g.named[g.IntN(len(g.named))]
	}
	return g.path() + g.one("", "", "?x=$args")
}

// locations are locations inside a prefix; "" is the server, "~" an expression, in
// which nginx allows expressions only.
func (g *generator) locations(indent, within string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for range g.IntN(5) {
		how := g.one("", "", "", "=", "^~", "~", "~*")
		if within == "~" {
			how = g.one("~", "~*")
		}
		what := within + g.path()
		if within != "" && strings.HasSuffix(within, "/") {
			what = within + strings.TrimPrefix(g.path(), "/")
		}
		key := "prefix " + what
		switch how {
		case "~", "~*":
			what = g.expression()
			key = ""
		case "=":
			key = "exact " + what
		}
		if key != "" && seen[key] {
			continue
		}
		seen[key] = true
		blank := g.one(" ", "")
		if how == "" {
			blank = ""
		}
		if strings.ContainsAny(what, "{}") {
			what, blank = `"`+what+`"`, " "
		}
		fmt.Fprintf(&b, "%slocation %s%s%s {\n", indent, how, blank, what)
		b.WriteString(g.body(indent+"\t", what))
		if how != "=" && len(indent) < 3 && g.chance(30) {
			inside := what
			if how == "~" || how == "~*" {
				inside = "~"
			}
			b.WriteString(g.locations(indent+"\t", inside))
		}
		b.WriteString(indent + "}\n")
	}
	return b.String()
}

// body is the content of a location.
func (g *generator) body(indent, what string) string {
	var b strings.Builder
	b.WriteString(g.ids(indent, 70))
	if g.chance(5) && what != "" {
		b.WriteString(indent + "internal;\n")
	}
	if g.chance(10) {
		b.WriteString(indent + "error_page " + g.one("404", "404 418", "418") + g.one(" ", " = ", " =200 ") + g.target() + ";\n")
	}
	if g.chance(30) {
		b.WriteString(g.rewrites(indent, true))
	}
	switch g.IntN(10) {
	case 0, 1, 2:
		b.WriteString(indent + "return 200 \"" + g.nextID() + " $uri $args\";\n")
	case 3, 4, 5, 6:
		b.WriteString(indent + "proxy_pass http://unix:DIR/b;\n")
		if g.chance(10) {
			b.WriteString(indent + "limit_except GET { deny 1.2.3.4; }\n")
		}
	case 7:
		b.WriteString(indent + "return " + g.one("404", "418", "204", "301 /x", "http://other/y") + ";\n")
	}
	if g.chance(20) {
		to := g.target()
		if g.chance(20) {
			to = "=404"
		}
		b.WriteString(indent + "try_files " + g.one("/none", "$uri", "$uri $uri/") + " " + to + ";\n")
	}
	return b.String()
}

// rewrites are directives of nginx's rewrite module.
func (g *generator) rewrites(indent string, inLocation bool) string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		switch g.IntN(6) {
		case 0:
			b.WriteString(indent + "set $v " + g.one("1", "0", `"$uri"`, "$arg_x", "$http_x_t", `""`) + ";\n")
		case 1, 2, 3:
			b.WriteString(indent + "if (" + g.condition() + ") {\n")
			if inLocation && g.chance(40) {
				b.WriteString(indent + "\tadd_header X-Id " + g.nextID() + " always;\n")
			}
			b.WriteString(g.consequence(indent + "\t"))
			b.WriteString(indent + "}\n")
		case 4:
			b.WriteString(g.rewriteOne(indent))
		case 5:
			if g.chance(30) {
				b.WriteString(indent + "break;\n")
			}
		}
	}
	return b.String()
}

func (g *generator) rewriteOne(indent string) string {
	e := g.expression()
	if strings.ContainsAny(e, "{};") {
		e = `"` + e + `"`
	}
	to := g.path()
	switch {
	case g.chance(20):
		to += g.one("$1", "$first", "$v", "?z=$1", "?")
	case g.chance(10):
		to = "http://other/"
	}
	return indent + "rewrite " + e + " " + to + g.one("", "", " last", " last", " break", " redirect", " permanent") + ";\n"
}

func (g *generator) consequence(indent string) string {
	switch g.IntN(6) {
	case 0:
		return indent + "return " + g.one("403", "418", `200 "`+g.nextID()+`"`) + ";\n"
	case 1:
		return indent + "set $v 1;\n"
	case 2, 3:
		return g.rewriteOne(indent)
	case 4:
		return indent + "break;\n"
	}
	return ""
}

func (g *generator) condition() string {
	return g.one("$request_method = POST", "$request_method != GET", "$http_x_t", "$http_x_t = a", "$http_x_t ~ ^/", "$uri ~* ^/A", "$args ~ x=(.)", "$v", "$v = 1", "$arg_x = 2",
		"$cookie_k", "!-f $request_filename", "-d /none", "$uri !~ b", `$request_uri ~ "\?"`, "$remote_port = 1", "$host = s1.test")
}
