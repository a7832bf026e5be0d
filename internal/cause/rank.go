package cause

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// rank converts gains into seconds of the binding resource and sorts by the
// middle of their ranges, the greatest first. Findings about the measurement
// itself (BEN) come first, findings that do not relieve the binding resource last. Where no
// resource was used up, what the app leaves out or refuses on purpose comes before what
// takes time.
func (v *View) rank(fs []Result) {
	b := v.Binding
	has := v.budget(b)
	for i := range fs {
		f := &fs[i]
		of, most := 1.0, math.Inf(1)
		if f.cause.Of == iikanji.OfStatements && f.From.Self.Role == iikanji.RoleDatabase {
			of = f.From.Weight
		}
		if has > 0 {
			most = has
		}
		f.Gain = iikanji.Range{Lo: Round(min(f.Gain.Lo*of, most)), Hi: Round(min(f.Gain.Hi*of, most))}
		if b.Resource == "cpu" && !v.onHost(f, b.Host) {
			f.Gain.Lo, f.elsewhere = 0, true
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "binding", Text: fmt.Sprintf("the limit of this run was %s, and this remedy relieves another machine", b)})
		}
		if !f.cause.Relieves.relieve(b.Resource) {
			f.Gain.Lo = 0
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "binding", Text: fmt.Sprintf("the limit of this run was %s, which this remedy does not relieve", b)})
		}
	}
	tier := func(f Result) int {
		switch {
		case f.Doubt:
			return 0
		case f.More > 0 && b.Resource == "": // what the app leaves out is the limit
			return 1
		case !f.cause.Relieves.relieve(b.Resource) || f.elsewhere:
			return 3
		}
		return 2
	}
	slices.SortStableFunc(fs, func(x, y Result) int {
		return cmp.Or(cmp.Compare(tier(x), tier(y)), cmp.Compare(y.Gain.Lo+y.Gain.Hi, x.Gain.Lo+x.Gain.Hi),
			strings.Compare(string(x.Code)+x.Where, string(y.Code)+y.Where))
	})
}

// onHost reports whether the CPU time that a finding is about is a machine's, or is not known
// to be another one's.
func (v *View) onHost(f *Result, host string) bool {
	if f.cause.Relieves&CPU == 0 || f.cause.Relieves == AnyLimit || len(usageHosts(v.Input.Run)) < 2 {
		return true
	}
	if f.From.on != "" {
		return f.From.on == hostName(host)
	}
	if f.cause.Of == iikanji.OfStatements && f.From.Self.Role != iikanji.RoleDatabase {
		databases := v.Input.Target.WithRole(iikanji.RoleDatabase)
		return len(databases) == 0 || slices.ContainsFunc(databases, func(s iikanji.Service) bool { return s.Host == host })
	}
	s, known := f.From.Self, f.From.Self.Name != ""
	if !known {
		s, known = v.Input.Target.Service(f.Where)
	}
	if !known && len(f.Remedies) > 0 {
		s, known = v.Input.Target.Service(f.Remedies[0].Target)
	}
	return !known || s.Host == host
}

// StatementWeight converts a second of a statement into seconds of the binding
// resource; with several databases it is their weighted mean.
func (in Input) StatementWeight() float64 {
	in = in.settle()
	b, databases := in.Binding(), in.Target.WithRole(iikanji.RoleDatabase)
	if len(databases) == 1 {
		return in.weightOf(databases[0], b)
	}
	took, weighted := 0.0, 0.0
	for _, s := range databases {
		seconds := in.of(s).statementSeconds()
		took, weighted = took+seconds, weighted+seconds*in.weightOf(s, b)
	}
	if took == 0 {
		return 1
	}
	return weighted / took
}

// weightOf is the weight of the statements of one database. Where the CPU is
// the limit, statements mostly wait for it, so that their time is scaled to the
// CPU time that the database used. Where a pool of connections to this database
// is the limit, each statement holds one of them. Otherwise a second is a
// second.
func (in Input) weightOf(database iikanji.Service, b Binding) float64 {
	switch b.Resource {
	case "cpu":
		took := in.of(database).statementSeconds()
		used := UsedBy(in.Run, database.Name)
		if database.Engine == iikanji.EngineSQLite { // a library in the apps
			used = in.usedByApps()
		}
		if used > 0 && took > used {
			return used / took
		}
	case "pool":
		for _, p := range in.Pools(database) {
			if p.App == b.Who && p.Starved() {
				return 1 / float64(max(1, p.Size))
			}
		}
	}
	return 1
}

// usedByApps is the CPU time of all apps.
func (in Input) usedByApps() (sum float64) {
	for _, s := range in.Target.WithRole(iikanji.RoleApp) {
		sum += UsedBy(in.Run, s.Name)
	}
	return sum
}

// budget is how many seconds of the binding resource the run used, an upper
// bound of every gain. Where neither the CPU nor the pool is the limit, it is
// the time of all cores, or of all statements if that is
// more; 0 when unknown.
func (v *View) budget(b Binding) float64 {
	run := v.Input.Run
	switch {
	case run == nil || run.Took <= 0:
		return 0
	case b.Resource == "cpu":
		return usedOn(run, b.Host)
	case b.Resource == "pool":
		return run.Took.Seconds()
	}
	return max(v.Seconds, run.Took.Seconds()*float64(max(1, run.Place.Cores)))
}

// usedOn is the CPU time of all services of the stack on a machine in seconds.
func usedOn(run *iikanji.Run, host string) float64 {
	sum := 0.0
	for _, u := range run.Usage {
		if u.Host == host && u.Who != "generator" && u.Who != "other" {
			sum += (u.User + u.System).Seconds()
		}
	}
	return sum
}

// UsedBy is the CPU time of a service in seconds, of all services of the stack
// for "".
func UsedBy(run *iikanji.Run, who string) float64 {
	sum := 0.0
	for _, u := range run.Usage {
		if u.Who == who || who == "" && u.Who != "generator" && u.Who != "other" {
			sum += (u.User + u.System).Seconds()
		}
	}
	return sum
}
