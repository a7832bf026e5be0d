package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

// A kind is how a team behaves.
type kind int

const (
	steady kind = iota // runs, thinks, runs again
	greedy             // runs again at once
	rare               // runs every hour
	agent              // a program: runs again at once, within its budget
)

// A team is a simulated team.
type team struct {
	s     *simulation
	id    string
	kind  kind
	skill float64 // how fast its score grows
	score float64
	waits []time.Duration
	told  []struct{ told, was time.Duration }
	loads map[string]string // workers that load its site, with their attempts
}

func (s *simulation) addTeam(ctx context.Context, i int) error {
	t := &team{s: s, skill: 0.02 + 0.1*s.rng.Float64(), score: 1000, loads: map[string]string{}}
	division := "general"
	switch {
	case i%12 == 5:
		t.kind = greedy
	case i%12 == 8:
		t.kind = rare
	case i%12 == 11:
		t.kind, division = agent, "agent"
	}
	var err error
	if t.id, err = s.core.AddTeam(ctx, lead.NewTeam{Contest: "sim", Name: fmt.Sprintf("Team %d", i+1), Division: division}); err != nil {
		return err
	}
	if _, err := s.core.AddHost(ctx, "sim", t.id, "h1", fmt.Sprintf("http://127.0.0.1:%d", 10000+i), true); err != nil {
		return err
	}
	s.teams = append(s.teams, t)
	s.byID[t.id] = t
	s.after(time.Minute+time.Duration(s.rng.Float64()*float64(5*time.Minute)), t.enqueue)
	return nil
}

// pause is how long the team waits until its next run.
func (t *team) pause() time.Duration {
	switch t.kind {
	case greedy, agent:
		return time.Second
	case rare:
		return time.Hour
	}
	return time.Duration((0.7 + 0.6*t.s.rng.Float64()) * float64(t.s.o.Think))
}

// enqueue asks for a run, twice with one key now and then: a double click is one job.
func (t *team) enqueue(ctx context.Context) error {
	s := t.s
	e := api.Enqueue{Round: s.round, Team: t.id, Note: "change", Key: s.newID()}
	j, err := s.core.Enqueue(ctx, t.id, false, e)
	var refused *api.RefusedError
	switch {
	case errors.As(err, &refused) && refused.Code == "budget":
		s.after(max(refused.Wait, time.Minute), t.enqueue)
		return nil
	case errors.As(err, &refused) && refused.Code == "not-running":
		return nil // the round is over
	case err != nil:
		return fmt.Errorf("enqueueing for %s: %w", t.id, err)
	}
	if s.rng.Float64() < 0.05 {
		again, err := s.core.Enqueue(ctx, t.id, false, e)
		if err != nil || again.ID != j.ID {
			s.problems = append(s.problems, fmt.Errorf("a repeated request of %s: %v, %v", t.id, again, err))
		}
		e.Key = s.newID()
		if _, err := s.core.Enqueue(ctx, t.id, false, e); !errors.As(err, &refused) || refused.Job != j.ID {
			s.problems = append(s.problems, fmt.Errorf("I1: a second job of %s: %v", t.id, err))
		}
	}
	if err := s.enqueued(ctx, t, j); err != nil {
		return err
	}
	return s.tick(ctx, false)
}

// began notes that a worker begins to load the team's site: it must be the only one.
func (t *team) began(worker, attempt string) {
	for other, what := range t.loads {
		t.s.problems = append(t.s.problems, fmt.Errorf("I2: %s loads %s for %s while %s does for %s", worker, t.id, attempt, other, what))
	}
	t.loads[worker] = attempt
}

// ended notes that a job of the team ended: it goes on.
func (t *team) ended(context.Context) error {
	t.s.after(t.pause(), t.enqueue)
	return nil
}
