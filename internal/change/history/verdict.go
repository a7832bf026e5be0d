package history

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/iikanji/iikanji"
)

// verdictFile is the latest verdict, in the change's folder.
const verdictFile = "verdict.json"

// verdictVersion is the version of verdict.json; readers refuse a larger one.
const verdictVersion = 1

// verdictDoc is verdict.json.
type verdictDoc struct {
	Version int `json:"version"`
	*iikanji.Verdict
}

// SaveVerdict writes the verdict on a change, then an event. A later verdict
// replaces the file; the journal keeps all of them. It sets the verdict's Change.
func (h *History) SaveVerdict(id iikanji.ChangeID, v *iikanji.Verdict) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.j == nil {
		return fmt.Errorf("saving a verdict: %w", errNotWritable)
	}
	if h.stage(id) == iikanji.StageUnknown {
		return fmt.Errorf("saving a verdict: there is no change %d in %s", id, h.dir)
	}
	v.Change = id
	if err := h.writeJSON(filepath.Join(h.changeDir(id), verdictFile), verdictDoc{verdictVersion, v}); err != nil {
		return err
	}
	return h.append(Event{What: Judged, Change: id, Verdict: v})
}

// LoadVerdict reads the latest verdict on a change. The error for a change without
// a verdict is fs.ErrNotExist.
func (h *History) LoadVerdict(id iikanji.ChangeID) (*iikanji.Verdict, error) {
	doc := verdictDoc{Verdict: new(iikanji.Verdict)}
	err := h.readJSON(filepath.Join(h.changeDir(id), verdictFile), 0, verdictVersion, &doc)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("change %d has no verdict: %w", id, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	return doc.Verdict, nil
}
