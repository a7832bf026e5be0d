package iikanji

// Topics of facts about how systemd starts services.
const (
	TopicUnit  = "unit"  // Target the service, Key the unit's name, Value a Unit
	TopicReady = "ready" // Target the service, Key "seconds", Value the longest of its starts, from process to answer, that its log tells of; Moves
)

// A Unit is what systemd would read of the unit of one service when the
// machine starts, and what would come of it.
type Unit struct {
	Name    string   `json:"name"`              // as in "app.service"; of an alias, what it stands for
	Aliases []string `json:"aliases,omitempty"` // other names of it
	Files   []string `json:"files,omitempty"`   // the unit's file and its drop-ins, in the order in which they are read
	Masked  string   `json:"masked,omitempty"`  // the file that masks it, "" for none
	// Boot is a chain of units by which a boot comes to start it, from the
	// boot's target to itself; empty when nothing starts it.
	Boot []string `json:"boot,omitempty"`
	// Follows are the units of other services of the target whose start systemd
	// waits for before it starts this one, each with the chain of units from
	// this one to that.
	Follows map[string][]string `json:"follows,omitempty"`
	// Settings are the assignments that hold and say when it is started and
	// started again, in the order of reading. Of lists all are there; of what has
	// one value, the last valid one counts. Those of section Manager are systemd's
	// own, from system.conf.
	Settings []Setting `json:"settings"`
}

// A Setting is one assignment of a unit file, with its place.
type Setting struct {
	Section string `json:"section"` // Unit, Service, Install, Manager
	Key     string `json:"key"`
	Value   string `json:"value"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // from 1
}
