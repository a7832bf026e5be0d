package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A state is what one instance stores for the next one, in state.json.
type state struct {
	Version   int               `json:"version"`
	Arena     string            `json:"arena"`
	Services  []string          `json:"services"` // the processes, in the order of their start
	Ports     ports             `json:"ports"`
	URL       string            `json:"url,omitempty"`
	Generated string            `json:"generated,omitempty"` // version of the generated data
	Built     map[string]string `json:"source,omitempty"`    // hash of the source of the last build, by service
	Loaded    map[string]string `json:"loaded,omitempty"`    // data that was loaded, by service
}

const stateVersion = 2

// A stateV1 is a state of version 1: an app, a database and nginx, under fixed
// names.
type stateV1 struct {
	Arena     string `json:"arena"`
	Ports     ports  `json:"ports"`
	Generated string `json:"generated"`
	Source    string `json:"source"`
	Loaded    string `json:"loaded"`
}

// readState returns the state of the folder's last instance, an empty one if
// there was none.
func (f folder) readState(a *arena.Arena) (state, error) {
	s := state{Version: stateVersion, Arena: a.Name, Ports: ports{}, Built: map[string]string{}, Loaded: map[string]string{}}
	b, err := host.Local{}.Read(f.path(stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	var head struct{ Version int }
	if err == nil {
		err = json.Unmarshal(b, &head)
	}
	switch {
	case err != nil:
	case head.Version == 1:
		err = s.fromV1(b, a)
	case head.Version == stateVersion:
		err = json.Unmarshal(b, &s)
	default:
		err = fmt.Errorf("version %d is not known here", head.Version)
	}
	if err != nil {
		return s, fmt.Errorf("reading %s: %w", f.path(stateFile), err)
	}
	if s.Arena != a.Name {
		return s, &ForeignDirError{Dir: f.root, Arena: s.Arena}
	}
	return s, nil
}

// fromV1 takes over a state of version 1. The one source and the one load belong
// to the service that has them.
func (s *state) fromV1(b []byte, a *arena.Arena) error {
	old := stateV1{Ports: s.Ports}
	if err := json.Unmarshal(b, &old); err != nil {
		return err
	}
	s.Arena, s.Ports, s.Generated = old.Arena, old.Ports, old.Generated
	for _, svc := range a.Services {
		if len(svc.Build) > 0 && old.Source != "" {
			s.Built[svc.Name] = old.Source
		}
		if svc.Load != "" && old.Loaded != "" {
			s.Loaded[svc.Name] = old.Loaded
		}
	}
	return nil
}

func (f folder) writeState(s state) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return f.write(append(b, '\n'), 0o644, stateFile)
}

// lastURL returns the URL recorded in state.json, or "" if there is none. Another
// instance that holds the folder answers there.
func (f folder) lastURL() string { return f.lastState().URL }

// lastState returns the state of whatever arena was last in the folder, as far as
// it can be read.
func (f folder) lastState() (s state) {
	b, err := host.Local{}.Read(f.path(stateFile))
	if err != nil || json.Unmarshal(b, &s) != nil {
		return state{}
	}
	return s
}
