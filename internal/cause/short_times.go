package cause

import (
	"maps"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

// leastRow is the least time in which SQLite reads a row in memory, in seconds: twenty
// million rows a second are more than it was seen to count.
const leastRow = 50e-9

// shortFactor is how many times less than that the logged time of a statement must be to be no
// time of its work: rows that are only planned may be half of those.
const shortFactor = 2.0

// shortTimes are the seconds of the statements whose logged times contradict the rows that
// they read, by digest. A trace of SQLite ends the time of a SELECT before its rows are
// stepped: a scan of a thousand rows seems to take no time. All together are no more than the
// CPU time of the apps, in which SQLite works.
func (v *View) shortTimes() map[string]float64 {
	if v.Self.Engine != iikanji.EngineSQLite || v.Input.Run == nil {
		return nil
	}
	out := map[string]float64{}
	for _, p := range v.Advice.Add {
		for _, s := range p.Serves {
			least := s.Before() * s.Query.Reads() * leastRow
			if least > shortFactor*s.Query.Seconds && least > out[s.Query.Digest] {
				out[s.Query.Digest] = least
			}
		}
	}
	cpu, sum := 0.0, 0.0
	for _, s := range v.Input.Target.WithRole(iikanji.RoleApp) {
		cpu += UsedBy(v.Input.Run, s.Name)
	}
	for _, seconds := range out {
		sum += seconds
	}
	if cpu > 0 && sum > cpu {
		for digest := range out {
			out[digest] *= cpu / sum
		}
	}
	return out
}

// withTimes is the input with other times of statements of a database, in seconds by digest.
// The times that were logged stay known, see TooShort.
func (in Input) withTimes(database string, times map[string]float64) Input {
	in.Profiles, in.logged = slices.Clone(in.Profiles), maps.Clone(in.logged)
	if in.logged == nil {
		in.logged = map[string]float64{}
	}
	for i, p := range in.Profiles {
		if p.Source != iikanji.Slow || p.Target != database {
			continue
		}
		p.Rows = slices.Clone(p.Rows)
		for j := range p.Rows {
			r := &p.Rows[j]
			if r.Query == nil || times[r.Query.Digest] <= r.Total.Seconds() {
				continue
			}
			in.logged[r.Query.Digest] += r.Total.Seconds()
			r.Total = time.Duration(times[r.Query.Digest] * float64(time.Second))
		}
		in.Profiles[i] = p
	}
	return in
}

// TooShort is the seconds that the log has of a digest whose time is taken from its rows
// instead; ok is false for all others.
func (v *View) TooShort(digest string) (seconds float64, ok bool) {
	seconds, ok = v.Input.logged[digest]
	return seconds, ok
}
