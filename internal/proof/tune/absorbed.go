package tune

import (
	"slices"

	"github.com/iikanji/iikanji"
)

// A closed loop of clients can use all that one cure saves: a client that sends its next
// request as soon as it has an answer sends more of them, and where these score little, the
// score stays as it is until the other causes of their cost are cured, too. Trials of single
// changes then show no gain, whatever the changes are worth together. The arena isuports is
// such a site: an index took the database's CPU time from 6.0 to 2.3 s of 10, the app used
// 3 s more, and the score fell by a fifth. With six other changes the index brought 64 %.

// noteAbsorbed notes, after the trial of a candidate that promised a solid gain, that other
// work used what it saved. From then on candidates are tried together first. The score only
// has to be far from the gain that was promised: the CPU times are the evidence, and they
// vary much less from run to run.
func (t *Tuner) noteAbsorbed(a Attempt) error {
	e := a.Verdict.Effect
	if t.ledger.Absorbed || a.Gain < solid || !a.triedAlone() || e.Level == 0 || e.Mid >= a.Gain/2 {
		return nil
	}
	base, err := t.load(a.Verdict.Base)
	if err != nil {
		return err
	}
	tried, err := t.load(a.Verdict.Tried)
	if err != nil {
		return err
	}
	saver, user, ok := absorbed(cpuShares(base), cpuShares(tried))
	if !ok {
		return nil
	}
	t.ledger.Absorbed = true
	t.note("%s saved CPU time of %s, and %s used it: the score did not rise. From here on candidates are tried together first", a.Says, saver, user)
	return nil
}

const (
	// savedShare is the least share of the stack's CPU time that a change saved in one
	// service for a search to look where it went.
	savedShare = 0.15
	// usedShare is the least share of the saved time that other services used.
	usedShare = 0.5
)

// absorbed compares the CPU time of services before and after a change: in one it fell by a
// considerable share of the stack's, and in another it rose by most of that.
func absorbed(before, after map[string]float64) (saver, user string, ok bool) {
	saved, used, all := 0.0, 0.0, 0.0
	for who, share := range before {
		all += share
		if d := share - after[who]; d > saved {
			saver, saved = who, d
		}
		if d := after[who] - share; d > used {
			user, used = who, d
		}
	}
	return saver, user, all > 0 && saved >= savedShare*all && used >= usedShare*saved
}

// cpuShares is the mean CPU time of each service of the stack in runs, as a share of the
// machine's.
func cpuShares(runs []*iikanji.Run) map[string]float64 {
	out := map[string]float64{}
	for _, r := range runs {
		for _, u := range r.Usage {
			if u.Who != "generator" && u.Who != "other" {
				out[u.Who] += u.Share / float64(len(runs))
			}
		}
	}
	return out
}

// triedAlone reports whether the trial of a single change ended without a proof of a gain
// and without a fault.
func (a Attempt) triedAlone() bool {
	return a.Skipped == "" && len(a.Parts) == 0 && (a.Parked || a.Verdict.Call == iikanji.Revert && a.Verdict.Reason == iikanji.NoGain)
}

// sweeps reports whether the search tries candidates together first.
func (q *queue) sweeps() bool { return q.scarce() || q.ledger.Absorbed }

// sweepable are the candidates for a sweep, best first: those that wait for a trial and,
// where other work uses what one cure saves, those that brought nothing alone.
func (q *queue) sweepable() []Candidate {
	parts := q.waiting(false)
	if !q.ledger.Absorbed {
		return parts
	}
	for _, c := range q.ranked() {
		if q.broughtNothing(c) && !c.blinds() && !q.trifling(c) {
			parts = append(parts, c)
		}
	}
	return parts
}

// broughtNothing reports whether the last trial of a candidate was one of its own, without
// a proof of a gain, and whether no sweep had it as a part.
func (q *queue) broughtNothing(c Candidate) bool {
	for _, a := range slices.Backward(q.ledger.Attempts) {
		if _, part := a.Remedy.Args[c.Key()]; part && a.Kind() == bundleKind {
			return false
		}
		if a.Key == c.Key() {
			return a.triedAlone()
		}
	}
	return false
}

// promises is the sum of the gains that candidates other than rewrites of source promise.
func promises(cs []Candidate) float64 {
	sum := 0.0
	for _, c := range cs {
		if !c.rewrites() && !c.apart() && !c.knob() {
			sum += c.Gain
		}
	}
	return sum
}
