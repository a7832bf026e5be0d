package fact

// Topics of facts about how systemd starts services.
const (
	TopicUnit  Topic[Unit]    = "unit"  // Target the service, Key the unit's name, Value a Unit
	TopicReady Topic[float64] = "ready" // Target the service, Key "seconds", Value the time from process start to readiness of the slowest start in its log; Moves
)

// A Unit is the systemd unit of one service, as systemd would load it when the
// machine boots, with the start order that follows from it.
type Unit struct {
	Name    string   `json:"name"`              // as in "app.service"; the canonical name if the service uses an alias
	Aliases []string `json:"aliases,omitempty"` // other names of the unit
	Files   []string `json:"files,omitempty"`   // the unit's file and its drop-ins, in the order in which they are read
	Masked  string   `json:"masked,omitempty"`  // the file that masks it, "" for none
	// Boot is a chain of units that starts this unit at boot, from the boot's
	// target to the unit itself; empty if a boot does not start it.
	Boot []string `json:"boot,omitempty"`
	// Follows are the units of other services of the target that systemd starts
	// before this unit, and waits for. Each has the chain of units from this unit
	// to it.
	Follows map[string][]string `json:"follows,omitempty"`
	// Settings are the effective assignments about starting and restarting the
	// unit, in the order in which systemd reads them. A key with a list of values
	// has all its assignments here; for a key with a single value, the last valid
	// one counts. Settings of section Manager are systemd's own, from system.conf.
	Settings []Setting `json:"settings"`
}

// A Setting is one assignment of a unit file, with its position.
type Setting struct {
	Section string `json:"section"` // Unit, Service, Install, Manager
	Key     string `json:"key"`
	Value   string `json:"value"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // from 1
}
