package nginxconf

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
)

// zone is the name of the shared memory of the cache that iikanji makes, and a
// prefix of all names that belong to it.
const zone = "iikanji_cache"

// cacheKey is the default key: what a client can ask for.
const cacheKey = "$scheme$http_host$request_uri $http_accept $http_accept_encoding $http_accept_language $http_origin"

var (
	keyForm   = regexp.MustCompile(`^(\$[a-z][a-z0-9_]*|[A-Za-z0-9:/|._ -])+$`)
	validForm = regexp.MustCompile(`^[0-9]{1,6}(ms|s)$`)
)

// cache keeps the answers of a path for a short time.
//
// nginx counts the validity of an answer in whole seconds of the clock, so "1s"
// can be two, and the app's own headers overrule it. Therefore the time is a
// part of the key: all requests in one slice of time share an answer that the
// app gave in that slice, so no answer is older than the slice is long. Requests
// that wait for the answer to another request check every 500 ms whether it is
// there (proxy_cache_lock).
//
// An answer that is renewed in the background is shared by a longer slice. Once
// that slice is over, an old answer that nginx still has, from before a pause or
// a restart, is not sent again.
//
// Answers to requests with credentials are never kept, and no answer is where
// nginx authenticates clients.
type cache struct {
	Path    string `arg:"path,required" help:"a URL, a folder with its slash, or a route: /api/isu/:id/icon"`
	Valid   string `arg:"valid,required" help:"how old an answer may be, 100ms to 100s"`
	Key     string `arg:"key" help:"what tells answers apart: variables, $request_uri and all that the app receives by other headers among them; complete by default"`
	Cookies string `arg:"cookies" oneof:"personal,ignore" default:"personal" help:"personal: no answer to a request with a cookie is kept; ignore: requests lose their cookies, for a path (not a folder) that is the same for all clients"`
	Stale   string `arg:"stale" oneof:"no,updating" default:"no" help:"updating: other clients get the old answer while one request renews it (valid in whole seconds, from 2s; with few requests an answer may be older, up to 5 s or two and a half times valid)"`
	Lock    string `arg:"lock" oneof:"on,off" default:"on" help:"on: of several requests for one answer only one reaches the app"`
	Server  string `arg:"server" help:"server_name or listen address of a server block"`

	slice   nginxedit.Slice // the requests in it share an answer
	seconds int             // for proxy_cache_valid
}

// renewedFor is the shortest slice of answers that are renewed in the
// background: the longest time for which an old answer is sent.
const renewedFor = 5 * time.Second

// renewedSlice is the slice of answers that are valid for d and renewed in the background.
func renewedSlice(d time.Duration) nginxedit.Slice { return nginxedit.SliceOf(max(renewedFor, 5*d/2)) }

// Validate is called by change.Decode.
func (a *cache) Validate() error {
	d, err := time.ParseDuration(a.Valid)
	if err != nil || !validForm.MatchString(a.Valid) || d < 100*time.Millisecond || d > 100*time.Second {
		return fmt.Errorf("valid %q: want 100ms to 100s", a.Valid)
	}
	if a.Key != "" && (!keyForm.MatchString(a.Key) || !slices.Contains(nginxedit.VariablesOf(a.Key), "request_uri")) {
		return fmt.Errorf("key %q: want nginx variables, and $request_uri among them", a.Key)
	}
	if !a.renews() {
		a.slice = nginxedit.SliceOf(d)
		a.seconds = int(a.slice.Length/time.Second) + 1
		return nil
	}
	a.slice = renewedSlice(d)
	if a.seconds = int(d/time.Second) - 1; d%time.Second != 0 || a.seconds < 1 {
		return fmt.Errorf("valid %q: stale updating needs whole seconds, from 2s", a.Valid)
	}
	return nil
}

// renews reports whether answers are renewed in the background.
func (a *cache) renews() bool { return a.Stale == "updating" }

// shared reports whether cookies are ignored: the answer is the same for all
// clients.
func (a *cache) shared() bool { return a.Cookies == "ignore" }

func (a *cache) edit(t *task) error {
	s, err := a.find(t)
	if err != nil {
		return err
	}
	if _, err := t.Split(&s); err != nil {
		return err
	}
	if err := t.NoRedirect(s); err != nil {
		return err
	}
	name, inactive := a.zone()
	if err := t.CacheZone(s.Chain[0], name, "1", "256m", fmt.Sprintf("%ds", inactive)); err != nil {
		return err
	}
	t.Weaken(promise.Kept{Cached: true, FromApp: true, AppDecides: true, SameForAll: t.Proves(iikanji.SameForAll)}.Promises()...)
	t.Says = fmt.Sprintf("keep the answers of %s for %s", a.Path, a.Valid)
	if a.shared() {
		t.Says += ", the same for all clients, without cookies"
	}
	return a.fill(t, s)
}

// find is the spot of the path. It refuses a path whose answers cannot be
// cached.
func (a *cache) find(t *task) (nginxedit.Spot, error) {
	s, err := t.Spot(a.Path, a.Server)
	if err != nil {
		return s, err
	}
	if s.Want.IsPrefix() && a.shared() {
		return s, fmt.Errorf("path %q: cookies can be ignored for one path or route, not for a folder", a.Path)
	}
	if s, err = t.Passing(a.Path, s); err != nil {
		return s, err
	}
	if was := t.Value(s.Chain, "proxy_cache"); was != "" && was != "off" && was != zone && !strings.HasPrefix(was, zone+"_") {
		return s, fmt.Errorf("path %q: its answers are in the cache %s already", a.Path, was)
	}
	if err := t.Obeys(a.Path, s); err != nil {
		return s, err
	}
	return s, t.Public(a.Path, s)
}

// zone is the name of the cache, and after how many seconds without a request
// an answer is removed. An answer that is renewed in the background is removed
// soon: otherwise the first request after a pause would get it, however old it
// is. nginx removes answers when the next one is due; if there is none, it looks
// again after 10 s.
func (a *cache) zone() (name string, inactive int) {
	if !a.renews() {
		return zone, 30
	}
	return fmt.Sprintf("%s_renewed_%ds", zone, a.seconds), a.seconds
}

// fill writes the directives of the location whose answers are kept.
func (a *cache) fill(t *task, s nginxedit.Spot) error {
	personal := a.personal(t, s)
	key, err := a.fullKey(t, s)
	if err != nil {
		return err
	}
	a.slice.Define(t.Plan, s.Chain[0])
	name, _ := a.zone()
	t.Ensure(s.Chain, "proxy_cache", name)
	t.Ensure(s.Chain, "proxy_cache_key", key+" "+a.slice.Variable())
	t.Ensure(s.Chain, "proxy_cache_valid", "200", strconv.Itoa(a.seconds)+"s")
	t.Ensure(s.Chain, "proxy_cache_lock", a.Lock)
	if t.Value(s.Chain, "proxy_buffering") == "off" {
		t.Ensure(s.Chain, "proxy_buffering", "on")
	}
	if a.renews() {
		t.Ensure(s.Chain, "proxy_cache_use_stale", "updating")
		t.Ensure(s.Chain, "proxy_cache_background_update", "on")
	} else if _, at := t.Effective(s.Chain, "proxy_cache_use_stale"); at >= 0 {
		t.Ensure(s.Chain, "proxy_cache_use_stale", "off")
	}
	t.Ensure(s.Chain, "proxy_cache_bypass", personal...)
	t.Ensure(s.Chain, "proxy_no_cache", personal...)
	return nil
}

// personal removes the cookies where the answers are shared, and returns the values with
// which a request is not answered from the cache.
func (a *cache) personal(t *task, s nginxedit.Spot) []string {
	if a.shared() {
		t.WithoutCookies(s)
		return slices.Clone(nginxedit.Credentials)
	}
	return append(slices.Clone(nginxedit.Credentials), "$http_cookie")
}

// fullKey is the key of a location's answers. The default key is completed with
// all that the app receives about a client; a key of the remedy that is not
// complete is refused.
func (a *cache) fullKey(t *task, s nginxedit.Spot) (string, error) {
	received, err := t.Received(a.Path, s, a.shared())
	if err != nil {
		return "", err
	}
	key := cmp.Or(a.Key, cacheKey)
	in := nginxedit.VariablesOf(key)
	var lacks []string
	for _, v := range received {
		if !slices.Contains(in, v) {
			lacks = append(lacks, "$"+v)
		}
	}
	if len(lacks) == 0 {
		return key, nil
	}
	if a.Key != "" {
		return "", fmt.Errorf("key %q: the app also receives %s: want all of it in the key", key, strings.Join(lacks, " "))
	}
	t.Says += ", apart for each " + strings.Join(lacks, " ")
	return key + " " + strings.Join(lacks, " "), nil
}
