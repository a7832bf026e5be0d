package nginxedit

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// HasCacheZone reports whether a cache of answers is defined.
func (t *Plan) HasCacheZone(http *nginx.Directive, name string) bool {
	return slices.ContainsFunc(t.Get(http, "proxy_cache_path"), func(p nginx.Place) bool {
		return slices.ContainsFunc(p.Args(), func(arg string) bool { return strings.HasPrefix(arg, "keys_zone="+name+":") })
	})
}

// CacheZone adds a cache of answers, unless it is there. Its folder is beside nginx's
// other folders. levels are those of proxy_cache_path, as in "1:2". size bounds the cache, as in "256m";
// inactive is the time without a request after which an answer is removed, as in "30s".
func (t *Plan) CacheZone(http *nginx.Directive, name, levels, size, inactive string) error {
	if t.HasCacheZone(http, name) {
		return nil
	}
	run, err := t.RunFolder(http)
	if err != nil {
		return err
	}
	dir := filepath.Join(run, name)
	if !t.Exists(dir) {
		t.Scratch = append(t.Scratch, dir)
	}
	InsertBeforeServers(http, nginx.New("proxy_cache_path", dir, "levels="+levels, "keys_zone="+name+":8m", "max_size="+size, "inactive="+inactive, "use_temp_path=off"))
	return nil
}
