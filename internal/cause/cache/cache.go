package cache

import (
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A cache is a Redis or a memcached with what it reported of the run.
type cache struct {
	iikanji.Service
	counters map[string]float64 // growth over the run
	settings map[string]string
}

// caches are the caches of the target that were observed.
func caches(v *cause.View) []cache {
	var out []cache
	for _, s := range v.Input.Target.WithRole(iikanji.RoleCache) {
		c := cache{Service: s, counters: map[string]float64{}, settings: map[string]string{}}
		for f, n := range fact.TopicCacheCounter.In(v.Input.Facts) {
			if f.Target == s.Name {
				c.counters[f.Key] = n
			}
		}
		for f, text := range fact.TopicCacheSetting.In(v.Input.Facts) {
			if f.Target == s.Name {
				c.settings[f.Key] = text
			}
		}
		if len(c.settings) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// setting is a number among the settings, 0 if there is none.
func (c cache) setting(names ...string) float64 {
	for _, name := range names {
		if n, err := strconv.ParseFloat(c.settings[name], 64); err == nil {
			return n
		}
	}
	return 0
}

// counter is the first counter of these names that grew.
func (c cache) counter(names ...string) float64 {
	for _, name := range names {
		if n := c.counters[name]; n > 0 {
			return n
		}
	}
	return 0
}

// patchEach is a change of the source of each app of the target.
func patchEach(v *cause.View, says string) []iikanji.Remedy {
	var out []iikanji.Remedy
	for _, s := range v.Input.Target.WithRole(iikanji.RoleApp) {
		out = append(out, iikanji.Remedy{Kind: "patch", Target: s.Name, Says: says})
	}
	return out
}
