package api

import (
	"bytes"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// A Round is a round as everyone may see it.
type Round struct {
	ID       string        `json:"id"`
	Contest  string        `json:"contest"`
	Name     contest.Text  `json:"name"`  // of the contest
	Title    contest.Text  `json:"title"` // of the round
	Kind     contest.Kind  `json:"kind"`
	State    contest.State `json:"state"`
	Problem  string        `json:"problem"`
	Zone     string        `json:"zone"`
	Local    bool          `json:"local,omitempty"` // targets are on this machine
	Clock    Clock         `json:"clock"`
	Rules    Rules         `json:"rules"`
	Prizes   []Prize       `json:"prizes,omitempty"`
	Teams    int           `json:"teams"`
	Noise    float64       `json:"noise,omitempty"` // of single runs, as in Noise
	Division []string      `json:"divisions,omitempty"`
}

// A Clock is the time table of a round, for the reader's team. Now is the portal's time.
type Clock struct {
	Now      time.Time     `json:"now"`
	Start    time.Time     `json:"start,omitzero"`
	End      time.Time     `json:"end,omitzero"` // of the reader's team
	Freeze   time.Time     `json:"freeze,omitzero"`
	Revealed time.Time     `json:"revealed,omitzero"`
	Left     time.Duration `json:"left_ns"` // 0 before the start and after the end
	Paused   bool          `json:"paused,omitempty"`
	Frozen   bool          `json:"frozen,omitempty"`
	Running  bool          `json:"running"` // a job may be enqueued
}

// ClockFor is a clock for a team, or for "" without one.
func ClockFor(c *contest.Clock, team string, now time.Time) Clock {
	left, _ := c.Left(team, now)
	return Clock{Now: now, Start: c.Start, End: c.EndOf(team), Freeze: c.Freeze, Revealed: c.Revealed, Left: left,
		Paused: c.Paused(now), Frozen: c.Frozen(now), Running: c.Runs(team, now)}
}

// Rules are the rules of a round as pages show them.
type Rules struct {
	Standing contest.Standing `json:"standing"`
	CountsIf string           `json:"counts_if"`
	Tail     time.Duration    `json:"tail_ns"`
	StopOwn  bool             `json:"stop_own_run"`
	Load     time.Duration    `json:"load_ns"`
	// Final is the rule of the final judging in one sentence; "" without one.
	Final string `json:"final,omitempty"`
}

// A Prize is a prize with its holder so far.
type Prize struct {
	ID    string       `json:"id"`
	Title contest.Text `json:"title"`
	Kind  string       `json:"kind"`
	Team  string       `json:"team,omitempty"`
	Value float64      `json:"value,omitempty"`
	// Of and Above are what the prize is for: a division or a measure, and a score.
	Of     string    `json:"of,omitempty"`
	Above  float64   `json:"above,omitempty"`
	When   time.Time `json:"when,omitzero"` // of the run that decides, or of the award
	Reason string    `json:"reason,omitempty"`
}

// PrizesOf are the prizes of a view with their holders so far.
func PrizesOf(v *board.View) (out []Prize) {
	for _, h := range v.Prizes() {
		out = append(out, Prize{ID: h.Prize.ID, Title: h.Prize.Title, Kind: h.Prize.Kind, Team: h.Team, Value: h.Value, Of: h.Prize.Of, Above: h.Prize.At, When: h.At, Reason: h.Reason})
	}
	return out
}

// A Board is the board of a round for one reader. It has no time of its own: two answers are
// equal as long as nothing visible happened.
type Board struct {
	Round    string       `json:"round"`
	Version  string       `json:"version"` // the ETag, and the id of stream frames
	Frozen   bool         `json:"frozen,omitempty"`
	FrozenAt time.Time    `json:"frozen_at,omitzero"`
	Rows     []board.Row  `json:"rows"`
	Own      *board.Row   `json:"own,omitempty"`
	Runs     int          `json:"runs"`
	Feed     []board.Item `json:"feed,omitempty"`
	Prizes   []Prize      `json:"prizes,omitempty"`
}

// feedLength is how many items of the feed a board has.
const feedLength = 20

// BoardOf is the JSON of a view, without its version.
func BoardOf(round string, v *board.View) *Board {
	return &Board{Round: round, Frozen: v.Frozen, FrozenAt: v.FrozenAt, Rows: v.Rows, Own: v.Own, Runs: v.Runs, Feed: v.Feed(feedLength), Prizes: PrizesOf(v)}
}

// A Frame is one event of a stream: Kind is board (a Board whose Rows are the changed ones),
// job (a Job), message (a Message), clock (a Clock) or reset (load the board again).
type Frame struct {
	ID   string
	Kind string
	Data []byte // JSON
	text []byte // as it is sent: made once for all readers
}

// MakeFrame is a frame in the form of server-sent events.
func MakeFrame(id, kind string, data []byte) Frame {
	data = bytes.ReplaceAll(data, []byte("\n"), nil)
	return Frame{ID: id, Kind: kind, Data: data, text: fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", id, kind, data)}
}

// A Team is a team's page.
type Team struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Division string        `json:"division"`
	Gone     string        `json:"gone,omitempty"`
	Row      *board.Row    `json:"row,omitempty"`
	Series   []board.Point `json:"series"`
	Hosts    []Host        `json:"hosts,omitempty"` // of the own team, and for staff
	Open     *Job          `json:"open,omitempty"`  // the open job, of the own team
	Budget   *Budget       `json:"budget,omitempty"`
	Chance   *float64      `json:"chance,omitempty"` // to pass the final, a hint
	Latest   []bool        `json:"latest,omitempty"` // whether the latest runs passed
	Extra    time.Duration `json:"extra_ns,omitempty"`
	Members  []string      `json:"members,omitempty"`
}

// A Host is a machine of a team.
type Host struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Address string `json:"address"` // HOST:PORT or a URL's host
	Proven  bool   `json:"proven"`
	Team    string `json:"team,omitempty"`
	Way     string `json:"way,omitempty"` // how it is proven: agent, path or staff
	// Seen is the last sign of its agent, Reached the last time a worker reached it.
	Seen    time.Time     `json:"seen,omitzero"`
	Reached time.Time     `json:"reached,omitzero"`
	Offset  time.Duration `json:"offset_ns,omitempty"` // of its clock
	Boot    string        `json:"boot,omitempty"`
	Problem string        `json:"problem,omitempty"`
	Keys    []string      `json:"keys,omitempty"` // pinned SSH host keys, for staff
	Facts   *HostFacts    `json:"facts,omitempty"`
}

// A Budget is what a team may still start.
type Budget struct {
	Used    int       `json:"used"`
	Runs    int       `json:"runs,omitempty"`     // 0 for no limit
	PerHour int       `json:"per_hour,omitempty"` // 0 for no limit
	From    time.Time `json:"from,omitzero"`      // from when the next run may be enqueued
}
