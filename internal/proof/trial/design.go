package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
)

// A Design is an experiment under way in which each run has some of its parts.
type Design struct {
	Site  Site
	Load  load.Spec
	Names []string          // of the parts, in words
	First []*iikanji.Change // the parts, planned on the site as it is
	// Answered is what was compared for the rewrites of source among the parts; nil for none.
	Answered *iikanji.Answered
	// Stopped is why the design could not be finished.
	Stopped string
	// Plan plans a part on the site as it is now; refused is why it cannot be planned.
	Plan func(ctx context.Context, part int) (planned *iikanji.Change, refused, err error)
	// Add adds a change to the history, and Undone reports whether the executor has undone
	// one that it could not apply.
	Add    func(c *iikanji.Change) error
	Undone func(c *iikanji.Change, err error) (bool, error)

	variants map[string]*iikanji.Change
	applied  []*iikanji.Change // in the order of application
	keys     []string          // of applied
}

// Applied are the changes of the parts that the site has, in the order of application.
func (d *Design) Applied() []*iikanji.Change { return d.applied }

// AppliedParts are the parts that the site has, in the same order.
func (d *Design) AppliedParts() []int {
	var parts []int
	for _, key := range d.keys {
		part, _, _ := strings.Cut(key, " ")
		n, _ := strconv.Atoi(part) // a key begins with the number of its part
		parts = append(parts, n)
	}
	return parts
}

// RunRow runs the site with the parts of a row. Without a run, the design has stopped.
func (d *Design) RunRow(ctx context.Context, row []bool) (run *iikanji.Run, void string, err error) {
	if err := d.Put(ctx, row); err != nil || d.Stopped != "" {
		return nil, "", err
	}
	spec := d.Load
	spec.Trial = len(d.applied) > 0
	return d.Site.Bench(ctx, spec, d.applied...)
}

// A wanted is a part that a row has, with the earlier parts of the row whose places it
// alters: it is planned anew, on the state that these leave. The key names all of them.
type wanted struct {
	part  int
	under []int
	key   string
}

// wantedOf are the parts of a row in their order.
func (d *Design) wantedOf(row []bool) []wanted {
	var all []wanted
	for i, on := range row {
		if !on {
			continue
		}
		w := wanted{part: i, key: fmt.Sprint(i)}
		for _, o := range all {
			if Touch(d.First[o.part], d.First[i]) {
				w.under, w.key = append(w.under, o.part), w.key+fmt.Sprint(" ", o.part)
			}
		}
		all = append(all, w)
	}
	return all
}

// Put brings the site into the state of a row. A part that the site has already stays,
// unless a part below it at the same place goes or comes.
func (d *Design) Put(ctx context.Context, row []bool) error {
	all := d.wantedOf(row)
	stays, keep := map[int]bool{}, map[string]bool{}
	for _, w := range all {
		stays[w.part] = slices.Contains(d.keys, w.key) && !slices.ContainsFunc(w.under, func(part int) bool { return !stays[part] })
		keep[w.key] = stays[w.part]
	}
	for n := len(d.applied) - 1; n >= 0; n-- {
		if keep[d.keys[n]] {
			continue
		}
		if err := d.Site.Revert(ctx, d.applied[n].ID, "the next run of the screening"); err != nil {
			return err
		}
		d.applied, d.keys = slices.Delete(d.applied, n, n+1), slices.Delete(d.keys, n, n+1)
	}
	for _, w := range all {
		if stays[w.part] {
			continue
		}
		if err := d.add(ctx, w.part, w.key); err != nil || d.Stopped != "" {
			return err
		}
	}
	return nil
}

// add applies one part.
func (d *Design) add(ctx context.Context, part int, key string) error {
	c := d.variants[key]
	if c == nil {
		c = d.First[part]
		if strings.Contains(key, " ") {
			planned, refused, err := d.Plan(ctx, part)
			if err != nil {
				return err
			}
			if refused != nil {
				d.Stopped = fmt.Sprintf("%s cannot be made together with others: %s", d.Names[part], firstLine(refused.Error()))
				return nil
			}
			c = planned
		}
		if err := d.Add(c); err != nil {
			return err
		}
		if d.variants == nil {
			d.variants = map[string]*iikanji.Change{}
		}
		d.variants[key] = c
	}
	err := d.Site.Apply(ctx, c.ID)
	if err == nil {
		d.applied, d.keys = append(d.applied, c), append(d.keys, key)
		return nil
	}
	undone, e := d.Undone(c, err)
	if ctx.Err() != nil || e != nil || !undone {
		return errors.Join(err, e)
	}
	d.Stopped = "the site did not take " + c.Says + ": " + firstLine(err.Error())
	return nil
}

// Undo undoes the parts, even when ctx is done.
func (d *Design) Undo(ctx context.Context) error {
	return d.Site.Undo(ctx, d.applied, "the screening is over")
}

// firstLine is the first line of an error.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
