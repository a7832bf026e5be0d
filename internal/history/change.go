package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji"
)

// Files of a change's folder.
const (
	changeFile = "change.json"
	diffFile   = "diff"
)

// changeVersion is the version of change.json; readers refuse a larger one.
const changeVersion = 1

// changeDoc is change.json.
type changeDoc struct {
	Version int `json:"version"`
	*iikanji.Change
}

// AddChange reserves the next number for a planned change, writes it down with
// its diff for people, and sets its ID and Stage.
func (h *History) AddChange(c *iikanji.Change, diff string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.j == nil {
		return errors.New("adding a change: the history is closed or open for reading only")
	}
	if len(h.bad) > 0 {
		return &hintError{fmt.Errorf("adding a change: line %d of %s is no event, so stages of changes are not certain",
			h.bad[0].Line, filepath.Join(h.dir, journalName)), []string{"restore the line, or use another history folder"}}
	}
	id, dir, err := h.changeFolder()
	if err != nil {
		return err
	}
	c.ID, c.Stage = id, iikanji.Planned
	if err := writeFile(filepath.Join(dir, diffFile), []byte(diff)); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, changeFile), changeDoc{changeVersion, c}); err != nil {
		return err
	}
	return h.append(Event{What: ChangeMade, Change: id})
}

func (h *History) changeFolder() (iikanji.ChangeID, string, error) {
	for {
		h.lastChg++
		dir := h.changeDir(h.lastChg)
		switch err := os.Mkdir(dir, 0o755); {
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

// MoveChange tells the journal that a change has reached a stage. It refuses
// a move that is not legal.
func (h *History) MoveChange(id iikanji.ChangeID, to iikanji.Stage, why string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := h.stage(id); !at.May(to) {
		return fmt.Errorf("moving change %d from %s to %s: not a legal move", id, at, to)
	}
	return h.append(Event{What: Staged, Change: id, Stage: to, Text: why})
}

// stage is the journal's last word on a change.
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

// LoadChange reads a change at its present stage.
func (h *History) LoadChange(id iikanji.ChangeID) (*iikanji.Change, error) {
	doc := changeDoc{Change: new(iikanji.Change)}
	if err := readJSON(filepath.Join(h.changeDir(id), changeFile), changeVersion, &doc); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &hintError{fmt.Errorf("there is no change %d in %s", id, h.dir), []string{"iikanji history lists them"}}
		}
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	doc.Change.Stage = h.stage(id)
	return doc.Change, nil
}

// Diff reads what a change does, for people.
func (h *History) Diff(id iikanji.ChangeID) (string, error) {
	b, err := os.ReadFile(filepath.Join(h.changeDir(id), diffFile))
	if err != nil {
		return "", fmt.Errorf("reading the diff of change %d: %w", id, err)
	}
	return string(b), nil
}

// Changes lists the changes that the journal knows, in the order of their
// numbers, each at its present stage. A folder whose change never reached the
// journal (killed while planning) has touched nothing and is left out.
func (h *History) Changes() ([]*iikanji.Change, error) {
	var ids []iikanji.ChangeID
	for _, e := range h.Events() {
		if e.What == ChangeMade {
			ids = append(ids, e.Change)
		}
	}
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
