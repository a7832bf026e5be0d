package timeline

import (
	"context"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

const (
	// places is how many parts of a request's time are told apart.
	places = 10
	// maxLearn and maxLearnRequests bound what a Model is learned from.
	maxLearn         = 15_000
	maxLearnRequests = 400_000
	// learnRounds is how often the Model is fitted again. Later rounds change little.
	learnRounds = 5
	// certainOdds are the odds that two statements of one transaction are of one request.
	certainOdds = 1e9
	// mostLinked is the largest share of neighbours on a connection that count as of one request.
	mostLinked = 0.98
	// foreignRate is how often a step sends a digest that is not one of its own.
	foreignRate = 0.02
)

// A Model is how the requests of a run send statements, learned from its raw files
// by expectation maximization. No label is needed: statements with few candidates
// show what the others have to be.
type Model struct {
	steps   map[string]int
	digests map[string]int
	rate    [][]float64         // executions per request, by digest and step
	place   [][][places]float64 // density over the time of the request, by digest and step
	linked  map[[2]int]float64  // by two digests that follow each other on a connection: the share of one request
}

// Learn fits the model of a run. profiles are those of the observed run.
func Learn(ctx context.Context, h *history.History, id iikanji.RunID, profiles []iikanji.Profile) (*Model, error) {
	senders, err := Senders(h, id, profiles)
	if err != nil {
		return nil, err
	}
	raw, err := readRaw(ctx, h, id, nil, maxLearn)
	if err != nil {
		return nil, err
	}
	all, ran := raw.requests, raw.statements
	m := newModel(all, ran, senders)
	if len(ran) == 0 {
		return m, nil
	}
	j := newJoin(m, all, ran)
	requests := make([]float64, len(m.steps)) // while the statements ran
	from, to := ran[0].From.Add(-ran[0].Took), ran[len(ran)-1].To
	for i := range all {
		if all[i].End.After(from) && all[i].Start.Before(to) {
			requests[m.steps[all[i].Step]]++
		}
	}
	for range learnRounds {
		j.infer()
		m.fit(j, requests)
	}
	return m, nil
}

// newModel is a model before it is fitted: the senders that package attribute found
// send each digest once, and other steps rarely.
func newModel(all []Request, ran []Statement, senders map[string][]string) *Model {
	m := &Model{steps: map[string]int{}, digests: map[string]int{}, linked: map[[2]int]float64{}}
	for i := range all {
		if _, ok := m.steps[all[i].Step]; !ok {
			m.steps[all[i].Step] = len(m.steps)
		}
	}
	for i := range ran {
		m.digest(ran[i].Digest)
	}
	for digest, names := range senders {
		d := m.digest(digest)
		for s := range m.rate[d] {
			m.rate[d][s] = foreignRate
		}
		for _, name := range names {
			if s, ok := m.steps[name]; ok {
				m.rate[d][s] = 1
			}
		}
	}
	return m
}

// digest is the number of a digest. A new one is sent by each step alike.
func (m *Model) digest(name string) int {
	if d, ok := m.digests[name]; ok {
		return d
	}
	d := len(m.digests)
	m.digests[name] = d
	rate, place := make([]float64, len(m.steps)), make([][places]float64, len(m.steps))
	for s := range rate {
		rate[s] = 0.5
		for i := range place[s] {
			place[s][i] = 1
		}
	}
	m.rate, m.place = append(m.rate, rate), append(m.place, place)
	return d
}

// sends reports whether the requests of a step send a digest.
func (m *Model) sends(step, digest int) bool {
	return step >= 0 && digest >= 0 && m.rate[digest][step] >= leastShare
}

// fit sets the model to what the inferred senders show.
func (m *Model) fit(j *join, requests []float64) {
	sums, at := make([][]float64, len(m.rate)), make([][][places]float64, len(m.rate))
	for d := range sums {
		sums[d], at[d] = make([]float64, len(m.steps)), make([][places]float64, len(m.steps))
	}
	for i := range j.statements {
		s := &j.statements[i] // its digest and the steps are in the model
		for _, c := range s.candidates {
			step := j.requests[c.request].step
			sums[s.digest][step] += c.p
			at[s.digest][step][c.place] += c.p
		}
	}
	for d := range sums {
		for s := range sums[d] {
			// What was not seen is rare, not impossible.
			m.rate[d][s] = (sums[d][s] + 0.05) / (requests[s] + 1)
			for i := range places {
				m.place[d][s][i] = places * (at[d][s][i] + 0.5) / (sums[d][s] + 0.5*places)
			}
		}
	}
	for pair, n := range j.pairs {
		m.linked[pair] = min((j.links[pair]+0.5)/(n+1), mostLinked)
	}
}
