package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/export"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// exported writes the contest in both forms, imports each into another database, and compares
// the boards at several instants: those of staff with the form of staff, public ones with both.
func (s *simulation) exported(ctx context.Context) error {
	for _, form := range []export.Form{export.Public, export.Staff} {
		files, err := export.Write(ctx, s.core, "sim", form)
		if err != nil {
			return err
		}
		dir := filepath.Join(s.o.Dir, "export-"+string(form))
		if err := export.Save(dir, files); err != nil {
			return err
		}
		if err := s.imported(ctx, form, os.DirFS(dir)); err != nil {
			return fmt.Errorf("the form %s: %w", form, err)
		}
	}
	return nil
}

// imported compares the boards of an imported contest with its own.
func (s *simulation) imported(ctx context.Context, form export.Form, from fs.FS) (err error) {
	other, err := store.Open(ctx, filepath.Join(s.o.Dir, "import-"+string(form)+".db"), store.Options{Unsafe: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.Close()) }()
	clock := func() time.Time { return s.now }
	core := lead.New(lead.Options{Store: other, Carry: carry.NewMemory(clock), Now: clock})
	if _, differ, err := export.Import(ctx, core, from); err != nil || len(differ) > 0 {
		return errors.Join(err, fmt.Errorf("boards that differ: %v", differ))
	}
	var h lead.History
	if _, err := core.Follow(ctx, s.round, &h); err != nil {
		return err
	}
	readers := []board.Reader{{Role: board.Public}}
	if form == export.Staff {
		readers = append(readers, board.Reader{Role: board.Staff}, board.Reader{Role: board.Member, Team: s.teams[0].id})
	}
	for i := range 20 {
		at := s.start.Add(s.o.Length * time.Duration(i+1) / 20)
		for _, reader := range readers {
			was, err := json.Marshal(s.history.View(reader, at))
			if err != nil {
				return err
			}
			got, err := json.Marshal(h.View(reader, at))
			if err != nil {
				return err
			}
			if string(was) != string(got) {
				s.problems = append(s.problems, fmt.Errorf("at %s the imported %s board differs", at.Sub(s.start), reader.Role))
			}
		}
	}
	return nil
}
