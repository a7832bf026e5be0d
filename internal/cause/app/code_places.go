package app

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// codePlaces reports the places of levers. Their causes are declared by the levers: see
// [cause.Input].
var codePlaces = cause.Declare(cause.PerRun, findCodePlaces).Settling(poolConstants)

// A hotSite is a site with the time that it took in the run.
type hotSite struct {
	cause.Site
	heat heat
	gain iikanji.Range // the seconds that its rewrite saves
	// also are the other services that are built from the same source.
	also []string
	// refused are the requests that a capacity refused; 0 for other places.
	refused float64
}

// findCodePlaces reports the places of code levers that took time in the
// run: those whose statements the database logged, and those in functions that the
// profile of the app's CPU has, or that requests reached. A place without time in
// the run is not a finding.
func findCodePlaces(v *cause.View) []iikanji.Finding {
	var hot []hotSite
	for _, site := range v.Sites {
		if site.At().Capacity || site.Lever.Code == waitsInTransactions { // time shows nothing of them
			continue
		}
		if p := site.At(); p.Knob() && v.Input.Run != nil && v.Input.Run.Took > 0 && p.Waits >= v.Input.Run.Took { // the run had one of it at most
			continue
		}
		s := hotSite{Site: site, heat: heatOf(v, site)}
		s.gain = savedOf(v, s)
		if s.gain.Hi >= cause.LeastSeconds && s.heat.share >= cause.LeastShare {
			hot = append(hot, s)
		}
	}
	hot = oncePerSource(hot)
	var out []iikanji.Finding
	for _, s := range hot {
		out = append(out, leverFinding(v, s, hot))
	}
	return slices.Concat(out, unreached(v, hot), capacities(v), transactionWaits(v), keptAnswers(v))
}

// oncePerSource joins the sites of services that are built from one source folder: a change of
// the source is for all of them. The service with the largest gain has the remedies. The
// statements of several services are told apart by nothing, so their gains are not added up.
func oncePerSource(hot []hotSite) []hotSite {
	type key struct{ source, code, file, function, what string }
	at := map[key]int{}
	var out []hotSite
	for _, s := range hot {
		p := s.At()
		k := key{p.Source, string(s.Lever.Code), p.File, p.Func, p.What}
		i, seen := at[k]
		if !seen || p.Source == "" {
			at[k] = len(out)
			out = append(out, s)
			continue
		}
		first := out[i]
		if s.gain.Hi > first.gain.Hi || s.refused > first.refused {
			first, s = s, first
		}
		first.also = slices.Concat(first.also, []string{s.Service}, s.also)
		slices.Sort(first.also)
		out[i] = first
	}
	return out
}

// unreached are the places in functions whose routes had no request in the run. In the
// time of a run, a slow site answers requests for a part of its pages only. These
// places have no gain.
//
// Neither have places that the run did not get to, see notYet. What only initialize does is no
// finding: the load waits for none of it.
//
// A place is left out if its statements took time in the run: it has a finding with a gain already.
func unreached(v *cause.View, hot []hotSite) []iikanji.Finding {
	var all []hotSite
	took := map[string]bool{}
	for _, s := range hot {
		took[s.Service+string(s.Lever.Code)+where(s.Site)] = true
	}
	rows, claims := v.Access(), map[string]string{}
	for _, s := range v.Sites {
		p := s.At()
		if len(rows) == 0 || p.Knob() || p.Func == "" || s.Lever.Whole || !v.Routed(s.Service, p.Func) || v.OnlyResets(s.Service, p.Func) {
			continue
		}
		if took[s.Service+string(s.Lever.Code)+where(s)] {
			continue
		}
		why := "no request of the run reached it"
		if slices.ContainsFunc(rows, func(r iikanji.Row) bool { return v.Reaches(s.Service, r.Key, p.Func) }) {
			if !notYet(v, s, rows) {
				continue
			}
			why = "its requests take so long that the run has no execution of its statements"
		}
		claims[s.Service+where(s)+p.What] = why
		all = append(all, hotSite{Site: s})
	}
	var out []iikanji.Finding
	for _, s := range oncePerSource(all) {
		f := leverFinding(v, s, nil)
		f.Claim = fmt.Sprintf("%s; %s", s.At().What, claims[s.Service+where(s.Site)+s.At().What])
		out = append(out, f)
	}
	return out
}

// longRequest is the share of a run that a request takes from which on the run may have
// only its first statements.
const longRequest = 0.05

// notYet reports whether no statement of a site was executed in the run, although
// requests reached its function: they take a large part of the run, as those that wait
// for a lock.
func notYet(v *cause.View, s cause.Site, rows []iikanji.Row) bool {
	if s.Lever.Of != iikanji.OfStatements || !statementsSeen(v) || v.Input.Run == nil || len(s.At().Statements) == 0 {
		return false
	}
	for _, w := range v.Databases {
		if slices.ContainsFunc(w.Digests, func(d cause.Digest) bool { return d.Query != nil && s.Sends(d) }) {
			return false
		}
	}
	return slices.ContainsFunc(rows, func(r iikanji.Row) bool {
		return v.Reaches(s.Service, r.Key, s.At().Func) && r.Count > 0 && r.Web != nil &&
			r.Web.Upstream.Seconds()/float64(r.Count) >= longRequest*v.Input.Run.Took.Seconds()
	})
}

// where names the site in a finding.
func where(s cause.Site) string {
	p := s.At()
	return strings.TrimSpace(fmt.Sprintf("%s:%d %s", p.File, p.Line, p.Func))
}

// leverFinding makes the finding of a site; hot are all sites with a finding.
func leverFinding(v *cause.View, s hotSite, hot []hotSite) iikanji.Finding {
	p := s.At()
	f := iikanji.Finding{Code: s.Lever.Code, Where: where(s.Site), Gain: s.gain, Evidence: s.heat.evidence,
		Claim: fmt.Sprintf("%s; it took %.1f s of the run", p.What, s.heat.seconds)}
	if p.Drops > 0 && p.Drops < 1 {
		f.More = -math.Log(1-p.Drops) * s.heat.share
	}
	if len(s.Places) > 1 {
		f.Claim = fmt.Sprintf("%s, and in %s more of this function (%s); together it took %.1f s of the run", p.What, cause.Plural(float64(len(s.Places)-1), "place"), linesOf(s.Places[1:]), s.heat.seconds)
	}
	if len(v.Input.Target.WithRole(iikanji.RoleApp)) > 1 {
		f.Where += " at " + strings.Join(append([]string{s.Service}, s.also...), ", ")
	}
	f.Evidence = append(f.Evidence, statementsOf(p)...)
	f.Remedies = s.remedies(hot)
	if s.Lever.Whole {
		f.Remedies[0].Seen = seenBeside(v, s.Service)
	}
	if r, ok := readAhead(v, s.Site); ok {
		f.Remedies = append(f.Remedies, r)
		if !p.Fixable() { // what a person does comes last
			slices.Reverse(f.Remedies)
		}
	}
	return f
}

// statementsOf are the statements of a place as evidence.
func statementsOf(p fact.CodePlace) (out []iikanji.Evidence) {
	for _, sql := range p.Statements {
		out = append(out, iikanji.Evidence{Source: fmt.Sprintf("%s:%d", p.File, p.Line), Text: cause.Cut(sql, 160)})
	}
	return out
}

// linesOf lists the lines of places, each once.
func linesOf(places []fact.CodePlace) string {
	var lines []string
	for _, p := range places {
		if line := strconv.Itoa(p.Line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 1 {
		return "line " + lines[0]
	}
	return "lines " + strings.Join(lines, ", ")
}

// readAhead is the query cache as a remedy of a loop: it reads the rows of the loop's
// statements ahead, in whatever form the loop is written.
func readAhead(v *cause.View, s cause.Site) (iikanji.Remedy, bool) {
	if !s.Lever.Ahead {
		return iikanji.Remedy{}, false
	}
	for _, o := range v.Sites {
		if p := o.At(); o.Lever.Whole && o.Service == s.Service {
			return iikanji.Remedy{Kind: "gocode", Target: o.Service, Args: map[string]string{"levers": string(o.Lever.Code), "file": p.File, "func": p.Func},
				Says: fmt.Sprintf("%s, which reads the rows of the loop ahead by one statement", p.How), Seen: seenBeside(v, s.Service)}, true
		}
	}
	return iikanji.Remedy{}, false
}

// remedies are the changes for a site, best first: its fix together with those of
// the other sites of its function, then alone; each variant of a knob; a patch by
// hand for a hint.
func (s hotSite) remedies(hot []hotSite) []iikanji.Remedy {
	p := s.At()
	args := map[string]string{"levers": string(s.Lever.Code), "file": p.File, "func": p.Func}
	switch {
	case s.Lever.Whole:
		return []iikanji.Remedy{{Kind: "gocode", Target: s.Service, Args: args, Says: p.How}}
	case !p.Fixable():
		says := fmt.Sprintf("change the source by hand: %s", p.How)
		if p.Reason != "" {
			says += "; no automatic fix: " + p.Reason
		}
		return []iikanji.Remedy{{Kind: "patch", Target: s.Service, Says: says}}
	case p.Knob():
		var out []iikanji.Remedy
		for _, title := range p.Variants {
			with := maps.Clone(args)
			with["place"], with["variant"] = p.What, title
			out = append(out, iikanji.Remedy{Kind: "gocode", Target: s.Service, Args: with, Says: fmt.Sprintf("another value, to be tried: %s", title)})
		}
		return out
	}
	alone := iikanji.Remedy{Kind: "gocode", Target: s.Service, Args: args, Says: fmt.Sprintf("rewrite the function: %s", p.How)}
	codes := s.together(hot)
	if len(codes) < 2 {
		return []iikanji.Remedy{alone}
	}
	all := maps.Clone(args)
	all["levers"] = strings.Join(codes, ",")
	return []iikanji.Remedy{{Kind: "gocode", Target: s.Service, Args: all,
		Says: fmt.Sprintf("rewrite the function by all its findings together: %s", strings.Join(codes, ", "))}, alone}
}

// together lists the levers with one fix in the function of a site that weaken the
// same promises, in the order in which their fixes are made.
func (s hotSite) together(hot []hotSite) []string {
	p := s.At()
	var levers []cause.Lever
	for _, o := range hot {
		q := o.At()
		if (o.Service == s.Service || p.Source != "" && q.Source == p.Source) && q.File == p.File && q.Func == p.Func && q.Fixable() && !q.Knob() && slices.Equal(q.Weakens, p.Weakens) {
			levers = append(levers, o.Lever)
		}
	}
	slices.SortFunc(levers, func(a, b cause.Lever) int { return cmp.Compare(a.Order, b.Order) })
	var out []string
	for _, l := range levers {
		out = append(out, string(l.Code))
	}
	return slices.Compact(out)
}
