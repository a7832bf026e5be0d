package queue

import (
	"math"
	"time"
)

// A Correction learns how much later jobs start than the queue at their enqueueing says: in the
// fair order jobs that come later go before those of teams that used more. It learns for
// teams of similar use, by the mean of ln(waited / told). The zero value corrects nothing. It is
// not safe for concurrent use.
type Correction struct {
	told map[string]told // by job
	mean [4]float64      // of ln(waited / told), by class of use
	seen [4]int
}

type told struct {
	at    time.Time
	raw   time.Duration
	class int
}

const (
	// flat keeps short waits from deciding: 5 s instead of 2 s are no large error.
	flat = 5 * time.Second
	// learnFrom is how many waits a class has to have before it corrects.
	learnFrom = 5
	// learnRate is the weight of a new wait once many are known.
	learnRate = 0.05
	maxTold   = 10_000
)

// class is the class of a team by its use relative to the mean of all teams.
func class(used, mean float64) int {
	switch {
	case mean <= 0 || used < 0.75*mean:
		return 0
	case used < 1.25*mean:
		return 1
	case used < 2*mean:
		return 2
	}
	return 3
}

// Tell corrects the wait of a job, and notes it when it is told for the first time.
func (c *Correction) Tell(job string, raw time.Duration, used, mean float64, now time.Time) time.Duration {
	k := class(used, mean)
	if _, known := c.told[job]; !known {
		if c.told == nil || len(c.told) >= maxTold {
			c.told = map[string]told{}
		}
		c.told[job] = told{now, raw, k}
	}
	if raw <= 0 || c.seen[k] < learnFrom {
		return raw
	}
	return max(0, time.Duration(float64(raw+flat)*math.Exp(c.mean[k]))-flat)
}

// Started learns from the start of a job.
func (c *Correction) Started(job string, now time.Time) {
	t, known := c.told[job]
	if !known {
		return
	}
	delete(c.told, job)
	if t.raw <= 0 {
		return // it found a free slot
	}
	error := math.Log(float64(now.Sub(t.at)+flat) / float64(t.raw+flat))
	c.seen[t.class]++
	rate := max(learnRate, 1/float64(c.seen[t.class]))
	c.mean[t.class] += rate * (error - c.mean[t.class])
}

// Mean is the mean decayed worker time of the teams that used any.
func (u *Used) Mean(now time.Time) float64 {
	if len(u.teams) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range u.teams {
		sum += v.by(now)
	}
	return sum / float64(len(u.teams))
}
