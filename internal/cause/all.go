package cause

import (
	"strings"

	"github.com/iikanji/iikanji"
)

// A rule makes findings of one or a few codes from each of the views that
// its reach has.
type rule struct {
	reach reach
	find  func(*view) []iikanji.Finding
}

// A reach is how often a rule runs.
type reach uint8

const (
	perRun      reach = iota // once, over everything
	perDatabase              // for each service of the role database
	perWeb                   // for each service of the role web
	perNginx                 // for each service of the role web whose engine is nginx
	perHost                  // for each host
)

// rules in the order of their codes.
var rules = []rule{
	{perRun, ben101}, {perRun, ben102}, {perRun, ben103}, {perRun, app101}, {perRun, app102}, {perRun, app106}, {perRun, app107}, {perRun, app221},
	{perRun, os101}, {perHost, os102}, {perHost, os103}, {perHost, os104}, {perRun, os105}, {perRun, os106}, {perHost, os107},
	{perNginx, web101}, {perNginx, web102}, {perNginx, web103}, {perNginx, web104}, {perNginx, web105},
	{perWeb, web106}, {perWeb, web107}, {perNginx, web108}, {perWeb, web109}, {perNginx, web110}, {perWeb, web111}, {perNginx, web112}, {perNginx, web113}, {perWeb, web114}, {perNginx, web115}, {perNginx, web116}, {perNginx, web117},
	{perRun, kv101}, {perRun, kv102}, {perRun, kv103}, {perRun, kv104},
	{perDatabase, db101}, {perDatabase, db103}, {perDatabase, db105}, {perDatabase, db108}, {perDatabase, db109},
	{perDatabase, db110}, {perDatabase, db111}, {perDatabase, db112}, {perDatabase, db113}, {perDatabase, db115}, {perDatabase, db116},
	{perDatabase, db117}, {perDatabase, db118}, {perDatabase, db119}, {perDatabase, db120}, {perDatabase, db121},
	{perDatabase, db123}, {perDatabase, db124}, {perDatabase, db125}, {perDatabase, db126}, {perDatabase, db127}, {perDatabase, db131}, {perDatabase, db132}, {perDatabase, db135}, {perDatabase, db136}, {perDatabase, db137}, {perDatabase, db138},
	{perDatabase, db201}, {perDatabase, db202}, {perDatabase, db203}, {perDatabase, db204}, {perDatabase, db205}, {perDatabase, db206},
	{perDatabase, db207}, {perDatabase, db208}, {perDatabase, db209}, {perDatabase, db210}, {perDatabase, app103},
	{perRun, app201}, {perRun, app222}, {perRun, app223}, {perRun, app224},
}

// views are the views that a reach has.
func (v *view) views(s reach) []*view {
	switch s {
	case perDatabase:
		return v.databases
	case perWeb:
		return v.webs
	case perHost:
		return v.hosts
	case perNginx:
		var out []*view
		for _, w := range v.webs {
			if w.self.Engine == iikanji.EngineNginx {
				out = append(out, w)
			}
		}
		return out
	}
	return []*view{v}
}

// A result is a finding with the view that it was made from.
type result struct {
	iikanji.Finding
	from *view
}

// Thresholds of a gain: the share of the seconds of the statements that no advised
// index saves, and the seconds in a run without full scans: see [view.leastGain].
// Smaller gains are not reported.
const (
	leastShare   = 0.005
	leastSeconds = 0.05
)

// All runs every rule and ranks the findings by the seconds of the binding
// resource that their remedies save: see [view.rank].
func All(in Input) ([]iikanji.Finding, error) {
	v, err := look(in)
	if err != nil {
		return nil, err
	}
	var all []result
	for _, r := range rules {
		for _, w := range v.views(r.reach) {
			for _, f := range r.find(w) {
				all = append(all, result{f, w})
			}
		}
	}
	for _, w := range v.webs {
		all = w.gone(all)
	}
	for i := range all {
		all[i].name()
		all[i].place()
	}
	v.rank(all)
	var out []iikanji.Finding
	for _, f := range all {
		out = append(out, f.Finding)
	}
	return out, nil
}

// name adds the name of the service to the place of a finding where several
// services of its role may have the same place, as a table or a route.
func (f *result) name() {
	if f.from.self.Name != "" && !f.from.alone() {
		for i := range f.Evidence {
			if strings.HasPrefix(f.Evidence[i].Source, "digest ") { // the same statement may be in both databases
				f.Evidence[i].Source += " of " + f.from.self.Name
			}
		}
	}
	if _, named := f.from.in.Target.Service(f.Where); !named && f.from.self.Name != "" && !f.from.alone() {
		f.Where += " at " + f.from.self.Name
	}
}

// worth reports whether a gain is large enough to be reported.
func (v *view) worth(r iikanji.Range) bool {
	return r.Hi >= v.leastGain()
}

// between is the range between two shares of some seconds.
func between(seconds, lo, hi float64) iikanji.Range {
	return iikanji.Range{Lo: round(seconds * lo), Hi: round(seconds * hi)}
}

// round keeps three decimals: smaller differences are noise.
func round(x float64) float64 {
	return float64(int64(x*1000+0.5)) / 1000
}
