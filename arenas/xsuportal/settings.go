package xsuportal

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// Names of the settings.
const (
	registrarsSetting = "registrars"
	pollSetting       = "poll"
	audienceSetting   = "audience"
	pushSetting       = "push-listen"
)

// rules are the numbers of the load.
type rules struct {
	registrars int           // that register teams at the beginning
	poll       time.Duration // between two looks at the notifications
	audience   int           // finished benchmarks for one more viewer
	push       string        // where the push service listens
}

// settings are the benchmarker's. Other values than the contest's make a load that is no
// contest's, as for a machine that is shared, or for a short run.
var settings = []arena.Setting{
	{Name: registrarsSetting, Default: "20", Help: "Teams that register at once at the beginning (1 to 200). Half as many come each second."},
	{Name: pollSetting, Default: "300", Help: "Milliseconds between two looks at the notifications (50 to 10000)."},
	{Name: audienceSetting, Default: "1", Help: "Finished benchmarks for one more viewer (1 to 1000)."},
	{Name: pushSetting, Kind: arena.Address, Default: "127.0.0.1:0", Help: "Where the push service listens; the app sends Web Push messages there."},
}

// rulesOf reads the settings.
func rulesOf(set arena.Values) (rules, error) {
	poll := 0
	r := rules{push: cmp.Or(set[pushSetting], "127.0.0.1:0")}
	for _, s := range []struct {
		name             string
		to               *int
		otherwise, least int
		most             int
	}{{registrarsSetting, &r.registrars, 20, 1, 200}, {pollSetting, &poll, 300, 50, 10000}, {audienceSetting, &r.audience, 1, 1, 1000}} {
		*s.to = s.otherwise
		text := set[s.name]
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < s.least || n > s.most {
			return r, fmt.Errorf("setting %s: %.40q is not a number from %d to %d", s.name, text, s.least, s.most)
		}
		*s.to = n
	}
	r.poll = time.Duration(poll) * time.Millisecond
	return r, nil
}
