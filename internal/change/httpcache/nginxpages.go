package httpcache

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/rewrite/pagegen"
)

const (
	// pagesZone is the name of the cache, and of its folder.
	pagesZone = "iikanji_pages"
	// pagesKey is what a client can ask for. The rest of the key is what else the app
	// receives, the slice of time, and the generation.
	pagesKey = "$scheme$http_host$request_uri $http_accept $http_accept_language $http_origin"
	// Variables of the configuration: the symbolic link of a page, the page's bucket, the
	// generation that the link points to, and a flag that is set without a generation.
	linkVariable   = "$iikanji_link"
	bucketVariable = "$iikanji_bucket"
	generation     = "$iikanji_generation"
	noGeneration   = "$iikanji_no_generation"
)

// nginxPages keeps the answers of paths in nginx's cache until a write. nginx has the
// generation of a page in the key (package pagegen), which the app renews at each write.
type nginxPages struct {
	Path    string `arg:"path,required" help:"a URL or a route: /article/:id; several with semicolons between them"`
	Valid   string `arg:"valid,required" help:"how old an answer may be, 100ms to 100s"`
	Cookies string `arg:"cookies" oneof:"personal,ignore" default:"personal" help:"personal: no answer to a request with a cookie is kept; ignore: requests lose their cookies, for paths that are the same for all clients"`
	Drops   drops  `arg:"drops" help:"the pages that writes drop, as in POST /comment/:1=/article/:1,/list;POST /post=/ where :1 is the first id in the write's path; a write that is not named, and every write by default, drops all pages"`
	Lock    string `arg:"lock" oneof:"on,off" default:"off" help:"on: of several requests for one answer only one reaches the app; the others look every 500 ms whether it is there"`
	Size    megs   `arg:"size" help:"the most bytes of the cache on disk, 1m to 1024m; a quarter of the available memory up to 256m by default"`
	Server  string `arg:"server" help:"server_name or listen address of a server block"`

	slice nginxedit.Slice
	paths []string
}

// Validate is called by change.Decode.
func (a *nginxPages) Validate() error {
	v := varnish{Path: a.Path, Valid: a.Valid, Cookies: a.Cookies, Writes: "purge"}
	if err := v.Validate(); err != nil {
		return err
	}
	a.slice, a.paths = nginxedit.SliceOf(v.valid), v.paths
	for _, path := range a.paths {
		if strings.HasPrefix(path, "= ") || strings.Contains(path, ".") {
			return fmt.Errorf("path %q: want a path or a route without an ending", path)
		}
	}
	return a.Drops.within(a.paths)
}

// plan implements planner.
func (a *nginxPages) plan(t *task) error {
	http, err := t.HTTP()
	if err != nil {
		return err
	}
	var app string
	spots := make([]nginxedit.Spot, len(a.paths))
	for i, path := range a.paths {
		if spots[i], err = a.spot(t, path); err != nil {
			return err
		}
		of, err := t.appOf(path, spots[i])
		if err == nil && app != "" && of != app {
			err = fmt.Errorf("path %q: it is answered by %s, the path %q by %s", path, of, a.paths[0], app)
		}
		if err != nil {
			return err
		}
		app = of
	}
	if err := t.onlyWriter(app); err != nil {
		return err
	}
	folder, err := t.generations(app, pagegen.Plan{Kept: a.paths, Table: a.Drops})
	if err != nil {
		return err
	}
	if err := a.zone(t, http); err != nil {
		return err
	}
	a.slice.Define(t.Plan, http)
	a.Drops.define(t, http, a.paths)
	for i, path := range a.paths {
		if err := a.keep(t, path, spots[i], folder); err != nil {
			return err
		}
	}
	t.Weaken(promise.Kept{Cached: true, FromApp: true, AppDecides: true, SameForAll: t.Proves(iikanji.SameForAll), Purged: true}.Promises()...)
	t.Says = a.says(app)
	return nil
}

// says is the sentence about the change.
func (a *nginxPages) says(app string) string {
	text := fmt.Sprintf("keep the answers of %s in nginx for %s", strings.Join(a.paths, " and "), a.Valid)
	if a.Cookies == "ignore" {
		text += ", the same for all clients, without cookies"
	}
	if len(a.Drops) == 0 {
		return text + ", and have " + app + " drop all of them at each request that may write"
	}
	return text + ", and have " + app + " drop " + a.Drops.String() + ", and all of them at every other write"
}

// spot is the location of a path. It refuses a path whose answers cannot be kept.
func (a *nginxPages) spot(t *task, path string) (nginxedit.Spot, error) {
	s, err := t.Spot(path, a.Server)
	if err == nil {
		s, err = t.Passing(path, s)
	}
	if err == nil {
		err = t.Public(path, s)
	}
	if err == nil {
		err = t.Obeys(path, s)
	}
	if err != nil {
		return s, err
	}
	if err := t.keptBy(path, s); err != nil {
		return s, err
	}
	return s, t.lacks(path, s, "which needs another root", "try_files", "alias", "error_page")
}

// keptBy refuses a path whose answers another cache of nginx keeps.
func (t *task) keptBy(path string, s nginxedit.Spot) error {
	if was := t.Value(s.Chain, "proxy_cache"); was != "" && was != "off" && was != pagesZone {
		return fmt.Errorf("path %q: its answers are in the cache %s already", path, was)
	}
	return nil
}

// lacks refuses a path whose location has one of the directives. why explains it.
func (t *task) lacks(path string, s nginxedit.Spot, why string, directives ...string) error {
	for _, name := range directives {
		if len(t.Get(s.Last(), name)) > 0 {
			return fmt.Errorf("path %q: its location has %s, %s", path, name, why)
		}
	}
	return nil
}

// appOf is the service that answers a path.
func (t *task) appOf(path string, s nginxedit.Spot) (string, error) {
	_, pass, err := t.passOf(path, s)
	if err != nil {
		return "", err
	}
	apps, err := t.servers(path, pass.To)
	if err != nil {
		return "", err
	}
	if len(apps) > 1 {
		return "", fmt.Errorf("path %q: %d servers answer it; want one app, which drops the pages", path, len(apps))
	}
	for name, svc := range t.Site.Services {
		listed, _ := t.Site.Target.Service(name)
		if cmp.Or(svc.Address, listed.Address) == apps[0] && svc.Source != "" {
			return name, nil
		}
	}
	return "", fmt.Errorf("path %q: no service with source is at %s", path, apps[0])
}

// onlyWriter refuses a site on which something else than requests of the app changes the
// pages.
func (t *task) onlyWriter(app string) error {
	for _, o := range t.Site.Target.WithRole(iikanji.RoleApp) {
		if o.Name != app {
			return fmt.Errorf("the app %s may change the pages, too, and does not drop them", o.Name)
		}
	}
	if t.Site.Target.Bench.Resets {
		return fmt.Errorf("the data is put back before each run past the app: kept pages would be of the run before")
	}
	if t.Site.Services[app].Host != t.Svc.Host {
		return fmt.Errorf("the app %s is on another host than nginx: it cannot drop pages", app)
	}
	return nil
}

// zone adds the cache, unless it is there.
func (a *nginxPages) zone(t *task, http *nginx.Directive) error {
	if t.HasCacheZone(http, pagesZone) {
		return nil
	}
	size := int64(a.Size)
	if size == 0 {
		free, err := t.available()
		if err != nil {
			return err
		}
		size = sizeOf(free, 1)
	}
	return t.CacheZone(http, pagesZone, "1:2", strconv.FormatInt(size, 10)+"m", "30s")
}

// link is the symbolic link to the generation of a page.
func (ds drops) link() string {
	if len(ds) == 0 {
		return pagegen.Common
	}
	return linkVariable
}

// hasBlock reports whether http has a block that sets a variable.
func (t *task) hasBlock(http *nginx.Directive, block, variable string) bool {
	return slices.ContainsFunc(t.Get(http, block), func(d nginx.Place) bool { return d.Arg(1) == variable })
}

// define adds the maps that the keys of pages need. $realpath_root is read once for each
// request: between two readings, a write may change it.
func (ds drops) define(t *task, http *nginx.Directive, paths []string) {
	if !t.hasBlock(http, "map", generation) {
		nginxedit.InsertBeforeServers(http, nginx.NewBlock("map", "$realpath_root", generation).Put(nginx.New("~^(?<iikanji_made>.+)$", "$iikanji_made")))
		nginxedit.InsertBeforeServers(http, nginx.NewBlock("map", generation, noGeneration).Put(nginx.New("", "1")))
	}
	if len(ds) == 0 {
		return
	}
	if !t.hasBlock(http, "split_clients", bucketVariable) {
		split := nginx.NewBlock("split_clients", "$uri", bucketVariable)
		for i := range pagegen.Buckets - 1 {
			split.Put(nginx.New("1%", strconv.Itoa(i)))
		}
		nginxedit.InsertBeforeServers(http, split.Put(nginx.New("*", strconv.Itoa(pagegen.Buckets-1))))
	}
	var links *nginx.Directive
	for _, d := range t.Get(http, "map") {
		if d.Arg(1) == linkVariable {
			links = d.Directive
		}
	}
	if links == nil {
		links = nginx.NewBlock("map", "$uri", linkVariable).Put(nginx.New("default", pagegen.Common))
		nginxedit.InsertBeforeServers(http, links)
	}
	for _, path := range paths {
		nginxedit.SetIn(t.Conf, links, canonical(path), bucketVariable)
	}
}

// canonical matches the paths of a route whose ids are in the usual form.
func canonical(route string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if segments[i] = quoteMeta(s); strings.HasPrefix(s, ":") {
			segments[i] = pagegen.ID
		}
	}
	return "~^" + strings.Join(segments, "/") + "$"
}

// oneEncoding has the app asked for one encoding, so that one answer is kept for all
// clients. Clients that do not accept it get it unpacked. Varnish does the same.
func (t *task) oneEncoding(s nginxedit.Spot) {
	t.EnsureOneOf(s.Chain, "proxy_set_header", nginxedit.SameHeader("Accept-Encoding"), "Accept-Encoding", "gzip")
	t.Ensure(s.Chain, "gunzip", "on")
}

// keep writes the directives of the location whose answers are kept.
func (a *nginxPages) keep(t *task, path string, s nginxedit.Spot, folder string) error {
	if _, err := t.Split(&s); err != nil {
		return err
	}
	if err := t.NoRedirect(s); err != nil {
		return err
	}
	personal := slices.Clone(nginxedit.Credentials)
	if a.Cookies == "ignore" {
		t.WithoutCookies(s)
	} else {
		personal = append(personal, "$http_cookie")
	}
	t.oneEncoding(s)
	key := pagesKey
	received, err := t.Received(path, s, a.Cookies == "ignore")
	if err != nil {
		return err
	}
	for _, v := range received {
		if !slices.Contains(nginxedit.VariablesOf(pagesKey), v) {
			key += " $" + v
		}
	}
	t.Ensure(s.Chain, "root", folder+"/"+a.Drops.link())
	t.Ensure(s.Chain, "proxy_cache", pagesZone)
	t.Ensure(s.Chain, "proxy_cache_key", key+" "+a.slice.Variable()+" "+generation)
	t.Ensure(s.Chain, "proxy_cache_valid", "200", strconv.Itoa(int(a.slice.Length/time.Second)+1)+"s")
	t.Ensure(s.Chain, "proxy_cache_lock", a.Lock)
	if t.Value(s.Chain, "proxy_buffering") == "off" {
		t.Ensure(s.Chain, "proxy_buffering", "on")
	}
	if _, at := t.Effective(s.Chain, "proxy_cache_use_stale"); at >= 0 {
		t.Ensure(s.Chain, "proxy_cache_use_stale", "off")
	}
	t.Ensure(s.Chain, "proxy_cache_bypass", append(slices.Clone(personal), noGeneration)...)
	t.Ensure(s.Chain, "proxy_no_cache", append(slices.Clone(personal), noGeneration)...)
	return nil
}
