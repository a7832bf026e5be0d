package node

import (
	"context"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

// Jobs implements api.Portal.
func (n *Node) Jobs(ctx context.Context, who api.Who, round, team string) ([]api.Job, error) {
	if !who.Role.Staff() && (team == "" || team != who.Team) {
		return nil, api.ErrNotFound
	}
	r, err := n.core.Round(ctx, round)
	if err != nil {
		return nil, err
	}
	jobs, err := n.core.Jobs(ctx, round, team)
	if err != nil {
		return nil, err
	}
	q, err := n.core.Queue(ctx)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		n.lively(&jobs[i], r, q)
		if !who.Role.Staff() {
			jobs[i].Worker = ""
		}
	}
	return jobs, nil
}

// Job implements api.Portal.
func (n *Node) Job(ctx context.Context, who api.Who, id string) (*api.Job, error) {
	j, err := n.core.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	if !who.Role.Staff() && (who.Team == "" || j.Team != who.Team) {
		return nil, api.ErrNotFound
	}
	r, err := n.core.Round(ctx, j.Round)
	if err != nil {
		return nil, err
	}
	q := &lead.Queue{}
	if j.State.Open() {
		if q, err = n.core.Queue(ctx); err != nil {
			return nil, err
		}
	}
	n.lively(j, r, q)
	hide(j, who, r)
	return j, nil
}

// hide removes what a reader may not see of a job of its own team.
func hide(j *api.Job, who api.Who, r *lead.Round) {
	if !who.Role.Staff() {
		j.Worker = ""
	}
	if j.Result == nil {
		return
	}
	if !may(who, api.Judge, api.Operator, api.Organiser) {
		j.Result.Seed, j.Result.Stderr = 0, ""
	}
	if who.Role.Staff() {
		return
	}
	show := r.Round.Show
	if !show.Points {
		j.Result.Points = nil
	}
	if !show.Steps {
		j.Result.Steps = nil
	}
	j.Result.Faults = j.Result.Faults[:min(len(j.Result.Faults), show.Faults)]
	if show.Log == 0 {
		j.Result.Log = ""
	}
}

// lively adds what changes: place, expected start, progress, whether it counts.
func (n *Node) lively(j *api.Job, r *lead.Round, q *lead.Queue) {
	for i, pick := range q.Order {
		if pick.ID != j.ID {
			continue
		}
		j.Place, j.Why = i+1, pick.Why
		if q.Starts != nil {
			j.Starts = q.Starts[i]
		}
	}
	ends := j.Ended
	if ends.IsZero() {
		ends = n.Now().Add(j.Starts + r.Problem().Load)
	}
	j.Counts = r.Clock.Counts(j.Team, j.Enqueued, ends)
	if j.State == api.Running {
		n.mu.Lock()
		p, known := n.progress[j.ID]
		n.mu.Unlock()
		if known {
			j.Progress = &p.Progress
		}
	}
}

// Queue implements api.Portal. Teams see their own jobs in it.
func (n *Node) Queue(ctx context.Context, who api.Who, round string) (*api.Queue, error) {
	if _, err := n.core.Round(ctx, round); err != nil {
		return nil, err
	}
	q, err := n.core.Queue(ctx)
	if err != nil {
		return nil, err
	}
	out := &api.Queue{Waiting: len(q.Order), Running: q.Running, Slots: q.Slots, Wait: q.Next}
	for i, pick := range q.Order {
		if !who.Role.Staff() && (who.Team == "" || pick.Team != who.Team) {
			continue
		}
		j := api.Job{ID: pick.ID, Round: round, Team: pick.Team, State: api.Queued, Lane: pick.Lane, Enqueued: pick.Enqueued, Place: i + 1, Why: pick.Why}
		if q.Starts != nil {
			j.Starts = q.Starts[i]
		}
		out.Jobs = append(out.Jobs, j)
	}
	return out, nil
}

// Enqueue implements api.Portal.
func (n *Node) Enqueue(ctx context.Context, who api.Who, e api.Enqueue) (*api.Job, error) {
	staff := may(who, api.Judge, api.Operator, api.Organiser)
	switch {
	case staff && e.Team != "":
	case who.Team == "":
		return nil, api.ErrForbidden
	default:
		staff, e.Team, e.Lane = false, who.Team, ""
	}
	j, err := n.core.Enqueue(ctx, who.Account, staff, e)
	if err != nil {
		return nil, err
	}
	return n.Job(ctx, who, j.ID)
}

// Cancel implements api.Portal.
func (n *Node) Cancel(ctx context.Context, who api.Who, job, reason string) (*api.Job, error) {
	staff := may(who, api.Judge, api.Operator, api.Organiser)
	if !staff && who.Team == "" {
		return nil, api.ErrNotFound
	}
	if _, err := n.core.Cancel(ctx, who.Account, staff, who.Team, job, reason); err != nil {
		return nil, err
	}
	return n.Job(ctx, who, job)
}

// longPoll is how long a worker's request for a job is held.
const longPoll = 25 * time.Second
