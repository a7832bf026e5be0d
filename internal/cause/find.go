package cause

import (
	"strings"

	"github.com/iikanji/iikanji"
)

// views are the views that a reach has.
func (v *View) views(s Reach) []*View {
	switch s {
	case PerDatabase:
		return v.Databases
	case PerWeb:
		return v.webs
	case PerHost:
		return v.hosts
	case PerNginx:
		var out []*View
		for _, w := range v.webs {
			if w.Self.Engine == iikanji.EngineNginx {
				out = append(out, w)
			}
		}
		return out
	}
	return []*View{v}
}

// A Result is a finding with the view that it was made from.
type Result struct {
	iikanji.Finding
	From  *View
	cause Cause
	// elsewhere: it relieves the CPU of another machine than the one that was the limit.
	elsewhere bool
}

// Result makes a finding of the view a result. A finding of a cause that no rule and no
// lever declares is a defect of its rule.
func (v *View) Result(f iikanji.Finding) Result {
	c, declared := v.causes[f.Code]
	if !declared {
		panic("BUG: " + string(f.Code) + " is not declared")
	}
	f.Nature = c.nature()
	return Result{Finding: f, From: v, cause: c}
}

// causesOf are the causes of rules and levers by their codes.
func causesOf(rules []Rule, in Input) map[iikanji.Code]Cause {
	out := map[iikanji.Code]Cause{}
	for _, r := range rules {
		for _, c := range r.Causes {
			out[c.Code] = c
		}
	}
	timed := in.statementSeconds() > 0
	for _, l := range in.Levers {
		c := l.Cause
		if !timed { // the time of its functions is all that is known
			c.Of = iikanji.OfCPU
		}
		out[c.Code] = c
	}
	return out
}

// Find runs rules and ranks the findings by the seconds of the binding resource that
// their remedies save: see [View.rank].
func Find(in Input, rules []Rule) ([]iikanji.Finding, error) {
	v, err := look(in, rules)
	if err != nil {
		return nil, err
	}
	var all []Result
	for _, r := range rules {
		for _, w := range v.views(r.Reach) {
			for _, f := range r.Find(w) {
				all = append(all, w.Result(f))
			}
		}
	}
	for _, r := range rules {
		if r.Settle != nil {
			for _, w := range v.views(r.Reach) {
				all = r.Settle(w, all)
			}
		}
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
func (f *Result) name() {
	if f.From.Self.Name != "" && !f.From.alone() {
		for i := range f.Evidence {
			if strings.HasPrefix(f.Evidence[i].Source, "digest ") { // the same statement may be in both databases
				f.Evidence[i].Source += " of " + f.From.Self.Name
			}
		}
	}
	if _, named := f.From.Input.Target.Service(f.Where); !named && f.From.Self.Name != "" && !f.From.alone() {
		f.Where += " at " + f.From.Self.Name
	}
}
