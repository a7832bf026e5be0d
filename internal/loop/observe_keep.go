package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/history"
)

// Files of a diagnosed run, beside its run.json.
const (
	accessFile  = "access.json"
	slowFile    = "slow.json"
	factsFile   = "facts.json"
	sensorsFile = "sensors.json"
	hostFile    = "host.tsv"
)

// Keep saves a run with what was observed of it, so that it can be diagnosed
// again. What a red sensor saw is kept too, for whoever looks into it.
func Keep(h *history.History, ob *Observation, known []iikanji.Fact) error {
	id := ob.Run.ID
	for i := range ob.Profiles {
		name := slowFile
		if ob.Profiles[i].Source == iikanji.Access {
			name = accessFile
		}
		if err := keepJSON(h, id, name, &ob.Profiles[i]); err != nil {
			return err
		}
	}
	if err := h.SaveFile(id, hostFile, hostTSV(ob.Host)); err != nil {
		return err
	}
	if err := keepJSON(h, id, factsFile, known); err != nil {
		return err
	}
	if err := keepJSON(h, id, sensorsFile, ob.Sensors); err != nil {
		return err
	}
	return h.SaveRun(ob.Run)
}

func keepJSON(h *history.History, id iikanji.RunID, name string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("saving %s of run %d: %w", name, id, err)
	}
	return h.SaveFile(id, name, append(b, '\n'))
}

// Recall reads what Keep saved. A run that was not observed is fs.ErrNotExist.
func Recall(h *history.History, id iikanji.RunID) (*Observation, []iikanji.Fact, error) {
	ob := new(Observation)
	var known []iikanji.Fact
	var err error
	if ob.Run, err = h.LoadRun(id); err != nil {
		return nil, nil, err
	}
	if err = recallJSON(h, id, sensorsFile, &ob.Sensors); err == nil {
		err = recallJSON(h, id, factsFile, &known)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{accessFile, slowFile} {
		var p iikanji.Profile
		switch err := recallJSON(h, id, name, &p); {
		case errors.Is(err, fs.ErrNotExist): // of a sensor that was red
		case err != nil:
			return nil, nil, err
		case p.Version > iikanji.ProfileVersion:
			return nil, nil, fmt.Errorf("reading %s of run %d: it is of version %d, this is %d", name, id, p.Version, iikanji.ProfileVersion)
		default:
			ob.Profiles = append(ob.Profiles, p)
		}
	}
	return ob, known, nil
}

func recallJSON(h *history.History, id iikanji.RunID, name string, v any) error {
	b, err := h.ReadFile(id, name)
	if err != nil {
		return fmt.Errorf("reading %s of run %d: %w", name, id, err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("reading %s of run %d: %w", name, id, err)
	}
	return nil
}
