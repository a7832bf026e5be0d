package httpcache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/rewrite/pagegen"
)

// memcachedPages has a Go app store its pages in a memcached, from which nginx answers.
// A key begins with the generation of the page (package pagegen), as with the act nginx.
type memcachedPages struct {
	Path      string    `arg:"path,required" help:"a URL or a route: /article/:id; several with semicolons between them"`
	Valid     string    `arg:"valid,required" help:"how old an answer may be, 1s to 100s"`
	Cookies   string    `arg:"cookies" oneof:"personal,ignore" default:"personal" help:"personal: no answer to a request with a cookie is kept; ignore: requests lose their cookies, for paths that are the same for all clients"`
	Drops     drops     `arg:"drops" help:"the pages that writes drop, as for the act nginx"`
	Fragments fragments `arg:"fragments" help:"parts of pages that nginx includes, as for the act nginx; clients may request them"`
	Type      mediaType `arg:"type" default:"text/html; charset=utf-8" help:"the Content-Type of the pages; one with another type or another header is not kept"`
	Idle      int       `arg:"idle" range:"0,1000" default:"32" help:"idle connections to memcached that each nginx worker keeps; 0: a new one for each request"`
	Server    string    `arg:"server" help:"server_name or listen address of a server block"`
	Service   string    `arg:"service" help:"the service of the engine memcached; the only one by default"`

	seconds int
	paths   []string
}

// mediaType is a Content-Type.
type mediaType struct{ media, charset string }

var mediaForm = regexp.MustCompile(`^([a-z]{1,20}/[a-z0-9.+-]{1,60})(?:; charset=([A-Za-z0-9_-]{1,40}))?$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *mediaType) UnmarshalText(b []byte) error {
	parts := mediaForm.FindStringSubmatch(string(b))
	if parts == nil {
		return fmt.Errorf("%.80q: want a type as text/html; charset=utf-8", b)
	}
	m.media, m.charset = parts[1], parts[2]
	return nil
}

func (m mediaType) String() string {
	if m.charset == "" {
		return m.media
	}
	return m.media + "; charset=" + m.charset
}

// Validate is called by change.Decode.
func (a *memcachedPages) Validate() error {
	v := nginxPages{Path: a.Path, Valid: a.Valid, Cookies: a.Cookies, Drops: a.Drops, Fragments: a.Fragments}
	if err := v.Validate(); err != nil {
		return err
	}
	d, err := time.ParseDuration(a.Valid)
	if err != nil || d < time.Second || d%time.Second != 0 {
		return fmt.Errorf("valid %q: want whole seconds, 1s to 100s", a.Valid)
	}
	a.paths, a.seconds = v.paths, int(d/time.Second)
	return nil
}

// plan implements planner.
func (a *memcachedPages) plan(t *task) error {
	if err := t.find(iikanji.EngineMemcached, a.Service); err != nil {
		return err
	}
	http, err := t.HTTP()
	if err != nil {
		return err
	}
	var all []*storedPages
	for _, path := range slices.Concat(a.paths, a.Fragments) {
		p, err := a.pages(t, path, all)
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	if err := t.onlyWriter(all[0].app); err != nil {
		return err
	}
	if err := a.start(t); err != nil {
		return err
	}
	to := &pagegen.Memcached{Address: t.cache.Address, Type: a.Type.String(), Seconds: a.seconds, Headers: all[0].headers, Private: a.private()}
	folder, err := t.generations(all[0].app, pagegen.Plan{Kept: slices.Concat(a.paths, a.Fragments), Fragments: a.Fragments, Table: a.Drops, Memcached: to})
	if err != nil {
		return err
	}
	a.Drops.define(t, http, a.paths)
	upstream := a.upstream(t, http)
	for _, p := range all {
		a.answer(t, http, p, folder, upstream)
	}
	t.Weaken(promise.Kept{Cached: true, FromApp: true, AppDecides: true, SameForAll: t.Proves(iikanji.SameForAll), Purged: true}.Promises()...)
	if len(a.Fragments) > 0 {
		t.Weaken(promise.Fragments()...)
	}
	t.Says = says(a.paths, a.Valid, t.cacheName, a.Cookies, a.Fragments, a.Drops, all[0].app)
	return nil
}

// start adds the edit that starts memcached, unless it runs.
func (a *memcachedPages) start(t *task) error {
	if t.cache.EnableFile == "" || t.Exists(t.cache.EnableFile) {
		return nil
	}
	size, err := t.start()
	if err != nil {
		return err
	}
	t.edits = append(t.edits, change.Edit{Path: t.cache.EnableFile, New: size})
	return nil
}

// storedPages are the locations of a path: front reads pages from memcached, back passes
// requests on to the app for pages that memcached does not have.
type storedPages struct {
	path        string
	front, back nginxedit.Spot
	app         string
	headers     []string
	key         []string // what tells the requests of the location apart
	fragment    bool
}

// pages finds or makes the locations of a path, and edits what the app receives.
func (a *memcachedPages) pages(t *task, path string, before []*storedPages) (*storedPages, error) {
	p := &storedPages{path: path, fragment: slices.Contains(a.Fragments, path)}
	if err := a.locations(t, p); err != nil {
		return nil, err
	}
	_, pass, err := t.passOf(path, p.back)
	if err == nil {
		p.app, err = t.appOf(path, p.back)
	}
	if err != nil {
		return nil, err
	}
	if a.Cookies == "ignore" {
		t.WithoutCookies(p.back)
	}
	if len(a.Fragments) > 0 {
		t.includes(p.back)
	}
	if p.fragment {
		if err := t.sameForPages(path, p.back); err != nil {
			return nil, err
		}
	}
	if was := t.Value(p.back.Chain, "proxy_cache"); was != "" {
		t.Ensure(p.back.Chain, "proxy_cache", "off")
	}
	if p.headers, err = t.headers(path, p.back, a.Cookies == "ignore"); err != nil {
		return nil, err
	}
	for _, o := range before {
		if o.app != p.app || !slices.Equal(o.headers, p.headers) {
			return nil, fmt.Errorf("path %q: another app answers it than %q, or nginx sends it other headers", path, o.path)
		}
	}
	host := pass.Host()
	if h := t.Header(p.back.Chain, "Host"); h != nil && h.Arg(1) != "$proxy_host" {
		host = h.Arg(1)
	}
	p.key = []string{host, "$request_uri"}
	if p.fragment {
		p.key[1] = path + "$is_args$args"
	}
	for _, name := range p.headers {
		value := "$http_" + strings.ToLower(strings.ReplaceAll(name, "-", "_"))
		if h := t.Header(p.back.Chain, name); h != nil {
			value = h.Arg(1)
		}
		p.key = append(p.key, value)
	}
	return p, nil
}

// fallback is the name of the location that passes requests on to the app.
func fallback(path string) string { return "@iikanji_app" + nginxedit.NameOf(path) }

// locations finds the locations of a path, or makes them of the one that passes it on.
func (a *memcachedPages) locations(t *task, p *storedPages) (err error) {
	if p.front, err = t.Spot(p.path, a.Server); err != nil {
		return err
	}
	named := fallback(p.path)
	p.back = nginxedit.Spot{Want: nginx.Pattern{How: "@", What: named[1:]}, Chain: slices.Clone(p.front.Chain[:2])}
	for _, l := range t.Get(p.front.Server(), "location") {
		if l.Arg(0) == named && p.front.Is() && len(t.Get(p.front.Last(), "memcached_pass")) > 0 {
			p.back.Chain = append(p.back.Chain, l.Directive)
			return nil
		}
	}
	if p.front, err = a.passing(t, p.path, p.front); err != nil {
		return err
	}
	if _, err := t.Split(&p.front); err != nil {
		return err
	}
	if len(p.front.Chain) != 3 {
		return fmt.Errorf("path %q: its location is inside another one, from which the app's would not inherit", p.path)
	}
	l := p.front.Last()
	// The act nginx makes the location of a fragment internal. Here clients may request it:
	// the app stores a page under the URL that it receives.
	l.Block.Items = slices.DeleteFunc(l.Block.Items, func(d *nginx.Directive) bool { return p.fragment && d.Name() == "internal" })
	app := nginx.NewBlock("location", named).Put(t.Copies(l)...)
	p.front.Server().Add(app)
	p.back.Chain = append(p.back.Chain, app)
	l.Block.Items = slices.DeleteFunc(l.Block.Items, func(d *nginx.Directive) bool { return strings.HasPrefix(d.Name(), "proxy_") })
	return nil
}

// passing is the location that passes a path on. It refuses one whose answers cannot be
// kept, or that does more than to pass requests on.
func (a *memcachedPages) passing(t *task, path string, s nginxedit.Spot) (nginxedit.Spot, error) {
	s, err := t.Passing(path, s)
	if err == nil {
		err = t.Public(path, s)
	}
	if err != nil {
		return s, err
	}
	if err := t.keptBy(path, s); err != nil {
		return s, err
	}
	return s, t.lacks(path, s, "which may not mean the same in two locations",
		"try_files", "alias", "error_page", "rewrite", "if", "return", "set", "types", "default_type")
}

// private are the headers of requests that are not answered from memcached.
func (a *memcachedPages) private() []string {
	var names []string
	for _, v := range a.personal() {
		names = append(names, strings.ReplaceAll(strings.TrimPrefix(v, "$http_"), "_", "-"))
	}
	return names
}

// personal are the variables of these headers.
func (a *memcachedPages) personal() []string {
	all := slices.Clone(nginxedit.Credentials)
	if a.Cookies != "ignore" {
		all = append(all, "$http_cookie")
	}
	return all
}

// upstream makes the upstream of memcached and returns its name.
func (a *memcachedPages) upstream(t *task, http *nginx.Directive) string {
	name := nginxedit.UpstreamName(t.cache.Address)
	var up *nginx.Directive
	for _, u := range t.Get(http, "upstream") {
		if u.Arg(0) == name {
			up = u.Directive
		}
	}
	if up == nil {
		up = nginx.NewBlock("upstream", name).Put(nginx.New("server", t.cache.Address))
		if a.Idle > 0 {
			up.Put(nginx.New("keepalive", strconv.Itoa(a.Idle)))
		}
		nginxedit.InsertBeforeServers(http, up)
		return name
	}
	if a.Idle > 0 {
		nginxedit.SetIn(t.Conf, up, "keepalive", strconv.Itoa(a.Idle))
	} else {
		up.Block.Items = slices.DeleteFunc(up.Block.Items, func(d *nginx.Directive) bool { return d.Name() == "keepalive" })
	}
	return name
}

// answer writes the location that reads from memcached.
func (a *memcachedPages) answer(t *task, http *nginx.Directive, p *storedPages, folder, upstream string) {
	of := a.Drops.ofPages()
	if p.fragment {
		of = a.Drops.ofFragment(p.path)
	}
	of.define(t, http)
	if len(a.Fragments) > 0 {
		t.Ensure(p.front.Chain, "ssi", "on")
		t.Ensure(p.front.Chain, "keepalive_timeout", "0")
	}
	l := p.front.Last()
	if len(t.Get(l, "types")) == 0 {
		l.Add(nginx.NewBlock("types"))
	}
	set := func(name string, args ...string) { nginxedit.SetIn(t.Conf, l, name, args...) }
	set("default_type", a.Type.media)
	if a.Type.charset != "" {
		set("charset", a.Type.charset)
		if a.Type.media != "text/html" {
			set("charset_types", a.Type.media)
		}
	} else {
		set("charset", "off")
	}
	set("root", folder+"/"+of.link)
	set("set", "$memcached_key", a.keyVariable(t, http, p, of))
	set("memcached_pass", upstream)
	for _, name := range []string{"memcached_connect_timeout", "memcached_send_timeout", "memcached_read_timeout"} {
		set(name, "1s")
	}
	// What memcached does not have is computed by the app, and so is the answer to other
	// methods than GET and HEAD (405). Error pages of the app's location stay in force.
	set("error_page", "404", "405", "502", "504", "=", fallback(p.path))
	set("recursive_error_pages", "on")
}

// noKey is the key of requests for which memcached has no page. The app does not store it.
const noKey = "none"

// keyVariable is the variable with the key of a location's requests. Requests with
// credentials, without a generation, or with a key that is too long have a key that no
// page has. The map is volatile: fragments of a page share their variables with it.
func (a *memcachedPages) keyVariable(t *task, http *nginx.Directive, p *storedPages, of linked) string {
	source := strings.Join(a.personal(), "") + ":" + strings.Join(append([]string{of.generation()}, p.key...), " ")
	sum := sha256.Sum256([]byte(source))
	name := "iikanji_key_" + hex.EncodeToString(sum[:4])
	if t.hasBlock(http, "map", "$"+name) {
		return "$" + name
	}
	nginxedit.InsertBeforeServers(http, nginx.NewBlock("map", source, "$"+name).Put(nginx.New("volatile"), nginx.New("default", noKey),
		nginx.New(fmt.Sprintf("~^:%s/(?<%s_is>iikanji-[0-9a-f]+/g[0-9a-z-]+ .{1,%d})$", quoteMeta(memoryFolder), name, pagegen.MaxKey-40), "$"+name+"_is")))
	return "$" + name
}
