package app

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// startsPrograms is the code of the lever for programs that a handler starts.
const startsPrograms = "APP209"

// programHeat is the CPU time of the programs that a site starts: of all that the app started and
// waited for, which the kernel counts, its part by the requests that reach the site. A profile of
// the app has nothing of it, and the time of requests only shows who waited.
func programHeat(v *cause.View, s cause.Site) (heat, bool) {
	if s.Lever.Code != startsPrograms || v.Input.Run == nil {
		return heat{}, false
	}
	i := slices.IndexFunc(v.Input.Run.Usage, func(u iikanji.Usage) bool { return u.Who == s.Service })
	if i < 0 || v.Input.Run.Usage[i].Children == 0 {
		return heat{}, false
	}
	own, all := requestsTo(v, s), 0.0
	for _, o := range v.Sites {
		if o.Lever.Code == startsPrograms && o.Service == s.Service {
			all += requestsTo(v, o)
		}
	}
	if own == 0 {
		return heat{}, false
	}
	h := heat{seconds: v.Input.Run.Usage[i].Children.Seconds() * own / all}
	if cpu := cpuOf(v, s.Service); cpu > 0 {
		h.share = h.seconds / cpu
	}
	h.evidence = append([]iikanji.Evidence{{Source: "processes", Text: fmt.Sprintf("programs that %s started and waited for used %.1f s of CPU", s.Service, v.Input.Run.Usage[i].Children.Seconds())}}, reachedBy(v, s)...)
	return h, true
}
