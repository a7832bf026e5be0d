package main

import (
	"context"
	"os"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/past"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/day/work/store"
)

// provingLeft are the changes of an iikanji work prove that was killed which are still on
// the site, the latest first.
func provingLeft(h *history.History, dir string) (left []iikanji.ChangeID, err error) {
	folder := work.Folder(dir, h.Dir())
	ids, err := work.Unproven(folder)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	for _, id := range slices.Backward(ids) {
		c, err := h.LoadChange(id)
		if err != nil {
			return nil, err
		}
		if c.Stage.May(iikanji.Reverting) {
			left = append(left, id)
		}
	}
	if len(left) == 0 {
		return nil, work.Settled(folder)
	}
	return left, nil
}

// endProving brings back the state that the site had before an iikanji work prove that was
// killed.
func (r *recovered) endProving(ctx context.Context, w *liveTarget, h *history.History, dir string) error {
	ids, err := provingLeft(h, dir)
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		if err := w.executor(h).Revert(ctx, id, "work prove was killed: the present state again"); err != nil {
			return err
		}
		undone, err := loaded(h, []iikanji.ChangeID{id})
		r.Undone = append(r.Undone, undone...)
		if err != nil {
			return err
		}
	}
	return work.Settled(work.Folder(dir, h.Dir()))
}

// stateByHand is what runs depended on besides iikanji's own changes: the states that bench
// has taken.
func stateByHand(h *history.History, dir string) past.StateOf {
	if d := statesOf(h, dir); d != nil {
		return d.ByHandOf
	}
	return nil
}

// statesOf are the states that bench has taken, for reading; nil if there are none.
func statesOf(h *history.History, dir string) *work.Day {
	folder := work.Folder(dir, h.Dir())
	if _, err := os.Stat(folder); err != nil {
		return nil
	}
	st, err := store.Open(folder)
	if err != nil {
		return nil
	}
	return &work.Day{Store: st, History: h}
}
