package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/placement"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// place gives candidates that decide where a service runs what the model of placements
// predicts of them, adds those that it proposes, and leaves out those of which it expects
// nothing: pairs would prove nothing, and each costs a copy. Only runs decide what is kept.
func (t *Tuner) place(d *diagnose.Diagnosis, found []search.Candidate) []search.Candidate {
	runs := slices.DeleteFunc(slices.Clone(t.book.incumbent), func(r *iikanji.Run) bool { return len(r.Usage) == 0 })
	site, known := placement.Of(placement.Observed{Target: d.Target, Runs: append(runs, d.Run), Profiles: d.Profiles})
	if !known {
		return found
	}
	var out []search.Candidate
	for _, c := range found {
		if c.Traits.Prepared && !t.predict(site, &c) {
			t.display.say("not tried: %s: %s", c.Remedy.Says, noRoom(c))
			continue
		}
		out = append(out, c)
	}
	for _, m := range site.Moves(1, int(search.MostPrepared.Value())) {
		c := search.Candidate{Claim: "the model of placements", Where: m.Service, Remedy: iikanji.Remedy{Kind: "topology", Target: m.Service,
			Says: fmt.Sprintf("move %s with its data to %s", m.Service, m.To), Args: map[string]string{"act": "move", "service": m.Service, "to": m.To}}}
		act, err := change.Match(c.Remedy)
		if err != nil || slices.ContainsFunc(out, func(o search.Candidate) bool { return o.Key() == c.Key() }) {
			continue
		}
		c.Traits, c.Chance = traitsOf(c.Remedy), act.Belief.Chance
		if c = c.Keyed(); t.predict(site, &c) {
			out = append(out, c)
		}
	}
	return out
}

// hostsOf are the hosts on which a remedy has its service run; none for one that the model
// does not know.
func hostsOf(r iikanji.Remedy) (hosts []string) {
	text := r.Args["to"]
	if r.Args["act"] == "spread" {
		text = r.Args["over"]
	}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "local" { // the host that iikanji runs on
			hosts = append(hosts, "")
		} else if name != "" {
			hosts = append(hosts, name)
		}
	}
	return hosts
}

// predict notes what the model predicts of a candidate that decides where a service runs, and
// reports whether that is worth a trial. Where the model says nothing, it stays as the finding
// has it.
func (t *Tuner) predict(site *placement.Site, c *search.Candidate) bool {
	ratio, r, ok := site.Placed(c.Remedy.Args["service"], hostsOf(c.Remedy)...)
	if !ok {
		return true
	}
	c.Predicted = &search.Prediction{Ratio: ratio, Range: r}
	if !placement.Asked(site.Loads) {
		return false
	}
	act, err := change.Match(c.Remedy)
	if c.Gain = math.Log(max(1, ratio)); err == nil && c.Gain < act.Worth {
		return false
	}
	return true
}

// noRoom is why a placement is not tried.
func noRoom(c search.Candidate) string {
	if c.Predicted.Ratio > 1 {
		return fmt.Sprintf("no host is the limit, or none has enough left (predicted ×%.2f)", c.Predicted.Ratio)
	}
	return fmt.Sprintf("the model of placements predicts ×%.2f", c.Predicted.Ratio)
}

// predictedOf is what was predicted of an attempt, for the end of a line; "" without a
// prediction.
func predictedOf(a *search.Attempt) string {
	if text := a.PredictedText(); text != "" {
		return "; " + text
	}
	return ""
}
