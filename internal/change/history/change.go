package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
)

// Files of a change's folder.
const (
	changeFile = "change.json"
	diffFile   = "diff"
)

// Versions of change.json; readers refuse a larger one. Since encodedChange, it and the
// diff beside it have names of roots for their paths.
const (
	changeVersion = 2
	encodedChange = 2
)

// changeDoc is change.json.
type changeDoc struct {
	Version int `json:"version"`
	*iikanji.Change
}

// AddChange reserves the next number for a planned change, saves it with its diff
// for people, and sets its ID and Stage.
func (h *History) AddChange(c *iikanji.Change, diff string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.j == nil {
		return fmt.Errorf("adding a change: %w", errNotWritable)
	}
	if bad := h.damages(); len(bad) > 0 {
		return &hintError{fmt.Errorf("adding a change: the stages of changes are uncertain: %s: %s", filepath.Join(h.dir, journalName), bad[0]),
			[]string{"iikanji recover shows what is known of them", "or restore the line, or use another history folder"}}
	}
	if err := h.namePlaces(placesOf(c)...); err != nil {
		return err
	}
	id, dir, err := h.changeFolder()
	if err != nil {
		return err
	}
	c.ID, c.Stage = id, iikanji.Planned
	if err := writeFile(filepath.Join(dir, diffFile), h.roots().encode([]byte(diff), textForm, true)); err != nil {
		return err
	}
	if err := h.writeJSON(filepath.Join(dir, changeFile), changeDoc{changeVersion, c}); err != nil {
		return err
	}
	return h.append(Event{What: ChangeMade, Change: id})
}

func (h *History) changeFolder() (iikanji.ChangeID, string, error) {
	for {
		h.lastChg++
		dir := h.changeDir(h.lastChg)
		switch err := os.Mkdir(dir, ownFolder); {
		case err == nil:
			return h.lastChg, dir, syncDir(filepath.Dir(dir))
		case !errors.Is(err, fs.ErrExist):
			return 0, "", spaceHint(fmt.Errorf("adding a change: %w", err))
		}
	}
}

func (h *History) changeDir(id iikanji.ChangeID) string {
	return filepath.Join(h.dir, changesDir, numbered(int(id)))
}

// MoveChange records that a change has reached a stage. It refuses a move that
// the present stage does not allow.
func (h *History) MoveChange(id iikanji.ChangeID, to iikanji.Stage, why string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := h.stage(id); !at.May(to) {
		return fmt.Errorf("moving change %d from %s to %s: this move is not allowed", id, at, to)
	}
	return h.append(Event{What: Staged, Change: id, Stage: to, Text: why})
}

// stage returns the stage of a change by its last event.
func (h *History) stage(id iikanji.ChangeID) iikanji.Stage {
	at := iikanji.StageUnknown
	for _, e := range h.events {
		switch {
		case e.Change != id:
		case e.What == ChangeMade:
			at = iikanji.Planned
		case e.What == Staged:
			at = e.Stage
		}
	}
	return at
}

// stages returns the numbers of all changes, in the order of the journal, and their
// present stages.
func (h *History) stages() (ids []iikanji.ChangeID, at map[iikanji.ChangeID]iikanji.Stage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at = map[iikanji.ChangeID]iikanji.Stage{}
	for _, e := range h.events {
		switch e.What {
		case ChangeMade:
			ids = append(ids, e.Change)
			at[e.Change] = iikanji.Planned
		case Staged:
			at[e.Change] = e.Stage
		}
	}
	return ids, at
}

// A noChangeError is an fs.ErrNotExist of a change.
type noChangeError struct {
	id  iikanji.ChangeID
	dir string
}

func (e *noChangeError) Error() string {
	return fmt.Sprintf("there is no change %d in %s", e.id, e.dir)
}

// Is reports whether the target is fs.ErrNotExist.
func (e *noChangeError) Is(target error) bool { return target == fs.ErrNotExist }

// LoadChange reads a change and sets its present stage.
func (h *History) LoadChange(id iikanji.ChangeID) (*iikanji.Change, error) {
	doc := changeDoc{Change: new(iikanji.Change)}
	if err := h.readJSON(filepath.Join(h.changeDir(id), changeFile), encodedChange, changeVersion, &doc); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &hintError{&noChangeError{id, h.dir}, []string{"iikanji history lists them"}}
		}
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	doc.Change.Stage = h.stage(id)
	return doc.Change, nil
}

// Diff reads the diff of a change.
func (h *History) Diff(id iikanji.ChangeID) (string, error) {
	b, err := os.ReadFile(filepath.Join(h.changeDir(id), diffFile))
	if err != nil {
		return "", fmt.Errorf("reading the diff of change %d: %w", id, err)
	}
	if _, version, err := readDocument(filepath.Join(h.changeDir(id), changeFile), changeVersion); err == nil && version >= encodedChange {
		b = h.roots().decode(b, textForm)
	}
	return string(b), nil
}

// Changes lists the changes in the journal, in the order of their numbers, each
// with its present stage. A folder without an event (the process was killed while
// planning) belongs to a change that touched nothing, and is left out.
func (h *History) Changes() ([]*iikanji.Change, error) {
	return h.ChangesAt(func(iikanji.Stage) bool { return true })
}

// ChangesAt lists those of Changes whose present stage is wanted, and reads no others:
// the journal alone has the stages, and a change is a document of many KB.
func (h *History) ChangesAt(wanted func(iikanji.Stage) bool) ([]*iikanji.Change, error) {
	ids, stages := h.stages()
	ids = slices.DeleteFunc(ids, func(id iikanji.ChangeID) bool { return !wanted(stages[id]) })
	changes := make([]*iikanji.Change, 0, len(ids))
	for _, id := range ids {
		c, err := h.LoadChange(id)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}
