package change

import (
	"encoding/json"
	"fmt"
)

// placementVersion is the version of placement.json; readers refuse a larger one.
const placementVersion = 1

// A Placement is where services run in place of what iikanji.toml says: the file
// placement.json in the work folder. A change writes it, and its undo removes it.
type Placement struct {
	Version  int               `json:"version"`
	Services map[string]Placed `json:"services"`
}

// Placed is where one service runs.
type Placed struct {
	Host string `json:"host"` // HostRef.Name; empty: this machine
	// Address is where its clients reach it, host:port.
	Address   string   `json:"address,omitempty"`
	Instances []string `json:"instances,omitempty"` // further hosts
}

// ParsePlacement reads a placement; an empty text is one without services.
func ParsePlacement(text []byte) (Placement, error) {
	p := Placement{Version: placementVersion, Services: map[string]Placed{}}
	if len(text) == 0 {
		return p, nil
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("reading the placement: %w", err)
	}
	if p.Version > placementVersion || p.Services == nil {
		return p, fmt.Errorf("reading the placement: version %d, this iikanji reads up to %d", p.Version, placementVersion)
	}
	return p, nil
}
