package nginxconf

import (
	"cmp"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// Names of what the act adds to a configuration.
const (
	resetZone     = zone + "_until_reset"
	resetVariable = "$iikanji_reset"      // the generation of the data; "" or "none" for no generation
	noReset       = "$iikanji_no_reset"   // set without a generation
	resetHeader   = "X-Iikanji-Reset"     // of answers of the source
	resetNow      = "/iikanji_reset"      // reads the generation
	resetNone     = "/iikanji_reset/none" // ends the generation
	resetNew      = "/iikanji_reset/new"  // begins another one
	resetUnknown  = "/iikanji_reset/unknown"
	resetSource   = "/iikanji_reset/source" // what the generation is read from
)

// untilReset keeps answers that never change for a long time, and drops them when a
// request makes the site's data anew.
//
// nginx has no variable that lasts between requests, so the generation of the data is an
// answer in nginx's own cache: a header with the random id of the request that made it.
// The answers have the generation in their key.
//
//   - The request that resets begins with a subrequest (auth_request) that ends the
//     generation. Without one, nothing is kept.
//   - Behind the last byte of its answer, but before the end of the answer is sent, a
//     second subrequest (add_after_body) begins another generation. So a client that has
//     the whole answer never gets an answer from before.
//   - A key is computed before its fetch. A fetch that overlaps the reset has no
//     generation, or the one before, and is not sent again.
//   - A reset that fails, or whose client hangs up, leaves no generation: nothing is kept
//     until the next one.
//
// The ids come from a location of the same server, which nginx requests from itself: once
// for each reset. A plan has a generation of its own, so that what an earlier plan left in
// the folder of the cache is not sent.
type untilReset struct {
	Path    string `arg:"path,required" help:"a URL, a folder with its slash, or a route: /api/isu/:id/icon"`
	Reset   string `arg:"reset,required" help:"the URL of the request that makes the site's data anew: /initialize"`
	Valid   string `arg:"valid" default:"1d" help:"how old an answer may be, 1s to 365d"`
	Cookies string `arg:"cookies" oneof:"personal,ignore" default:"personal" help:"personal: no answer to a request with a cookie is kept; ignore: requests lose their cookies, for a path (not a folder) that is the same for all clients"`
	Size    string `arg:"size" default:"256m" help:"the most bytes of the cache on disk, 1m to 9999m"`
	Server  string `arg:"server" help:"server_name or listen address of a server block"`
}

var (
	longForm = regexp.MustCompile(`^[1-9][0-9]{0,2}[smhd]$`)
	sizeForm = regexp.MustCompile(`^[1-9][0-9]{0,3}m$`)
)

// Validate is called by change.Decode.
func (a *untilReset) Validate() error {
	switch {
	case !longForm.MatchString(a.Valid) || strings.HasSuffix(a.Valid, "d") && len(a.Valid) == 4 && a.Valid > "365d":
		return fmt.Errorf("valid %q: want 1s to 365d", a.Valid)
	case !sizeForm.MatchString(a.Size):
		return fmt.Errorf("size %q: want 1m to 9999m", a.Size)
	case a.Path == a.Reset:
		return fmt.Errorf("reset %q: want another path than the one that is kept", a.Reset)
	case strings.HasSuffix(a.Reset, "/") || strings.Contains(a.Reset, "*"):
		return fmt.Errorf("reset %q: want one path", a.Reset)
	}
	return nil
}

func (a *untilReset) edit(t *task) error {
	kept, err := t.Spot(a.Path, a.Server)
	if err != nil {
		return err
	}
	reset, err := t.Spot(a.Reset, a.Server)
	if err != nil {
		return err
	}
	if t.Value(kept.Chain, "auth_request") == resetNow && kept.Is() && t.Value(reset.Chain, "auth_request") == resetNone && reset.Is() {
		return nil // as planned before
	}
	if t.Site.Target.Bench.Resets {
		return fmt.Errorf("the data is put back by a command or a snapshot (reset below [bench]), which nginx does not see: kept answers would be of the data before. Use the act for a site whose benchmarker sends a request that makes the data anew")
	}
	how := &cache{Path: a.Path, Server: a.Server, Cookies: a.Cookies}
	if kept, err = how.find(t); err != nil {
		return err
	}
	if err := a.usable(t, kept, a.Path); err != nil {
		return err
	}
	if err := a.source(t, kept); err != nil {
		return err
	}
	if err := t.CacheZone(kept.Chain[0], resetZone, "1:2", a.Size, a.Valid); err != nil {
		return err
	}
	t.Weaken(promise.Kept{Cached: true, FromApp: true, AppDecides: true, SameForAll: t.Proves(iikanji.SameForAll), Reset: true, Unchanged: t.Proves(iikanji.Unchanged)}.Promises()...)
	t.Says = fmt.Sprintf("keep the answers of %s for %s, and drop them at each %s", a.Path, a.Valid, a.Reset)
	if how.shared() {
		t.Says += ", the same for all clients, without cookies"
	}
	if err := a.keep(t, how, kept); err != nil {
		return err
	}
	return a.drop(t)
}

// usable refuses a location in which subrequests would not reach the generation, or let
// a client in.
func (a *untilReset) usable(t *task, s nginxedit.Spot, path string) error {
	if v := t.Value(s.Chain, "satisfy"); v == "any" {
		return fmt.Errorf("path %q: satisfy any is in effect there, and the generation's subrequest would let every client in", path)
	}
	outer := s.Chain[:2]
	for _, name := range []string{"deny", "limit_req", "limit_conn"} {
		if v := t.Value(outer, name); v != "" {
			return fmt.Errorf("path %q: %s is in effect in its server, and may refuse nginx's own request for a generation", path, name)
		}
	}
	for _, name := range []string{"rewrite", "return", "if"} {
		if len(t.Get(s.Server(), name)) > 0 {
			return fmt.Errorf("path %q: its server has %s, which may redirect nginx's own request for a generation", path, name)
		}
	}
	return nil
}

// source adds the locations of the generation to the server, unless they are there.
func (a *untilReset) source(t *task, s nginxedit.Spot) error {
	for _, l := range t.Get(s.Server(), "location") {
		if nginx.PatternOf(l.Directive) == (nginx.Pattern{How: "=", What: resetNow}) {
			return nil
		}
	}
	self, err := selfOf(t, s.Server())
	if err != nil {
		return err
	}
	key := "iikanji reset " + strconv.FormatInt(time.Now().UnixNano(), 36)
	from := "http://" + self + resetSource
	s.Server().Add(orUnknown(generation(resetNow, from+"/new", key, "0")))
	s.Server().Add(generation(resetNone, from+"/none", key, "1")) // a reset that cannot end the generation must fail
	s.Server().Add(orUnknown(generation(resetNew, from+"/new", key, "1")))
	for _, l := range [][2]string{{"/new", "$request_id"}, {"/none", "none"}} {
		s.Server().Add(nginx.NewBlock("location", "=", resetSource+l[0]).Put(nginx.New("access_log", "off")).
			Put(nginx.New("add_header", resetHeader, l[1])).Put(nginx.New("return", "200", "")))
	}
	s.Server().Add(nginx.NewBlock("location", "=", resetUnknown).Put(nginx.New("internal")).Put(nginx.New("return", "204")))
	nginxedit.InsertBeforeServers(s.Chain[0], nginx.NewBlock("map", resetVariable, noReset).
		Put(nginx.New("", "1")).Put(nginx.New("none", "1")).Put(nginx.New("default", "")))
	return nil
}

// generation makes a location whose answer is the kept generation, or with renew "1" a
// new one from the source.
func generation(name, from, key, renew string) *nginx.Directive {
	l := nginx.NewBlock("location", "=", name)
	for _, d := range [][]string{
		{"internal"}, {"proxy_pass", from}, {"proxy_pass_request_headers", "off"}, {"proxy_pass_request_body", "off"},
		{"proxy_set_header", "Host", "$server_name"}, {"proxy_set_header", "Content-Length", ""}, {"proxy_buffering", "on"},
		{"proxy_cache", resetZone}, {"proxy_cache_key", key}, {"proxy_cache_valid", "200", "3650d"}, {"proxy_cache_min_uses", "1"},
		{"proxy_cache_use_stale", "off"}, {"proxy_cache_bypass", renew}, {"proxy_no_cache", "0"},
	} {
		l.Put(nginx.New(d[0], d[1:]...))
	}
	return l
}

// orUnknown has a location answer without a generation where the source does not answer:
// nothing is kept then, and clients get their answers from the app.
func orUnknown(l *nginx.Directive) *nginx.Directive {
	return l.Put(nginx.New("proxy_intercept_errors", "on")).Put(nginx.New("error_page", "400", "403", "404", "500", "502", "503", "504", resetUnknown))
}

// selfOf is the address at which nginx reaches a server itself, by plain HTTP.
func selfOf(t *task, server *nginx.Directive) (string, error) {
	for _, d := range t.Get(server, "server_name") {
		if name := d.Arg(0); name == "" || strings.ContainsAny(name, "~*$") || strings.HasPrefix(name, ".") {
			return "", fmt.Errorf("server_name %s: want a plain name first, by which nginx requests a generation", name)
		}
	}
	all := t.Get(server, "listen")
	for _, d := range all {
		if d.Has("ssl") || d.Has("quic") || d.Has("http2") || d.Has("proxy_protocol") || strings.HasPrefix(d.Arg(0), "unix:") {
			continue
		}
		return loopbackOf(d.Arg(0)), nil
	}
	if len(all) > 0 {
		return "", fmt.Errorf("the server listens at no address with plain HTTP/1, at which nginx could request a generation")
	}
	return "127.0.0.1:80", nil
}

// loopbackOf is an address that reaches a listen address from the same machine.
func loopbackOf(listen string) string {
	if _, err := strconv.Atoi(listen); err == nil {
		return "127.0.0.1:" + listen
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		host, port = strings.Trim(listen, "[]"), "80"
	}
	switch host {
	case "", "*", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	return net.JoinHostPort(host, cmp.Or(port, "80"))
}

// keep writes the directives of the location whose answers are kept.
func (a *untilReset) keep(t *task, how *cache, s nginxedit.Spot) error {
	if _, err := t.Split(&s); err != nil {
		return err
	}
	if err := t.NoRedirect(s); err != nil {
		return err
	}
	bypass := append(how.personal(t, s), noReset)
	key, err := how.fullKey(t, s)
	if err != nil {
		return err
	}
	t.Ensure(s.Chain, "auth_request", resetNow)
	t.Ensure(s.Chain, "auth_request_set", resetVariable, "$upstream_http_"+strings.ToLower(strings.ReplaceAll(resetHeader, "-", "_")))
	t.Ensure(s.Chain, "proxy_cache", resetZone)
	t.Ensure(s.Chain, "proxy_cache_key", key+" "+resetVariable)
	t.Ensure(s.Chain, "proxy_cache_valid", "200", a.Valid)
	t.Ensure(s.Chain, "proxy_cache_lock", "on")
	if t.Value(s.Chain, "proxy_buffering") == "off" {
		t.Ensure(s.Chain, "proxy_buffering", "on")
	}
	if _, at := t.Effective(s.Chain, "proxy_cache_use_stale"); at >= 0 {
		t.Ensure(s.Chain, "proxy_cache_use_stale", "off")
	}
	t.Ensure(s.Chain, "proxy_cache_bypass", bypass...)
	t.Ensure(s.Chain, "proxy_no_cache", bypass...)
	return nil
}

// drop has the request that resets end the generation and begin another one.
func (a *untilReset) drop(t *task) error {
	s, err := t.Spot(a.Reset, a.Server)
	if err == nil {
		s, err = t.Passing(a.Reset, s)
	}
	if err == nil && !(s.Is() && t.Value(s.Chain, "auth_request") == resetNone) {
		err = t.Public(a.Reset, s)
	}
	if err == nil {
		err = a.usable(t, s, a.Reset)
	}
	if err != nil {
		return err
	}
	for _, name := range []string{"add_after_body", "add_before_body"} {
		if v := t.Value(s.Chain, name); v != "" && v != resetNew {
			return fmt.Errorf("path %q: %s %s is in effect there", a.Reset, name, v)
		}
	}
	if _, err := t.Split(&s); err != nil {
		return err
	}
	if err := t.NoRedirect(s); err != nil {
		return err
	}
	t.Ensure(s.Chain, "auth_request", resetNone)
	t.Ensure(s.Chain, "add_after_body", resetNew)
	t.Ensure(s.Chain, "addition_types", "*")
	return nil
}
