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
// itself (BEN) come first, findings that do not relieve the binding resource last.
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
		if !f.cause.Relieves.relieve(b.Resource) {
			f.Gain.Lo = 0
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "binding", Text: fmt.Sprintf("the limit of this run was %s (%s), which this remedy does not relieve", b.Resource, b.Who)})
		}
	}
	tier := func(f Result) int {
		switch {
		case f.Doubt:
			return 0
		case !f.cause.Relieves.relieve(b.Resource):
			return 2
		}
		return 1
	}
	slices.SortStableFunc(fs, func(x, y Result) int {
		return cmp.Or(cmp.Compare(tier(x), tier(y)), cmp.Compare(y.Gain.Lo+y.Gain.Hi, x.Gain.Lo+x.Gain.Hi),
			strings.Compare(string(x.Code)+x.Where, string(y.Code)+y.Where))
	})
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
		return UsedBy(run, "")
	case b.Resource == "pool":
		return run.Took.Seconds()
	}
	return max(v.Seconds, run.Took.Seconds()*float64(max(1, run.Place.Cores)))
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
