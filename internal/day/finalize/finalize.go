package finalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Host is one machine of the site.
type Host interface {
	Name() string // for people; "" on a site with one machine
	// LogsOff turns off what only observes. With check it says what it would turn off.
	LogsOff(ctx context.Context, check bool) (says []string, err error)
	// Losses are what a boot would lose, by reading.
	Losses(ctx context.Context) ([]iikanji.Finding, error)
	// Mend removes the cause of a loss. Its error is [ErrPerson] if a person must.
	Mend(ctx context.Context, f iikanji.Finding) (says string, err error)
	// LeftBehind removes what nobody needs, and says what stays.
	LeftBehind(ctx context.Context, check bool) (says []string, err error)
}

// A Site is all hosts together.
type Site interface {
	// Up starts services that are down, as an interrupted step leaves them.
	Up(ctx context.Context) (started []string, err error)
	// Restart ends all services and starts them in an order, and proves that they answer
	// with the data and the settings of before. With an error no service is left down.
	Restart(ctx context.Context, o Order) (says string, err error)
	// Reboot makes a round of reboots, and proves what Restart proves. If this machine is among
	// the machines, the command ends with down, and the same command goes on afterwards. so
	// are the steps that were made before.
	Reboot(ctx context.Context, round int, so []Step) (says string, down bool, err error)
	// LastRun makes a run, whose score is compared with what is registered.
	LastRun(ctx context.Context) (run iikanji.RunID, score float64, err error)
}

// An Order is one order of starts.
type Order struct {
	Name         string
	ClientsFirst bool
	Gap          time.Duration // between the clients and their servers
}

// ErrPerson is the error of a loss that a person has to mend.
type ErrPerson struct{ Says string }

func (e *ErrPerson) Error() string { return e.Says }

// A VoidError is a last run that shows nothing of the site, as beside a full disk.
type VoidError struct{ Says string }

func (e *VoidError) Error() string { return e.Says }

// Plan is what to do.
type Plan struct {
	Hosts []Host
	Site  Site
	Now   func() time.Time
	End   time.Time     // of the contest; zero for none
	Run   time.Duration // what a run takes
	// Before is the score with which the last run is compared, 0 for none.
	Before, Floor float64
	Check         bool    // only read
	Rehearse      bool    // only read, restart and reboot, and run: nothing is mended or turned off
	NoRun         bool    // the last run is left out: the site is not ready
	Rounds        []Round // of reboots, which the machines' owner has allowed
	Orders        []Order // of starts without a reboot
	// From is the note of a former process, which ended because its machine went down: the
	// steps before are not made again.
	From *Rebooting
	// Show is called when a step has ended; nil for nobody.
	Show func(Step)
}

// A Step is one line of the result.
type Step struct {
	Name string   `json:"name"`
	Says string   `json:"says"`
	More []string `json:"more,omitempty"`
	OK   bool     `json:"ok"`
}

// A Result is the end of the command.
type Result struct {
	Ready bool   `json:"ready"`
	Steps []Step `json:"steps"`
	// Reason is why it is not ready, and Back the way back.
	Reason string `json:"reason,omitempty"`
	Back   string `json:"back,omitempty"`
	// Down: the machine reboots now, and the same command goes on afterwards.
	Down     bool `json:"down,omitempty"`
	Rebooted bool `json:"rebooted,omitempty"`
	// Stayed are the machines that were not rebooted although others were.
	Stayed []string `json:"stayed,omitempty"`
	// Left are the steps for which there was no time.
	Left []string `json:"left,omitempty"`
	// Lost is the number of losses that stay.
	Lost  int           `json:"lost"`
	Score float64       `json:"score,omitempty"`
	Run   iikanji.RunID `json:"run,omitempty"`
}

// Times that steps are assumed to take, besides the gap of an order and the length of a run.
const (
	stepTime  = 15 * time.Second
	logsTime  = 60 * time.Second // an app may be built
	orderTime = 60 * time.Second
	runTime   = 30 * time.Second
)

// OrdersOf are the orders of a boot in which services are started: all at once, and if there
// are servers, each of them a gap later than their clients.
func OrdersOf(servers bool, gaps []time.Duration) []Order {
	orders := []Order{{Name: "all at once"}}
	for _, gap := range gaps {
		if servers {
			orders = append(orders, Order{Name: orderName(gap), ClientsFirst: true, Gap: gap})
		}
	}
	return orders
}

// Needs is the time that a plan takes.
func (p *Plan) Needs() time.Duration {
	total := 2*stepTime + logsTime
	for _, o := range p.Orders {
		total += orderTime + o.Gap
	}
	for _, r := range p.Rounds {
		total += r.needs()
	}
	return total + p.Run + runTime
}

// A step is a part of a plan with the time that it needs.
type step struct {
	name  string
	needs time.Duration
	do    func(context.Context, *Step, *Result) error
}

// Do carries the plan out. It stops at the first step that shows that the site is not ready,
// also because a host is lost; another error is that of a step which could not be made.
func (p *Plan) Do(ctx context.Context) (Result, error) {
	var res Result
	steps := p.steps()
	if p.From != nil {
		res.Steps = p.From.Steps
		steps = slices.DeleteFunc(steps, func(s step) bool {
			return slices.ContainsFunc(res.Steps, func(made Step) bool { return made.Name == s.name })
		})
	} else if err := p.up(ctx); err != nil {
		return p.lost(res, "before the first step", err)
	}
	for i, s := range steps {
		if !p.End.IsZero() && p.Now().Add(s.needs).After(p.End) {
			for _, later := range steps[i:] {
				res.Left = append(res.Left, later.name)
			}
			res.Reason = fmt.Sprintf("no time for %s", strings.Join(res.Left, ", "))
			res.Back = "the steps above hold; an earlier state: iikanji work back good"
			return res, nil
		}
		one := Step{Name: s.name, OK: true}
		err := s.do(ctx, &one, &res)
		if err != nil {
			one.OK = false
		}
		res.Steps = append(res.Steps, one)
		if p.Show != nil {
			p.Show(one)
		}
		if err != nil {
			return p.lost(res, s.name, err)
		}
		if !one.OK || res.Down {
			return res, nil
		}
	}
	switch {
	case p.Check:
	case p.NoRun && !p.Rehearse:
		res.Reason, res.Back = "the last run was left out", "iikanji finalize makes it"
	case p.Rehearse && res.Lost > 0:
		res.Reason, res.Back = count(res.Lost, "loss of a boot", "losses of a boot")+" found", "iikanji finalize mends what it can"
	}
	res.Ready = res.Reason == "" && !p.Check
	return res, nil
}

// lost makes the loss of a host in a step the reason why the site is not ready: nothing else
// begins. Any other error stays one.
func (p *Plan) lost(res Result, name string, err error) (Result, error) {
	lost := lostHost(err)
	if lost == nil {
		return res, fmt.Errorf("%s: %w", name, err)
	}
	res.Reason = fmt.Sprintf("%s: %v", name, err)
	if n := len(res.Steps); n > 0 && !res.Steps[n-1].OK {
		res.Steps[n-1].Says = err.Error()
	}
	res.Back = fmt.Sprintf("when %s answers, the same command goes on; iikanji hosts shows the machines", lost.Host)
	return res, nil
}

// lostHost is the loss of a host in an error; nil for none.
func lostHost(err error) *host.LostError {
	var lost *host.LostError
	errors.As(err, &lost)
	return lost
}

// up starts what an interrupted step left down.
func (p *Plan) up(ctx context.Context) error {
	if p.Check {
		return nil
	}
	started, err := p.Site.Up(ctx)
	if err != nil {
		return fmt.Errorf("starting what is down: %w", err)
	}
	if len(started) > 0 && p.Show != nil {
		p.Show(Step{Name: "started again", Says: strings.Join(started, ", ") + " was down", OK: true})
	}
	return nil
}

// on names a host other than this machine.
func on(h Host) string {
	if h.Name() == "" {
		return ""
	}
	return " on " + h.Name()
}

func (p *Plan) steps() []step {
	// Losses come first: turning a log off may restart the database, which would lose them.
	steps := []step{{"what a boot would lose", stepTime, p.losses}}
	if !p.Rehearse {
		steps = append(steps, step{"logs off", logsTime, p.logsOff}, step{"left behind", stepTime, p.leftBehind})
	}
	if p.Check {
		return steps
	}
	for k, r := range p.Rounds {
		name := "reboot"
		if len(p.Rounds) > 1 {
			name += ", " + r.Name
		}
		steps = append(steps, step{name, r.needs(), func(ctx context.Context, s *Step, res *Result) error { return p.reboot(ctx, k, s, res) }})
	}
	for _, o := range p.Orders {
		steps = append(steps, step{"restart, " + o.Name, orderTime + o.Gap, func(ctx context.Context, s *Step, res *Result) error { return p.restart(ctx, o, s, res) }})
	}
	if p.NoRun {
		return steps
	}
	return append(steps, step{"last run", p.Run + runTime, p.lastRun})
}

func (p *Plan) logsOff(ctx context.Context, s *Step, _ *Result) error {
	for _, h := range p.Hosts {
		says, err := h.LogsOff(ctx, p.Check)
		if err != nil {
			return err
		}
		for _, text := range says {
			s.More = append(s.More, text+on(h))
		}
	}
	s.Says = count(len(s.More), "change", "changes")
	if p.Check && len(s.More) > 0 {
		s.Says += " to make"
	}
	return nil
}

// count is a number with its noun.
func count(n int, one, more string) string {
	switch n {
	case 0:
		return "nothing to do"
	case 1:
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// mostRounds limits how often the losses are read and mended: mending one may show another.
const mostRounds = 3

// losses mends what a boot would lose, until nothing is found or nothing more can be mended.
func (p *Plan) losses(ctx context.Context, s *Step, res *Result) error {
	found, mended := 0, 0
	var left []string
	for round := range mostRounds {
		left, res.Lost = nil, 0
		again := false
		for _, h := range p.Hosts {
			losses, err := h.Losses(ctx)
			if err != nil {
				return err
			}
			for _, f := range losses {
				if round == 0 {
					found++
				}
				says, err := p.mend(ctx, h, f)
				if err != nil {
					res.Lost++
					left = append(left, fmt.Sprintf("%s%s: %s; %s", f.Code, on(h), f.Claim, err))
					continue
				}
				mended++
				again = true
				s.More = append(s.More, fmt.Sprintf("%s%s: %s", f.Code, on(h), says))
			}
		}
		if !again {
			break
		}
	}
	s.Says = fmt.Sprintf("%d found, %d mended", found, mended)
	if found == 0 && mended == 0 {
		s.Says = "nothing found"
	}
	s.More = append(s.More, left...)
	if len(left) > 0 {
		s.OK, res.Reason, res.Back = false, left[0], "mend it and run iikanji finalize again; an earlier state: iikanji work back good"
		if p.Check || p.Rehearse {
			res.Reason, s.OK = "", true // what would be mended is not tried
		}
	}
	return nil
}

func (p *Plan) mend(ctx context.Context, h Host, f iikanji.Finding) (string, error) {
	if p.Check || p.Rehearse {
		return "", &ErrPerson{f.Remedies[0].Says}
	}
	return h.Mend(ctx, f)
}

func (p *Plan) leftBehind(ctx context.Context, s *Step, _ *Result) error {
	for _, h := range p.Hosts {
		says, err := h.LeftBehind(ctx, p.Check)
		if err != nil {
			return err
		}
		s.More = append(s.More, says...)
	}
	s.Says = "nothing"
	if len(s.More) > 0 {
		s.Says, s.More = strings.Join(s.More, "; "), nil
	}
	return nil
}

func (p *Plan) restart(ctx context.Context, o Order, s *Step, res *Result) error {
	says, err := p.Site.Restart(ctx, o)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if lostHost(err) != nil {
		return err
	}
	s.Says = says
	if err != nil {
		s.OK, s.Says = false, err.Error()
		res.Reason, res.Back = s.Name+": "+err.Error(), "all services run again; an earlier state: iikanji work back good"
	}
	return nil
}

func (p *Plan) reboot(ctx context.Context, k int, s *Step, res *Result) error {
	says, down, err := p.Site.Reboot(ctx, k, res.Steps)
	if ctx.Err() != nil && !down { // else systemd ends this process, too

		return context.Cause(ctx)
	}
	if lostHost(err) != nil {
		return err
	}
	s.Says, res.Down, res.Rebooted = says, down, !down && err == nil && k == len(p.Rounds)-1
	if err != nil {
		s.OK, s.Says = false, err.Error()
		res.Reason, res.Back = s.Name+": "+err.Error(), "an earlier state: iikanji work back good"
	}
	return nil
}

func (p *Plan) lastRun(ctx context.Context, s *Step, res *Result) error {
	run, score, err := p.Site.LastRun(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if lostHost(err) != nil {
		return err
	}
	res.Run, res.Score = run, score
	back := "an earlier state: iikanji work back good"
	if void := (*VoidError)(nil); errors.As(err, &void) {
		back = "mend that, and run iikanji finalize again"
	}
	switch {
	case err != nil:
		s.OK, s.Says = false, err.Error()
		res.Reason, res.Back = "the last run: "+err.Error(), back
	case p.Before == 0:
		s.Says = fmt.Sprintf("run %d: %.0f; no earlier run to compare it with", run, score)
	default:
		s.Says = fmt.Sprintf("run %d: %.0f; before %.0f: ×%.2f, floor ×%.2f", run, score, p.Before, score/p.Before, p.Floor)
		if score < p.Floor*p.Before {
			s.OK = false
			res.Reason, res.Back = fmt.Sprintf("the last run has ×%.2f of the score before, and the floor is ×%.2f", score/p.Before, p.Floor), back
		}
	}
	return nil
}
