package fact

// TopicBoot is what a reboot of a host would lose, as far as it can be read while the host
// runs. Target is the name of the host, "" for this machine; Key "".
const TopicBoot Topic[Boot] = "boot"

// A Boot is how a host runs now, and how its files would start it.
type Boot struct {
	Units     []BootUnit    `json:"units"`
	Services  []BootService `json:"services"`
	Paths     []BootPath    `json:"paths,omitempty"`
	Memory    []BootMemory  `json:"memory,omitempty"`
	Variables []BootValue   `json:"variables,omitempty"` // of database servers
	Kernel    []BootValue   `json:"kernel,omitempty"`    // sysctl
	Stores    []BootStore   `json:"stores,omitempty"`
	Disks     []BootDisk    `json:"disks,omitempty"`
	// Unread are parts that could not be read, with the reason.
	Unread []string `json:"unread,omitempty"`
}

// A BootUnit is a service or a socket of systemd, as it has loaded it.
type BootUnit struct {
	Name     string   `json:"name"`
	Load     string   `json:"load"`   // loaded, masked, not-found, bad-setting, error
	Active   string   `json:"active"` // active, inactive, failed, activating …
	Result   string   `json:"result,omitempty"`
	State    string   `json:"state,omitempty"` // enabled, disabled, static, masked …
	File     string   `json:"file,omitempty"`
	DropIns  []string `json:"drop_ins,omitempty"`
	Reload   bool     `json:"reload,omitempty"` // its files are newer than what systemd has loaded
	Type     string   `json:"type,omitempty"`
	Exec     string   `json:"exec,omitempty"` // its first command line
	Pre      []string `json:"pre,omitempty"`  // commands before it
	Restart  string   `json:"restart,omitempty"`
	Wait     float64  `json:"wait"`     // RestartSec, in seconds; infinite is −1
	Interval float64  `json:"interval"` // StartLimitIntervalSec; 0 for no limit, infinite is −1
	Burst    int      `json:"burst"`
	After    []string `json:"after,omitempty"`
	By       []string `json:"by,omitempty"` // units that start it: WantedBy, RequiredBy, UpheldBy, TriggeredBy, also those reached over targets
	Makes    []string `json:"makes,omitempty"`
	Ports    []int    `json:"ports,omitempty"` // in its settings, its environment, or usual for its program
	PID      int      `json:"pid,omitempty"`
	Tasks    int64    `json:"tasks,omitempty"`     // processes and threads now; 0 if they are not counted
	TasksMax int64    `json:"tasks_max,omitempty"` // how many it may have; 0 for no limit
	Wrong    []string `json:"wrong,omitempty"`     // what systemd-analyze says of its files
	// Local: its file is not one of a package.
	Local bool `json:"local,omitempty"`
	// Boots: a chain of enabled units leads from the boot to it.
	Boots bool `json:"boots,omitempty"`
	// Never: a drop-in of iikanji has the boot leave it out.
	Never bool `json:"never,omitempty"`
}

// A BootService is a service of the site on the host.
type BootService struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"` // "" for a process of no unit
	// Container is the id of the container that it runs in, with the restart policy.
	Container string   `json:"container,omitempty"`
	Policy    string   `json:"policy,omitempty"`
	PIDs      []int    `json:"pids,omitempty"`
	Ports     []int    `json:"ports,omitempty"`
	Needs     []string `json:"needs,omitempty"` // services that it has connections to, on any host
	// The program, and what is newer than it.
	Program string `json:"program,omitempty"`
	Newer   string `json:"newer,omitempty"`   // a file of the source that is newer than the program
	Other   string `json:"other,omitempty"`   // the file was replaced after the process had started: what a boot starts
	StartAt int64  `json:"started,omitempty"` // unix seconds
}

// A BootPath is a socket or the file of a process id below a folder that a boot empties.
type BootPath struct {
	Service string `json:"service"`
	Path    string `json:"path"`
	Folder  string `json:"folder"`
	Owner   string `json:"owner,omitempty"` // of the folder now, as in "mysql:mysql 0755"
	// Maker is what makes the folder at boot; "" for nothing.
	Maker string `json:"maker,omitempty"`
}

// A BootMemory is data of a service on a file system that a boot empties, or a file system in
// memory that no file mounts.
type BootMemory struct {
	Service string `json:"service,omitempty"`
	Path    string `json:"path"`
	Mount   string `json:"mount"`
	// Kept: a file or a unit mounts it again, empty.
	Kept bool `json:"kept,omitempty"`
}

// A BootValue is a setting that differs from what files set.
type BootValue struct {
	Service string `json:"service,omitempty"`
	Name    string `json:"name"`
	Now     string `json:"now"`
	Then    string `json:"then"`           // after a boot; "" for the program's default
	File    string `json:"file,omitempty"` // that sets Then
}

// A BootStore is a Redis.
type BootStore struct {
	Service    string `json:"service"`
	Queue      bool   `json:"queue,omitempty"`
	Persistent bool   `json:"persistent,omitempty"`
	Evicts     bool   `json:"evicts,omitempty"`  // it may drop any key when memory is short
	Forever    int64  `json:"forever,omitempty"` // keys without an expiry
}

// A BootDisk is a file system that services write to.
type BootDisk struct {
	Path  string `json:"path"`
	Free  int64  `json:"free"`
	Total int64  `json:"total"`
}
