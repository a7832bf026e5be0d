package cache

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	evictedLeast = 50.0  // keys
	againTime    = 0.002 // seconds to make a value again that was thrown out, where nothing better is known
	neverExpire  = 0.9   // share of new keys without an expiry
	newKeys      = 500.0 // least new keys in a run
	setsLeast    = 20.0  // least SET commands that make new keys, where keys are deleted again
)

var fullCache = cause.Declare(cause.PerRun, findFullCache,
	cause.Cause{Code: "KV103", Title: "cache full, or keys that never expire", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "keys are thrown out that are needed again, or memory grows without end",
		Remedies: []cause.Way{cause.Person, cause.Patch}})

// findFullCache reports caches that are full, so that they throw out keys that are needed
// again, and Redis servers without a limit into which keys come that never expire.
func findFullCache(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, c := range caches(v) {
		limit := c.setting("maxmemory", "limit_maxbytes", "maxbytes")
		evicted := c.counter("evicted_keys", "evictions")
		switch {
		case evicted >= evictedLeast:
			each := againTime
			if n := executed(v); n > 0 {
				each = v.Seconds / n
			}
			out = append(out, iikanji.Finding{Code: "KV103", Where: c.Name,
				Claim:    fmt.Sprintf("%s threw out %s keys because it was full: they are made again, or sessions are lost", c.Name, cause.Number(evicted)),
				Evidence: []iikanji.Evidence{{Source: "cache", Text: fmt.Sprintf("evictions +%.0f, misses +%.0f; limit %s", evicted, c.counter("keyspace_misses", "get_misses"), iikanji.Bytes(limit))}},
				Gain:     cause.Between(evicted*each, 0, 1),
				Remedies: []iikanji.Remedy{iikanji.ByPerson(c.Name, "give "+c.Name+" more memory (maxmemory of Redis, -m of memcached); keep sessions and caches in different servers")}})
		case limit == 0 && c.setting("maxmemory") == 0 && c.counters["keys"] >= newKeys && c.counters["keys_that_expire"] <= (1-neverExpire)*c.counters["keys"] && !strings.EqualFold(string(c.Engine), "memcached"):
			out = append(out, iikanji.Finding{Code: "KV103", Where: c.Name,
				Claim:    fmt.Sprintf("%s new keys of %s never expire, and its memory has no limit: it grows until the machine has no memory left", cause.Number(c.counters["keys"]-c.counters["keys_that_expire"]), c.Name),
				Evidence: []iikanji.Evidence{{Source: "cache", Text: fmt.Sprintf("keys +%.0f, of which expire +%.0f; %s used; maxmemory 0", c.counters["keys"], c.counters["keys_that_expire"], iikanji.Bytes(c.setting("used_memory")))}},
				Remedies: patchEach(v, "give keys such as sessions an expiry (EX of SET), and set maxmemory with a policy")})
		case limit == 0 && c.staying():
			made := c.counters["command.set.calls"]
			out = append(out, iikanji.Finding{Code: "KV103", Where: c.Name,
				Claim:    fmt.Sprintf("%s times a key of %s was set, and none has an expiry: what is not deleted stays, and its memory has no limit", cause.Number(made), c.Name),
				Evidence: []iikanji.Evidence{{Source: "cache", Text: fmt.Sprintf("SET +%.0f, DEL +%.0f, keys that expire %.0f of %.0f; maxmemory 0", made, c.counters["command.del.calls"], c.setting("keys_that_expire"), c.setting("keys"))}},
				Remedies: patchEach(v, "give keys such as sessions an expiry (EX of SET), and set maxmemory with a policy")})
		}
	}
	return out
}

// staying reports whether commands make new keys that never expire: without EXPIRE, and
// with as many keys more, or deleted, as at least half of the SET commands. A SET of a
// key that is there already leaves the number of keys as it is.
func (c cache) staying() bool {
	sets := c.counters["command.set.calls"]
	for _, command := range []string{"expire", "pexpire", "expireat", "pexpireat", "setex", "psetex", "getex"} {
		if c.counters["command."+command+".calls"] > 0 {
			return false
		}
	}
	made := max(0, c.counters["keys"]) + c.counters["command.del.calls"] + c.counters["command.unlink.calls"]
	return sets >= setsLeast && made >= sets/2 && c.setting("keys") > 0 && c.setting("keys_that_expire") == 0 && !strings.EqualFold(string(c.Engine), "memcached")
}

// executed is the number of statements of all databases.
func executed(v *cause.View) float64 {
	n := 0.0
	for _, d := range v.Digests {
		n += d.Totals.Count
	}
	return n
}
