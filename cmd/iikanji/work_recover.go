package main

import (
	"context"
	"os"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/past"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/day/work/store"
)

// provingLeft is the change of an iikanji work prove that was killed, if it brought up a
// former state that is still on the site; 0 for none.
func provingLeft(h *history.History, dir string) (iikanji.ChangeID, error) {
	folder := work.Folder(dir, h.Dir())
	id, err := work.Unproven(folder)
	if err != nil || id == 0 {
		return 0, err
	}
	c, err := h.LoadChange(id)
	if err != nil {
		return 0, err
	}
	if c.Stage.May(iikanji.Reverting) {
		return id, nil
	}
	return 0, work.Settled(folder)
}

// endProving brings back the state that the site had before an iikanji work prove that was
// killed.
func (r *recovered) endProving(ctx context.Context, w *liveTarget, h *history.History, dir string) error {
	id, err := provingLeft(h, dir)
	if err != nil || id == 0 {
		return err
	}
	if err := w.executor(h).Revert(ctx, id, "work prove was killed: the present state again"); err != nil {
		return err
	}
	undone, err := loaded(h, []iikanji.ChangeID{id})
	r.Undone = append(r.Undone, undone...)
	if err != nil {
		return err
	}
	return work.Settled(work.Folder(dir, h.Dir()))
}

// stateByHand is what runs depended on besides iikanji's own changes: the states that bench
// has taken.
func stateByHand(h *history.History, dir string) past.StateOf {
	folder := work.Folder(dir, h.Dir())
	if _, err := os.Stat(folder); err != nil {
		return nil
	}
	st, err := store.Open(folder)
	if err != nil {
		return nil
	}
	d := &work.Day{Store: st, History: h}
	return d.ByHandOf
}
