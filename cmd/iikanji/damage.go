package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/show/report"
)

// The ways to settle changes whose events are damaged or missing.
const (
	damagedShow = "show"
	damagedUndo = "undo"
	damagedKeep = "keep"
)

// A damageReport is what is known where the journal and the changes disagree.
type damageReport struct {
	Damage  []history.Damage  `json:"damage,omitempty"`
	Changes []uncertainChange `json:"changes"`
}

// An uncertainChange is a change whose recorded stage may be older than the site.
type uncertainChange struct {
	*iikanji.Change
	Places []change.PlaceState `json:"places"`
	// Agrees: the recorded stages account for the state of every place.
	Agrees bool `json:"agrees"`
}

// disagreement compares the journal with the folders of changes. It is nil if
// they agree.
func disagreement(h *history.History) (*damageReport, error) {
	uncertain, err := h.Uncertain()
	if err != nil {
		return nil, err
	}
	d := &damageReport{Damage: h.Damages()}
	for _, c := range uncertain {
		d.Changes = append(d.Changes, uncertainChange{Change: c})
	}
	if len(d.Damage)+len(d.Changes) == 0 {
		return nil, nil
	}
	return d, nil
}

// refuseDamaged returns an error if the journal and the changes disagree.
func refuseDamaged(h *history.History, a *namedTarget, f placeFlags) error {
	d, err := disagreement(h)
	if err != nil || d == nil {
		return err
	}
	return hinted(fmt.Errorf("%s: the stage of %s is not certain", d.why(), report.Number(len(d.Changes), "change")),
		fmt.Sprintf("iikanji recover %s%s shows the state of each place", a.Name, f.flags()))
}

// why describes the first damage.
func (d *damageReport) why() string {
	if len(d.Damage) > 0 {
		return "the journal is damaged: " + report.Clean(d.Damage[0].String())
	}
	return "the journal has no event of a change in its folder, or lacks the last ones"
}

// suspects adds the changes that are recorded as not in force although a file is
// as they left it: the last lines of the journal are missing then. An interrupted
// change may have left the file so: it is recovered first.
func (d *damageReport) suspects(ctx context.Context, hands change.Hands, all, inForce []*iikanji.Change) {
	if slices.ContainsFunc(all, func(c *iikanji.Change) bool { return change.Interrupted(c.Stage) }) {
		return
	}
	for _, c := range all {
		known := slices.ContainsFunc(d.Changes, func(u uncertainChange) bool { return u.ID == c.ID })
		if known || c.Stage.May(iikanji.Reverting) {
			continue
		}
		files := *c
		files.Do = slices.DeleteFunc(slices.Clone(c.Do), func(op iikanji.Op) bool { return op.Verb == iikanji.SQL })
		places := change.Examine(ctx, hands, &files)
		left := slices.DeleteFunc(slices.Clone(places), func(p change.PlaceState) bool { return p.Relation != change.AsAfter })
		if len(left) > 0 && !change.Explained(c, left, all, inForce) {
			d.Changes = append(d.Changes, uncertainChange{Change: c})
		}
	}
}

// examine reads the places of the uncertain changes.
func (d *damageReport) examine(ctx context.Context, hands change.Hands, all, inForce []*iikanji.Change) {
	for i := range d.Changes {
		u := &d.Changes[i]
		u.Places = change.Examine(ctx, hands, u.Change)
		u.Agrees = change.Explained(u.Change, u.Places, all, inForce)
	}
}

// agrees reports whether the recorded stages account for every place.
func (d *damageReport) agrees() bool {
	return !slices.ContainsFunc(d.Changes, func(u uncertainChange) bool { return !u.Agrees })
}

// statements reports whether an uncertain change has places in a database.
func (d *damageReport) statements() bool {
	return slices.ContainsFunc(d.Changes, func(u uncertainChange) bool {
		return slices.ContainsFunc(u.Do, func(op iikanji.Op) bool { return op.Verb == iikanji.SQL })
	})
}

// settle examines the changes whose events are damaged or missing. Where the
// stages account for every place, that is recorded. Otherwise the flag --damaged
// decides: the changes are made interrupted ones, which recover then undoes, or
// completes.
func (c *recoverCmd) settle(ctx context.Context, e *env, a *namedTarget, dir string, h *history.History, done *recovered) error {
	d, err := c.damage(ctx, e, a, dir, h)
	if err != nil || d == nil {
		return err
	}
	done.Damage = d
	switch {
	case d.agrees():
	case c.Damaged == damagedShow:
		return hinted(errors.New("the journal and the site disagree, and nothing was changed"),
			fmt.Sprintf("iikanji recover %s%s --damaged undo   undoes these changes", a.Name, c.flags()),
			fmt.Sprintf("iikanji recover %s%s --damaged keep   completes and keeps them", a.Name, c.flags()))
	}
	for _, u := range d.Changes {
		if err := restage(h, u); err != nil {
			return err
		}
		if !u.Agrees && c.Damaged == damagedKeep {
			done.completing = append(done.completing, u.ID)
		}
	}
	return h.Settle(fmt.Sprintf("examined by recover --damaged %s", c.Damaged))
}

// restage records the stage of a change as it was found.
func restage(h *history.History, u uncertainChange) error {
	to, why := iikanji.Applying, "its events are damaged or missing, and a place is as after it"
	switch {
	case !u.Agrees && u.Stage == iikanji.Applying:
		return nil
	case !u.Agrees && u.Stage.May(to):
		return h.MoveChange(u.ID, to, why)
	case u.Agrees && u.Stage != iikanji.StageUnknown:
		return nil
	case u.Agrees:
		to, why = iikanji.Reverted, "its events are missing, and no place is as after it"
	}
	return h.Restage(u.ID, to, why)
}

// damage finds and examines the changes whose events are damaged or missing, nil
// if there are none. Tables need a running database; if the stack does not come
// up, they are shown as unread.
func (c *recoverCmd) damage(ctx context.Context, e *env, a *namedTarget, dir string, h *history.History) (*damageReport, error) {
	d, err := disagreement(h)
	if err != nil {
		return nil, err
	}
	if d == nil {
		d = &damageReport{}
	}
	all, err := h.Changes()
	if err != nil {
		return nil, err
	}
	latest, err := inForce(h)
	if err != nil {
		return nil, err
	}
	slices.Reverse(latest)
	latest = slices.DeleteFunc(latest, func(c *iikanji.Change) bool { return change.Interrupted(c.Stage) })
	files, err := filesOf(a, dir)
	if err != nil {
		return nil, err
	}
	d.suspects(ctx, files, all, latest)
	if len(d.Damage)+len(d.Changes) == 0 {
		return nil, nil
	}
	for _, u := range d.Changes { // unrecorded ones are not in Changes
		if !slices.ContainsFunc(all, func(c *iikanji.Change) bool { return c.ID == u.ID }) {
			all = append(all, u.Change)
		}
	}
	if !d.statements() {
		d.examine(ctx, files, all, latest)
		return d, nil
	}
	err = withLiveTarget(ctx, e, a, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
		d.examine(ctx, w.Site(), all, latest)
		return nil
	})
	var busy *stack.BusyError
	if errors.As(err, &busy) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		fmt.Fprintln(e.Stderr, "the stack did not come up, so that tables cannot be read:", report.Clean(err.Error()))
		d.examine(ctx, files, all, latest)
	}
	return d, nil
}

var relationTexts = map[change.Relation]string{
	change.AsBefore: "as before the change", change.AsAfter: "as after the change",
	change.AsNeither: "neither: edited since, or by another change", change.AsUnread: "cannot be read",
}

// write shows the damage and the state of each place.
func (d *damageReport) write(out *output) {
	for _, x := range d.Damage {
		out.line("the journal is damaged: %s", report.Clean(x.String()))
	}
	for _, u := range d.Changes {
		stage := u.Stage.String()
		if u.Stage == iikanji.StageUnknown {
			stage = "no event"
		}
		out.line("change %d (%s): its events are damaged or missing; recorded: %s", u.ID, report.Clean(u.Says), stage)
		for _, p := range u.Places {
			out.line("  %s  %s", report.Clean(p.Place), strings.TrimSpace(relationTexts[p.Relation]+" "+report.Clean(p.ReadError)))
		}
	}
	if d.agrees() {
		out.line("every place is as the recorded stages state")
	}
}
