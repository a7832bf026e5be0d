package cause_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A scene is an input under construction.
type scene struct{ cause.Input }

func newScene() *scene {
	return &scene{cause.Input{Levers: diagnose.Levers(), Run: &iikanji.Run{Took: 10 * time.Second, Place: iikanji.Placement{Cores: 4, Generator: "0", Stack: "1-3"}, Load: iikanji.Generator{PeakConns: 100}}}}
}

// with adds a fact whose value is anything that goes into JSON, or text.
func (s *scene) with(target, topic, key string, v any) *scene {
	text, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		text = string(b)
	}
	s.Facts = append(s.Facts, iikanji.Fact{Target: target, Topic: topic, Key: key, Value: text})
	return s
}

// route adds a row of the access log: status[2] and so on by class.
func (s *scene) route(key, url string, n int64, mean iikanji.Bytes, web iikanji.WebRow) *scene {
	web.Bytes = mean * iikanji.Bytes(n)
	web.MaxBytes = max(web.MaxBytes, mean)
	if web.Status == [6]int64{} {
		web.Status[2] = n
	}
	s.Profiles = append(s.Profiles, iikanji.Profile{Source: iikanji.Access, Rows: []iikanji.Row{{Key: key, Count: n, Web: &web, Example: iikanji.Sighting{Text: "GET " + url}}}})
	return s
}

// says adds a row of an error log.
func (s *scene) says(service, level, kind, message string, n int64, routes ...string) *scene {
	p := iikanji.Profile{Source: iikanji.Errors, Target: service, Intake: iikanji.Intake{Format: "text"}}
	if service == "nginx" {
		p.Intake.Format = "nginx"
	}
	row := iikanji.Row{Key: message, Count: n, Log: &iikanji.LogRow{Level: level, Kind: kind, Message: message, Bytes: iikanji.Bytes(100 * n)}}
	for _, r := range routes {
		row.Log.Routes = append(row.Log.Routes, iikanji.Named{Name: r, Count: n})
	}
	p.Rows = []iikanji.Row{row}
	s.Profiles = append(s.Profiles, p)
	return s
}

// host adds the Host profile: ten seconds of four cores.
func (s *scene) host(m iikanji.MachineRow, services map[string]iikanji.HostRow) *scene {
	m.Cores, m.Wall = 4, 10*time.Second
	p := iikanji.Profile{Source: iikanji.Host, Rows: []iikanji.Row{{Key: "host", Host: &iikanji.HostRow{Machine: &m}}}}
	for name, h := range services {
		p.Rows = append(p.Rows, iikanji.Row{Key: name, Host: &h})
	}
	s.Profiles = append(s.Profiles, p)
	return s
}

// conf adds a configuration with one directive, as a history has it.
func (s *scene) conf(name string, args ...string) *scene {
	d := map[string]any{"name": name, "args": args, "file": "nginx.conf", "line": 7}
	return s.with("nginx", string(fact.TopicNginx), "nginx.conf", []any{map[string]any{"name": "http", "block": []any{d}}})
}

var (
	all       = fact.Series{URLs: 1, Repeats: 999, Again: 1, Fixed: 0, Clients: 20, Pairs: 500, Alike: 480, Least: 3200, Most: 3300}
	trend     = fact.Answer{URL: "/api/trend", Status: 200, Type: "application/json", Bytes: 3000, Packed: 400, Same: true, SameForAll: true, Users: 2, Took: 20 * time.Millisecond}
	icons     = fact.Series{URLs: 30, Repeats: 900, Again: 28, Fixed: 28, FixedRepeats: 880, FixedBytes: 880 * 16000, Sizes: 25}
	assets    = fact.Series{URLs: 1, Repeats: 499, Again: 1, Fixed: 1, FixedRepeats: 499, FixedBytes: 499 * 40000, Sizes: 1}
	forbidden = fact.Answer{Status: 401, Type: "text/plain"}
	script    = fact.Answer{URL: "/a/x.62c0b9b6.js", Status: 200, Type: "text/javascript", Encoding: "gzip", Bytes: 9000, LastModified: true, Same: true, SameForAll: true, Users: 2}
)

func change[T any](v T, f func(*T)) T { f(&v); return v }

// article and articles are of a route with many URLs.
var (
	article  = change(trend, func(a *fact.Answer) { a.URL, a.URLs, a.Took = "/article/7", 4, 800*time.Microsecond })
	articles = fact.Series{URLs: 51, Repeats: 949, Again: 51, Clients: 10, Crowded: 400, Least: 300, Most: 9000}
)

// folded is a scene of a route with many URLs.
func folded(a fact.Answer, s fact.Series) *scene {
	return newScene().route("GET /article/:id", a.URL, 1000, 3000, iikanji.WebRow{}).with("nginx", string(fact.TopicAnswer), "GET /article/:id", a).with("nginx", string(fact.TopicSeries), "GET /article/:id", s)
}

// throughUpstream adds a configuration that passes all requests on to an upstream.
func throughUpstream(s *scene, address string) *scene {
	block := func(name string, args []string, in ...map[string]any) map[string]any {
		return map[string]any{"name": name, "args": args, "block": in}
	}
	line := func(name, arg string) map[string]any { return map[string]any{"name": name, "args": []string{arg}} }
	return s.with("nginx", string(fact.TopicNginx), "nginx.conf", []any{block("http", nil,
		block("upstream", []string{"pages"}, line("server", address), line("keepalive", "32")),
		block("server", nil, block("location", []string{"/"}, line("proxy_pass", "http://pages"))))})
}

// TestVarnishRemedy: a page for a cache has a remedy by a Varnish if a change can
// start one, or one runs.
func TestVarnishRemedy(t *testing.T) {
	varnish := iikanji.Service{Name: "pages", Role: iikanji.RoleCache, Engine: iikanji.EngineVarnish}
	for name, c := range map[string]struct {
		onDemand, services []iikanji.Service
		want               string
	}{
		"in front":  {[]iikanji.Service{change(varnish, func(s *iikanji.Service) { s.Address = "127.0.0.1:6081" })}, nil, ""},
		"elsewhere": {[]iikanji.Service{change(varnish, func(s *iikanji.Service) { s.Address = "127.0.0.1:6082" })}, nil, "nginx map[act:varnish cookies:ignore path:/api/trend valid:1s] [same-for-all]nginx map[act:varnish cookies:ignore path:/api/trend valid:1s writes:purge] [same-for-all]"},
		"none":      {nil, nil, ""},
		"on demand": {[]iikanji.Service{varnish}, nil, "nginx map[act:varnish cookies:ignore path:/api/trend valid:1s] [same-for-all]nginx map[act:varnish cookies:ignore path:/api/trend valid:1s writes:purge] [same-for-all]"},
		"runs":      {nil, []iikanji.Service{varnish}, "nginx map[act:varnish cookies:ignore path:/api/trend valid:1s] [same-for-all]nginx map[act:varnish cookies:ignore path:/api/trend valid:1s writes:purge] [same-for-all]"},
		"another":   {[]iikanji.Service{{Name: "pages", Engine: iikanji.EngineMemcached}}, nil, ""},
	} {
		in := throughUpstream(page(quick, all), "127.0.0.1:6081")
		in.Target.OnDemand = c.onDemand
		in.Target.Services = append([]iikanji.Service{{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx}, {Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo}}, c.services...)
		fs, err := findAll(in.Input)
		if err != nil || len(fs) == 0 || fs[0].Code != "WEB107" {
			t.Fatalf("%s: %v %v", name, fs, err)
		}
		got := ""
		for _, r := range fs[0].Remedies {
			if r.Kind == "httpcache" {
				got += fmt.Sprint(r.Target, " ", r.Args, " ", r.Proof)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// sharedScene is a scene of several pages that all clients get, and of writes, with a
// Varnish that a change can start. Keys are routes, a number of writes is a POST.
func sharedScene(writes int64, varnish bool) *scene {
	s := folded(article, articles).route("GET /", "/", 1000, 3000, iikanji.WebRow{}).
		with("nginx", string(fact.TopicAnswer), "GET /", change(quick, func(a *fact.Answer) { a.URL = "/" })).with("nginx", string(fact.TopicSeries), "GET /", all).
		route("POST /comment/:id", "/comment/7", writes, 10, iikanji.WebRow{})
	s.Target.Services = []iikanji.Service{{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx}, {Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo}}
	if varnish {
		s.Target.OnDemand = []iikanji.Service{{Name: "pages", Role: iikanji.RoleCache, Engine: iikanji.EngineVarnish}}
	}
	return s
}

// TestOneCacheForAll: pages that are the same for all have one remedy together, which
// drops them at each write. Many writes, one page, or no Varnish make no finding.
func TestOneCacheForAll(t *testing.T) {
	const remedies = "map[act:varnish cookies:ignore path:/article/:id;/ valid:10s writes:purge] [same-for-all]map[act:varnish cookies:ignore path:/article/:id;/ valid:1s writes:purge] [same-for-all]" +
		"map[act:nginx cookies:ignore path:/article/:id;/ valid:10s] [same-for-all]"
	for name, c := range map[string]struct {
		in    *scene
		claim string
	}{
		"a write per second": {sharedScene(10, true), "2 routes have the same answer for all clients and were computed 2,000 times; kept until the next write they would be computed 612 times"},
		"three per second":   {sharedScene(30, true), "computed 1,032 times"}, // 1,000 articles at most, and 32 indexes
		"writes everywhere":  {sharedScene(900, true), ""},
		"no Varnish":         {sharedScene(10, false), ""},
		"one page":           {page(quick, all), ""},
		"one of two is common": {func() *scene {
			s := sharedScene(10, true)
			s.with("nginx", string(fact.TopicAnswer), "GET /", forbidden)
			return s
		}(), ""},
	} {
		fs, err := findAll(c.in.Input)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(fs, func(f iikanji.Finding) bool { return f.Code == "WEB115" })
		if (i >= 0) != (c.claim != "") {
			t.Errorf("%s: a finding: %v", name, i >= 0)
		}
		if i < 0 {
			continue
		}
		got := ""
		for _, r := range fs[i].Remedies {
			got += fmt.Sprint(r.Args, " ", r.Proof)
		}
		if !strings.Contains(fs[i].Claim, c.claim) || got != remedies || fs[i].Gain.Hi <= 0 {
			t.Errorf("%s: %q %q %v", name, fs[i].Claim, got, fs[i].Gain)
		}
	}
}

// page is a scene of one page that all clients get.
func page(a fact.Answer, s fact.Series) *scene {
	return newScene().route("GET /api/trend", "/api/trend", 1000, 3000, iikanji.WebRow{}).with("nginx", string(fact.TopicAnswer), "GET /api/trend", a).with("nginx", string(fact.TopicSeries), "GET /api/trend", s)
}

// with304 turns some answers of the only route into 304s.
func with304(s *scene, n int64) *scene {
	w := s.Profiles[0].Rows[0].Web
	w.Status[2], w.Status[3] = w.Status[2]-n, n
	return s
}

// stepped has a step of the load generator.
func stepped(s *scene, st iikanji.StepStat) *scene {
	s.Run.Steps = append(s.Run.Steps, st)
	return s
}

// slow sets the time of the only route's answers under load.
func slow(s *scene, mean time.Duration) *scene {
	s.Profiles[0].Rows[0].Mean = mean
	return s
}

// young limits how old answers may be.
func young(s *scene, most time.Duration) *scene {
	s.Target.Policy.MaxAge = most
	return s
}

// fixed names a folder of files that never change.
func fixed(s *scene, folder string) *scene {
	s.Target.Policy.Fixed = []string{folder}
	return s
}

// TestTooYoungToKeep: where the policy refuses an hour, nothing that it refuses is proposed.
func TestTooYoungToKeep(t *testing.T) {
	for name, in := range map[string]*scene{
		"scripts": young(file(script, assets), time.Second),
		"icons":   young(icon(icons, 16000, iikanji.WebRow{}, "/icon/7", forbidden), time.Minute),
	} {
		fs, err := findAll(in.Input)
		if err != nil || len(fs) != 1 || slices.ContainsFunc(fs[0].Remedies, func(r iikanji.Remedy) bool { return r.Kind == "nginxconf" }) {
			t.Errorf("%s: %v %v", name, fs, err)
		}
	}
}

// icon is a scene of pictures behind a login.
func icon(s fact.Series, mean iikanji.Bytes, web iikanji.WebRow, url string, a fact.Answer) *scene {
	return newScene().route("GET /icon/:uuid", url, 1000, mean, web).with("nginx", string(fact.TopicSeries), "GET /icon/:uuid", s).with("nginx", string(fact.TopicAnswer), "GET /icon/:uuid", a)
}

// file is a scene of a script.
func file(a fact.Answer, s fact.Series) *scene {
	return newScene().route("GET /a/:file.js", a.URL, 500, 40000, iikanji.WebRow{}).with("nginx", string(fact.TopicSeries), "GET /a/:file.js", s).with("nginx", string(fact.TopicAnswer), "GET /a/:file.js", a)
}

// torn adds a step of the load generator whose clients gave up.
func torn(s *scene, step string, timeouts int64) *scene {
	return stepped(s, iikanji.StepStat{Step: step, Count: 1000, Timeouts: timeouts})
}

var busy = map[string]iikanji.HostRow{"app": {User: 9 * time.Second, Threads: 12, Processes: 1}}

// quick is usually computed before the next request for it arrives.
var quick = change(trend, func(a *fact.Answer) { a.Took = 800 * time.Microsecond })

// TestWebRules has cases with the expected codes, and the first finding's remedy as
// its act and further words; "" means no finding.
func TestWebRules(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    *scene
		codes string
		first string // words of the first remedy's arguments
	}{
		{"same for everyone", page(quick, all), "WEB107 WEB105", "act=cache path=/api/trend valid=1s cookies=ignore"},
		{"others come while it is computed", page(trend, all), "WEB107 WEB105", "act=cache path=/api/trend valid=2s stale=updating cookies=ignore"},
		{"the policy allows no older ones", young(page(trend, all), time.Second), "WEB107 WEB105", "act=cache path=/api/trend valid=1s cookies=ignore"},
		{"the policy allows none that are renewed", young(page(trend, all), 3*time.Second), "WEB107 WEB105", "act=cache path=/api/trend valid=1s cookies=ignore"},
		{"the policy allows those", young(page(trend, all), 5*time.Second), "WEB107 WEB105", "valid=2s stale=updating"},
		{"others come under load", slow(page(quick, all), 70*time.Millisecond), "WEB107 WEB105", "valid=2s stale=updating"},
		{"others come, by the load generator", stepped(page(quick, all), iikanji.StepStat{Step: "GET /api/trend", Count: 1000, Mean: 70 * time.Millisecond}), "WEB107 WEB105", "valid=2s stale=updating"},
		{"it sets a cookie", page(change(trend, func(a *fact.Answer) { a.Cookie, a.Encoding = true, "gzip" }), all), "", ""},
		{"a session is required", page(forbidden, all), "", ""},
		{"it is private", page(change(trend, func(a *fact.Answer) { a.CacheControl, a.Encoding = "private", "gzip" }), all), "", ""},
		{"it varies by cookie", page(change(trend, func(a *fact.Answer) { a.Vary, a.Encoding = "Accept-Encoding, Cookie", "gzip" }), all), "", ""},
		{"it differs by itself", page(change(trend, func(a *fact.Answer) { a.Same, a.Encoding = false, "gzip" }), all), "", ""},
		{"less without a session", page(change(trend, func(a *fact.Answer) { a.Bytes, a.Packed = 900, 890 }), all), "", ""},
		{"each client has a different one", page(change(trend, func(a *fact.Answer) { a.Encoding = "gzip" }), change(all, func(s *fact.Series) { s.Alike = 100 })), "", ""},
		{"one client only", page(change(trend, func(a *fact.Answer) { a.Encoding = "gzip" }), change(all, func(s *fact.Series) { s.Clients = 1 })), "", ""},
		{"nothing is known of clients", page(change(trend, func(a *fact.Answer) { a.Encoding = "gzip" }), fact.Series{}), "", ""},
		{"clients of an outside benchmarker had live sessions", page(change(trend, func(a *fact.Answer) { a.Alive, a.Encoding = true, "gzip" }), fact.Series{}), "WEB107", "act=cache"},
		{"a header changes it, or a client of the run gets another", page(change(trend, func(a *fact.Answer) { a.SameForAll, a.Encoding = false, "gzip" }), all), "", ""},
		{"only one client could be asked as", page(change(trend, func(a *fact.Answer) { a.Users, a.Encoding = 1, "gzip" }), all), "", ""},
		{"it is a file", page(change(trend, func(a *fact.Answer) { a.LastModified, a.Encoding = true, "gzip" }), all), "", ""},
		{"an ETag of what was computed", with304(page(change(trend, func(a *fact.Answer) { a.ETag, a.Unchanged, a.Encoding = true, 18*time.Millisecond, "gzip" }), all), 800), "WEB107", "act=cache"},
		{"an ETag without a 304", page(change(trend, func(a *fact.Answer) { a.ETag, a.Encoding = true, "gzip" }), all), "WEB107", "act=cache"},
		{"an ETag that is at hand", page(change(trend, func(a *fact.Answer) { a.ETag, a.Unchanged, a.Encoding = true, 2*time.Millisecond, "gzip" }), all), "", ""},
		{"it is cheap", page(change(trend, func(a *fact.Answer) { a.Encoding, a.Took = "gzip", 10*time.Microsecond }), all), "", ""},

		{"many pages, each the same for all", folded(article, articles), "WEB107 WEB105", "act=cache path=/article/:id valid=1s cookies=ignore"},
		{"their sizes differ", folded(article, change(articles, func(s *fact.Series) { s.Pairs, s.Alike = 500, 0 })), "WEB107 WEB105", ""},
		{"few URLs, and all were asked for", folded(change(article, func(a *fact.Answer) { a.URLs = 2 }), change(articles, func(s *fact.Series) { s.URLs = 2 })), "WEB107 WEB105", ""},
		{"too few URLs were asked for", folded(change(article, func(a *fact.Answer) { a.URLs, a.Encoding = 2, "gzip" }), articles), "", ""},
		{"one of the URLs differs", folded(change(article, func(a *fact.Answer) { a.SameForAll, a.Encoding = false, "gzip" }), articles), "", ""},
		{"each URL is requested seldom", folded(change(article, func(a *fact.Answer) { a.Encoding = "gzip" }), change(articles, func(s *fact.Series) { s.Crowded = 150 })), "", ""},
		{"many pages of one client", folded(change(article, func(a *fact.Answer) { a.Encoding = "gzip" }), change(articles, func(s *fact.Series) { s.Clients = 1 })), "", ""},

		{"icons", icon(icons, 16000, iikanji.WebRow{}, "/icon/7", forbidden), "WEB106", "act=expires path=/icon/:uuid cache-control=private"},
		{"one icon changed", icon(change(icons, func(s *fact.Series) { s.Fixed-- }), 16000, iikanji.WebRow{}, "/icon/7", forbidden), "", ""},
		{"a client gave up on one", torn(icon(change(icons, func(s *fact.Series) { s.Fixed-- }), 16000, iikanji.WebRow{}, "/icon/7", forbidden), "GET /icon/:id", 2), "WEB106", ""},
		{"clients gave up on many", torn(icon(change(icons, func(s *fact.Series) { s.Fixed -= 9 }), 16000, iikanji.WebRow{}, "/icon/7", forbidden), "GET /icon/:id", 20), "", ""},
		{"records", icon(icons, 146, iikanji.WebRow{}, "/icon/7", forbidden), "", ""},
		{"they have a query", icon(icons, 16000, iikanji.WebRow{}, "/icon/7?at=1", forbidden), "", ""},
		{"all of one size", icon(change(icons, func(s *fact.Series) { s.Sizes = 1 }), 16000, iikanji.WebRow{}, "/icon/7", forbidden), "", ""},
		{"some were 304", icon(icons, 16000, iikanji.WebRow{Status: [6]int64{2: 900, 3: 100}}, "/icon/7", forbidden), "", ""},

		{"scripts", file(script, assets), "WEB106", "act=expires path=/a/ expires=365d cache-control=public, immutable"},
		{"scripts that are too young to keep", young(file(script, assets), time.Second), "WEB106", ""},
		{"scripts that never change", fixed(young(file(script, assets), time.Second), "/a/"), "WEB106", "act=expires path=/a/ expires=365d"},
		{"another folder never changes", fixed(young(file(script, assets), time.Second), "/b/"), "WEB106", ""},
		{"icons that are too young to keep", young(icon(icons, 16000, iikanji.WebRow{}, "/icon/7", forbidden), time.Minute), "WEB106", ""},
		{"scripts without a hash", file(change(script, func(a *fact.Answer) { a.URL = "/a/x.js" }), assets), "WEB106", "expires=1h"},
		{"scripts with an age", file(change(script, func(a *fact.Answer) { a.CacheControl = "public, max-age=60" }), assets), "", ""},
		{"a page that is asked for each time", file(change(script, func(a *fact.Answer) { a.URL, a.CacheControl, a.ETag = "/index.html", "no-cache", true }), assets), "", ""},
		{"scripts of unknown size", file(script, change(assets, func(s *fact.Series) { s.FixedBytes = 0 })), "", ""},
		{"scripts with expires", file(change(script, func(a *fact.Answer) { a.Expires = true }), assets), "", ""},
		{"scripts of another answer", file(change(script, func(a *fact.Answer) { a.Status = 404 }), assets), "", ""},
		{"scripts uncompressed", file(change(script, func(a *fact.Answer) { a.Encoding, a.Packed, a.Bytes, a.Expires = "", 10000, 40000, true }), assets), "WEB105", "act=gzip"},
		{"noise uncompressed", file(change(script, func(a *fact.Answer) { a.Encoding, a.Packed, a.Bytes, a.Expires = "", 39000, 40000, true }), assets), "", ""},

		{"bodies", newScene().route("POST /up/:id", "", 1000, 0, iikanji.WebRow{MaxReqBytes: 70000}).says("nginx", "warn", "body-spilled", "a client request body", 900, "POST /up/:id"), "WEB103", "act=buffers body=128k"},
		{"a few bodies", newScene().route("POST /up/:id", "", 1000, 0, iikanji.WebRow{}).says("nginx", "warn", "body-spilled", "a client request body", 20, "POST /up/:id"), "", ""},
		{"large bodies", newScene().route("POST /up", "", 1000, 0, iikanji.WebRow{MaxReqBytes: 8 << 20}).says("nginx", "warn", "body-spilled", "a client request body", 900, "POST /up"), "WEB103", "proxy_request_buffering value=off"},
		{"answers", newScene().route("GET /big", "/big", 1000, 90000, iikanji.WebRow{}).says("nginx", "warn", "answer-spilled", "an upstream response", 900, "GET /big"), "WEB104", "act=buffers answer=128k"},

		{"connections", newScene().route("GET /", "/", 1000, 10, iikanji.WebRow{}).says("nginx", "alert", "connections-exhausted", "worker_connections are not enough", 3), "WEB108", "act=workers connections=4096 nofile=8192"},
		{"the web server's descriptors", newScene().route("GET /", "/", 1000, 10, iikanji.WebRow{}).says("nginx", "crit", "descriptors-exhausted", "Too many open files", 3), "WEB108", "act=workers"},
		{"the app's descriptors", newScene().route("GET /", "/", 1000, 10, iikanji.WebRow{}).says("app", "error", "descriptors-exhausted", "too many open files", 3), "OS101", "act=limits nofile=65536"},
		{"nearly", newScene().host(iikanji.MachineRow{}, map[string]iikanji.HostRow{"app": {FDs: 900, FDLimit: 1024}, "database": {FDs: 700, FDLimit: 1024}}), "OS101", "act=limits"},
		{"no ports", newScene().route("GET /", "/", 1000, 10, iikanji.WebRow{}).says("nginx", "crit", "ports-exhausted", "Cannot assign", 3), "OS105", "act=upstream keepalive"},

		{"clients give up", newScene().route("GET /slow", "/slow", 100, 10, iikanji.WebRow{}).route("GET /", "/", 900, 10, iikanji.WebRow{}).with("nginx", string(fact.TopicAnswer), "GET /slow", change(trend, func(a *fact.Answer) { a.Encoding, a.Took = "gzip", 30*time.Millisecond })).
			with("nginx", string(fact.TopicHTTPStatus), "499 GET /slow", "80").with("nginx", string(fact.TopicHTTPStatus), "499 GET /", "20"), "WEB109", ""},
		{"the app closes connections", newScene().route("GET /a/:id", "/a/7", 1000, 10, iikanji.WebRow{}).with("nginx", string(fact.TopicHTTPStatus), "502 GET /a/:id", "50").says("nginx", "error", "upstream-closed", "upstream prematurely closed", 50, "GET /a/:x"), "WEB109", ""},
		{"log by line", newScene().route("GET /", "/", 9000, 10, iikanji.WebRow{}).conf("access_log", "/log"), "WEB110", "log=buffered"},
		{"log through a buffer", newScene().route("GET /", "/", 9000, 10, iikanji.WebRow{}).conf("access_log", "/log", "combined", "buffer=64k"), "", ""},
		{"log off", newScene().route("GET /", "/", 9000, 10, iikanji.WebRow{}).conf("access_log", "off"), "", ""},

		{"debug log", newScene().route("GET /", "/", 3000, 10, iikanji.WebRow{}).says("app", "debug", "", "DEBUG", 2000).says("app", "", "request", "a request", 3000), "APP102", "log=off"},
		{"many errors", newScene().route("GET /", "/", 3000, 10, iikanji.WebRow{}).says("app", "error", "", "ERROR", 5000), "", ""},
		{"a server's own log", newScene().route("GET /", "/", 3000, 10, iikanji.WebRow{}).says("nginx", "info", "", "client closed", 5000), "", ""},
		{"a line now and then", newScene().route("GET /", "/", 90000, 10, iikanji.WebRow{}).says("app", "info", "", "INFO", 5000), "", ""},

		{"one core of three", newScene().host(iikanji.MachineRow{Idle: 20 * time.Second}, busy).with("app", string(fact.TopicProcess), "gomaxprocs", "1").with("app", string(fact.TopicProcess), "cores", "3"), "APP106", "env.GOMAXPROCS=3"},
		{"one core, the others busy", newScene().host(iikanji.MachineRow{Idle: 2 * time.Second}, busy).with("app", string(fact.TopicProcess), "gomaxprocs", "1"), "", ""},
		{"all that it may", newScene().host(iikanji.MachineRow{Idle: 20 * time.Second}, busy).with("app", string(fact.TopicProcess), "cores", "3"), "", ""},
		{"one thread", newScene().host(iikanji.MachineRow{Idle: 20 * time.Second}, map[string]iikanji.HostRow{"app": {User: 9 * time.Second, Threads: 1, Processes: 1}}), "APP106", ""},

		{"dropped", newScene().host(iikanji.MachineRow{ListenDrops: 40, ListenOverflows: 40}, nil).with("app", string(fact.TopicListen), "127.0.0.1:80", fact.Listener{Backlog: 128, Waiting: 129}), "OS102", ""},
		{"a stray drop", newScene().host(iikanji.MachineRow{ListenDrops: 2, ListenOverflows: 2}, nil), "", ""},
		{"dropped, and no queue was full", newScene().host(iikanji.MachineRow{ListenDrops: 541}, nil), "", ""},
		{"swapped in", newScene().host(iikanji.MachineRow{SwapIn: 64 << 20, SwapOut: 90 << 20}, busy), "OS103", ""},
		{"swapped out only", newScene().host(iikanji.MachineRow{SwapOut: 90 << 20}, busy), "", ""},
		{"steal", newScene().host(iikanji.MachineRow{Steal: 4 * time.Second}, busy), "OS104", ""},
		{"others", newScene().host(iikanji.MachineRow{}, map[string]iikanji.HostRow{"other": {User: 9 * time.Second}}), "OS104", ""},
		{"others a little", newScene().host(iikanji.MachineRow{Steal: 100 * time.Millisecond}, map[string]iikanji.HostRow{"other": {User: time.Second}}), "", ""},
		{"disk", newScene().host(iikanji.MachineRow{DiskBusy: 0.97, IOWait: 9 * time.Second}, busy), "OS107", ""},
		{"disk without waiting", newScene().host(iikanji.MachineRow{DiskBusy: 0.97, IOWait: time.Second}, busy), "", ""},
		{"short", newScene().route("GET /", "/", 100, 10, iikanji.WebRow{}), "BEN102", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs, err := findAll(c.in.Input)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range fs {
				got = append(got, string(f.Code))
				if len(f.Evidence) == 0 || f.Gain.Lo > f.Gain.Hi || len(f.Remedies) == 0 || f.Claim == "" || f.Where == "" {
					t.Errorf("not a whole finding: %+v", f)
				}
			}
			if strings.Join(got, " ") != c.codes {
				t.Fatalf("codes %q, want %q:\n%s", got, c.codes, formatted(fs))
			}
			args := ""
			if len(fs) > 0 {
				for k, v := range fs[0].Remedies[0].Args {
					args += k + "=" + v + " "
				}
			}
			for word := range strings.FieldsSeq(c.first) {
				if !strings.Contains(args, word) {
					t.Errorf("remedy %s, want %s", args, word)
				}
			}
			blind(t, c.in.Input, fs)
			sameElsewhere(t, c.in.Input, fs)
		})
	}
}

// blind checks that no finding of a sensor is left if the sensor is blind.
func blind(t *testing.T, in cause.Input, fs []iikanji.Finding) {
	t.Helper()
	in.Blind = []iikanji.Source{iikanji.Access, iikanji.Errors, iikanji.Host}
	again, err := findAll(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range again {
		if f.Code != "BEN103" {
			t.Errorf("%s of %s is reported although its sensors are blind", f.Code, f.Where)
		}
	}
}
