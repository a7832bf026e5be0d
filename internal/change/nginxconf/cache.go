package nginxconf

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// zone is the shared memory of the cache that iikanji makes, and a part of the
// names of all that belongs to it.
const zone = "iikanji_cache"

// cacheKey is what tells answers apart: all that a client may ask for.
const cacheKey = "$scheme$http_host$request_uri $http_accept $http_accept_encoding $http_accept_language $http_origin"

var (
	keyForm   = regexp.MustCompile(`^(\$[a-z][a-z0-9_]*|[A-Za-z0-9:/|._ -])+$`)
	validForm = regexp.MustCompile(`^[0-9]{1,6}(ms|s)$`)
)

// editCache keeps the answers of a path for a short time.
//
// nginx counts the validity of an answer in whole seconds of the clock, so
// that "1s" may mean two, and lets the app's own headers overrule it. Here the
// time is part of the key instead: all requests of one slice of time share an
// answer that was asked for in that slice, so that none is older than the slice
// is long. Requests that wait for another one's answer look every 500 ms
// whether it is there (proxy_cache_lock).
//
// An answer that is renewed in the background is shared by a longer slice: an
// old one that nginx still has, from before a pause or a restart, is not given
// out once more after that.
func editCache(t *task) error {
	o, err := t.cacheOptions()
	if err != nil {
		return err
	}
	s, err := t.spot(t.args["path"])
	if err != nil {
		return err
	}
	if s.want.prefix() && o.ignoreCookies {
		return fmt.Errorf("path %q: cookies are taken from one path or route, not from a folder", t.args["path"])
	}
	if s, err = t.asksApp(s); err != nil {
		return err
	}
	if was := t.value(s.chain, "proxy_cache"); was != "" && was != "off" && was != zone && !strings.HasPrefix(was, zone+"_") {
		return fmt.Errorf("path %q: its answers are in the cache %s already", t.args["path"], was)
	}
	if err := t.everyoneMay(s); err != nil {
		return err
	}
	if _, err := t.split(&s); err != nil {
		return err
	}
	if err := t.noRedirect(s); err != nil {
		return err
	}
	if err := t.cachePath(s.chain[0], o); err != nil {
		return err
	}
	t.weaken(iikanji.Freshness)
	t.says = fmt.Sprintf("keep the answers of %s for %s", t.args["path"], t.args["valid"])
	if o.ignoreCookies {
		t.says += ", the same for everyone, without cookies"
	}
	return t.cacheIn(s, o)
}

// oldest is how old an answer may be that is given out while it is renewed.
const oldest = 10 * time.Second

type cacheOptions struct {
	key           string
	slice         slice // of time that shares an answer
	renew         bool  // others get the old answer of the slice while one asks
	seconds       int   // for proxy_cache_valid
	ignoreCookies bool
	lock          string
}

func (t *task) cacheOptions() (o cacheOptions, err error) {
	valid := t.args["valid"]
	d, err := time.ParseDuration(valid)
	if err != nil || !validForm.MatchString(valid) || d < 100*time.Millisecond || d > 100*time.Second {
		return o, fmt.Errorf("valid %q: want 100ms to 100s", valid)
	}
	if o.key = t.arg("key", cacheKey); !keyForm.MatchString(o.key) || !slices.Contains(variablesOf(o.key), "request_uri") {
		return o, fmt.Errorf("key %q: want nginx variables, and $request_uri among them", o.key)
	}
	cookies, err := t.word("cookies", "personal", "ignore")
	if err != nil {
		return o, err
	}
	o.ignoreCookies = cookies == "ignore"
	if o.lock, err = t.word("lock", "on", "off"); err != nil {
		return o, err
	}
	stale, err := t.word("stale", "no", "updating")
	if err != nil {
		return o, err
	}
	if stale == "no" {
		o.slice = sliceOf(d)
		o.seconds = int(o.slice.length/time.Second) + 1
		return o, nil
	}
	o.renew, o.slice = true, sliceOf(max(oldest, 5*d))
	if o.seconds = int(d/time.Second) - 1; d%time.Second != 0 || o.seconds < 1 {
		return o, fmt.Errorf("valid %q: stale updating wants whole seconds, from 2s", valid)
	}
	return o, nil
}

// A slice is a length of time that divides the clock evenly in decimal, so
// that an expression can read it from $msec ("1700000000.123").
type slice struct {
	length time.Duration
	same   []string // of the digits behind the kept ones: each stands for a slice
	kept   string   // the digits that are the same in a slice
}

// sliceOf is the longest slice that is not longer than d.
func sliceOf(d time.Duration) slice {
	halves, fifths, tenths := []string{"[0-4]", "[5-9]"}, []string{"[01]", "[23]", "[45]", "[67]", "[89]"}, []string{`\d`}
	one := []string{""}
	all := []slice{
		{100 * time.Millisecond, one, `\d+\.\d`},
		{200 * time.Millisecond, fifths, `\d+\.`},
		{500 * time.Millisecond, halves, `\d+\.`},
		{time.Second, one, `\d+\.`},
		{2 * time.Second, fifths, `\d+`},
		{5 * time.Second, halves, `\d+`},
		{10 * time.Second, tenths, `\d+`},
		{20 * time.Second, fifths, `\d+`},
		{50 * time.Second, halves, `\d+`},
		{100 * time.Second, tenths, `\d+`},
	}
	best := all[0]
	for _, s := range all {
		if s.length <= d {
			best = s
		}
	}
	switch { // the digits behind, up to the point
	case best.length >= 20*time.Second:
		best.same = each(best.same, `\d\.`)
	case best.length >= 2*time.Second:
		best.same = each(best.same, `\.`)
	}
	return best
}

func each(parts []string, behind string) []string {
	var out []string
	for _, p := range parts {
		out = append(out, p+behind)
	}
	return out
}

// variable is the name of the map that says which slice it is.
func (s slice) variable() string {
	return "$iikanji_slice_" + strings.ReplaceAll(s.length.String(), ".", "_")
}

// block is the map. Its values are the digits that a slice shares, and a
// letter for what follows.
func (s slice) block() *directive {
	m := newBlock("map", "$msec", s.variable())
	m.put(newDirective("default", "$msec"))
	for i, same := range s.same {
		m.put(newDirective("~^(?<iikanji_time>"+s.kept+")"+same, "${iikanji_time}"+string(rune('a'+i))))
	}
	return m
}

// asksApp is the spot from which the app is asked: where a location tries the
// disk first, its fallback, if there is no file.
func (t *task) asksApp(s spot) (spot, error) {
	if t.passes(s.last()) {
		return s, nil
	}
	tries := t.get(s.last(), "try_files")
	if len(s.chain) == 2 || len(tries) == 0 {
		return s, fmt.Errorf("path %q: no location asks the app for it", t.args["path"])
	}
	args := tries[0].args()
	named := args[len(args)-1]
	if at := filepath.Join(t.value(s.chain, "root"), s.want.what); !s.want.regex() && exists(at) {
		return s, fmt.Errorf("path %q: %s is on disk", t.args["path"], at)
	}
	for _, l := range t.get(s.server(), "location") {
		if l.arg(0) == named && t.passes(l.directive) && len(s.chain) == 3 && !s.is() {
			s.chain = []*directive{s.chain[0], s.server(), l.directive}
			return s, nil
		}
	}
	return s, fmt.Errorf("path %q: location %s does not ask the app in a way that iikanji knows", t.args["path"], matches(s.last()))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// zone is the cache that the answers are in, and inactive after how many
// seconds without a request one is removed. One that is renewed in the
// background goes as soon as nobody asks: it would be given out once more,
// however old it is by then. nginx looks whenever the next one is due, but
// after it has found none it looks after 10 s.
func (o cacheOptions) zone() (name string, inactive int) {
	if !o.renew {
		return zone, 30
	}
	return fmt.Sprintf("%s_renewed_%ds", zone, o.seconds), o.seconds
}

// cachePath has nginx make a folder for the cache beside its other ones.
func (t *task) cachePath(http *directive, o cacheOptions) error {
	name, inactive := o.zone()
	for _, p := range t.get(http, "proxy_cache_path") {
		if slices.ContainsFunc(p.args(), func(a string) bool { return strings.HasPrefix(a, "keys_zone="+name+":") }) {
			return nil
		}
	}
	run := ""
	for _, name := range []string{"proxy_temp_path", "client_body_temp_path", "fastcgi_temp_path"} {
		if found := t.get(http, name); run == "" && len(found) > 0 && filepath.IsAbs(found[0].arg(0)) {
			run = filepath.Dir(found[0].arg(0))
		}
	}
	if found := t.find("pid"); run == "" && len(found) > 0 && filepath.IsAbs(found[0].arg(0)) {
		run = filepath.Dir(found[0].arg(0))
	}
	if run == "" {
		return fmt.Errorf("neither proxy_temp_path nor pid says where nginx may keep files")
	}
	dir := filepath.Join(run, name)
	if !exists(dir) {
		t.scratch = append(t.scratch, dir)
	}
	insertBeforeServers(http, newDirective("proxy_cache_path", dir, "levels=1", "keys_zone="+name+":8m", "max_size=256m", fmt.Sprintf("inactive=%ds", inactive), "use_temp_path=off"))
	return nil
}

// cacheIn writes what a cached location has.
func (t *task) cacheIn(s spot, o cacheOptions) error {
	personal := slices.Clone(credentials)
	if o.ignoreCookies {
		t.withoutCookies(s)
	} else {
		personal = append(personal, "$http_cookie")
	}
	key, err := t.keyOf(s, o)
	if err != nil {
		return err
	}
	key += " " + o.slice.variable()
	t.sliceMap(s.chain[0], o.slice)
	name, _ := o.zone()
	t.holds(s.chain, "proxy_cache", name)
	t.holds(s.chain, "proxy_cache_key", key)
	t.holds(s.chain, "proxy_cache_valid", "200", strconv.Itoa(o.seconds)+"s")
	t.holds(s.chain, "proxy_cache_lock", o.lock)
	if t.value(s.chain, "proxy_buffering") == "off" {
		t.holds(s.chain, "proxy_buffering", "on")
	}
	if o.renew {
		t.holds(s.chain, "proxy_cache_use_stale", "updating")
		t.holds(s.chain, "proxy_cache_background_update", "on")
	} else if _, at := t.effective(s.chain, "proxy_cache_use_stale"); at >= 0 {
		t.holds(s.chain, "proxy_cache_use_stale", "off")
	}
	t.holds(s.chain, "proxy_cache_bypass", personal...)
	t.holds(s.chain, "proxy_no_cache", personal...)
	return nil
}

// withoutCookies takes the cookies from a location's requests and answers.
func (t *task) withoutCookies(s spot) {
	t.adds(s.chain, "proxy_set_header", sameHeader("Cookie"), "Cookie", "")
	t.adds(s.chain, "proxy_hide_header", sameHeader("Set-Cookie"), "Set-Cookie")
	ignored := []string{"Set-Cookie"}
	if found, _ := t.effective(s.chain, "proxy_ignore_headers"); len(found) > 0 && found[0].has("Set-Cookie") {
		ignored = found[0].args()
	} else if len(found) > 0 {
		ignored = append(found[0].args(), ignored...)
	}
	t.holds(s.chain, "proxy_ignore_headers", ignored...)
}

// sliceMap adds the map of a slice, once.
func (t *task) sliceMap(http *directive, s slice) {
	for _, m := range t.get(http, "map") {
		if m.arg(1) == s.variable() {
			return
		}
	}
	insertBeforeServers(http, s.block())
}
