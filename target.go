package iikanji

// A Target is what is tuned: hosts, services on them, where their configs and
// logs are, how to reload and how to load it.
type Target struct {
	Name     string    `json:"name"`
	Hosts    []HostRef `json:"hosts"`
	Services []Service `json:"services"`
	Bench    BenchRef  `json:"bench"`
	Policy   Policy    `json:"policy"`
	// UnitFolders are where systemd's unit files lie, the first one that has a
	// name wins; empty means where systemd itself looks.
	UnitFolders []string `json:"unit_folders,omitempty"`
}

// A HostRef names a machine; the empty Address is this one.
type HostRef struct {
	Name    string `json:"name"`
	Address string `json:"address,omitempty"`
}

// A Service is one running part of a target.
type Service struct {
	Name    string   `json:"name"` // database, app, nginx
	Kind    string   `json:"kind"` // mariadb, go, nginx
	Host    string   `json:"host,omitempty"`
	Address string   `json:"address,omitempty"` // host:port it listens on
	Socket  string   `json:"socket,omitempty"`
	Configs []string `json:"configs,omitempty"`
	Logs    []Log    `json:"logs,omitempty"`
	PIDs    []int    `json:"pids,omitempty"` // of the running processes, for reading only
	Unit    string   `json:"unit,omitempty"` // of systemd, as in "app.service"; empty: the one that its processes run in
}

// A Log is a file that a service writes.
type Log struct {
	Kind string `json:"kind"` // access, error, slow, output
	Path string `json:"path"`
}

// A BenchRef says how to load a target: a scenario of an arena, or a command.
type BenchRef struct {
	Scenario string   `json:"scenario,omitempty"`
	URL      string   `json:"url,omitempty"`
	Command  []string `json:"command,omitempty"`
}

// A Policy says which promises changes may weaken.
type Policy struct {
	Allow []Promise `json:"allow,omitempty"`
}
