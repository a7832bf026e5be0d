package queue

import (
	"math"
	"time"
)

// HalfLife is how long it takes until used worker time counts half.
const HalfLife = 30 * time.Minute

// A Used holds the worker time of teams with its decay. The zero value is ready. It is not
// safe for concurrent use.
type Used struct{ teams map[string]usage }

// A usage is worker seconds as of an instant.
type usage struct {
	seconds float64
	at      time.Time
}

func (u usage) by(now time.Time) float64 {
	if d := now.Sub(u.at); d > 0 {
		return u.seconds * math.Exp2(-d.Seconds()/HalfLife.Seconds())
	}
	return u.seconds
}

// At is the decayed worker time of a team, in seconds.
func (u *Used) At(team string, now time.Time) float64 {
	if u == nil {
		return 0
	}
	return u.teams[team].by(now)
}

// Add charges worker time that ended at an instant.
func (u *Used) Add(team string, took time.Duration, at time.Time) {
	if took <= 0 {
		return
	}
	if u.teams == nil {
		u.teams = map[string]usage{}
	}
	was := u.teams[team]
	if at.Before(was.at) { // an older one is told later
		age := was.at.Sub(at)
		was.seconds += took.Seconds() * math.Exp2(-age.Seconds()/HalfLife.Seconds())
		u.teams[team] = was
		return
	}
	u.teams[team] = usage{was.by(at) + took.Seconds(), at}
}
