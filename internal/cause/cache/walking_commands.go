package cache

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	walkSeconds = 0.05   // least seconds of a command in the run
	walkEach    = 0.0002 // seconds of one call, from which on it is a walk: a look-up takes microseconds
)

// walks are the commands of Redis that read everything, or a whole collection.
var walks = map[string]string{
	"keys": "keep a set or a counter of what is counted, or use SCAN outside of requests", "flushall": "delete only what is old", "flushdb": "delete only what is old",
	"smembers": "ask for the members that are needed (SISMEMBER, SRANDMEMBER), or keep a counter", "hgetall": "ask for the fields that are needed (HMGET)",
	"lrange": "ask for the part of the list that is shown, and trim it", "zrange": "ask for the part that is shown", "sort": "keep the order in a sorted set",
	"eval": "do less in the script: everything else waits for it", "evalsha": "do less in the script: everything else waits for it",
}

// walkCalls and walkShare are the least number of KEYS in a run, and by request, from
// which on it is a part of answering requests and not of a job.
const (
	walkCalls = 20.0
	walkShare = 0.05
)

var walkingCommands = cause.Declare(cause.PerRun, findWalkingCommands,
	cause.Cause{Code: "KV101", Title: "commands that walk through Redis", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "they read all keys or a whole collection while all clients wait",
		Remedies: []cause.Way{cause.Patch}})

// findWalkingCommands reports commands that walk through a Redis: they are long, and Redis runs
// one command at a time, so that all others wait. KEYS as a part of requests is
// reported however short it was: its time grows with all keys.
func findWalkingCommands(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, c := range caches(v) {
		for name, usec := range c.counters {
			command, isCommand := strings.CutPrefix(name, "command.")
			command, isTime := strings.CutSuffix(command, ".usec")
			if !isCommand || !isTime {
				continue
			}
			calls := c.counters["command."+command+".calls"]
			cure, walk := walks[command]
			grows := command == "keys" && calls >= walkCalls && calls >= walkShare*v.Requests()
			if seconds := usec / 1e6; walk && calls > 0 && (grows || seconds >= walkSeconds && seconds/calls >= walkEach) {
				out = append(out, iikanji.Finding{Code: "KV101", Where: c.Name + ": " + strings.ToUpper(command),
					Claim: fmt.Sprintf("%s of %s took %.3g ms each, %s times: it reads all of it, and all other commands wait meanwhile", strings.ToUpper(command), c.Name, 1000*seconds/calls, cause.Number(calls)),
					Evidence: []iikanji.Evidence{{Source: "cache", Text: fmt.Sprintf("INFO commandstats of %s: +%.0f calls, +%.0f µs", command, calls, usec)},
						{Source: "cache", Text: fmt.Sprintf("%.0f keys, of which %.0f expire", c.setting("keys"), c.setting("keys_that_expire"))}},
					Gain: cause.Between(seconds, 0.8, 1), Remedies: patchEach(v, "do not walk through "+c.Name+" in a request: "+cure)})
			}
		}
	}
	slices.SortFunc(out, func(a, b iikanji.Finding) int { return strings.Compare(a.Where, b.Where) })
	return out
}
