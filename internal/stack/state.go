package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/host"
)

// A state is what one instance stores for the next one, in state.json.
type state struct {
	Version   int    `json:"version"`
	Arena     string `json:"arena"`
	Ports     ports  `json:"ports"`
	Generated string `json:"generated,omitempty"` // version of the generated data
	Source    string `json:"source,omitempty"`    // hash of the source of bin/app
	Loaded    string `json:"loaded,omitempty"`    // data that the database was filled from
}

const stateVersion = 1

func (f folder) readState(a *arena.Arena) (state, error) {
	s := state{Version: stateVersion, Arena: a.Name}
	b, err := host.Local{}.Read(f.path(stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		return s, fmt.Errorf("reading %s: %w", f.path(stateFile), err)
	}
	if s.Version != stateVersion {
		return s, fmt.Errorf("reading %s: version %d is not known here", f.path(stateFile), s.Version)
	}
	if s.Arena != a.Name {
		return s, &ForeignDirError{Dir: f.root, Arena: s.Arena}
	}
	return s, nil
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
func (f folder) lastURL() string {
	var s state
	b, err := host.Local{}.Read(f.path(stateFile))
	if err != nil || json.Unmarshal(b, &s) != nil || s.Ports.Nginx == 0 {
		return ""
	}
	return arena.Places{NginxPort: s.Ports.Nginx}.URL()
}
