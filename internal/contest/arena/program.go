package arena

// Here is the stack of an arena on this machine, for a benchmarker that starts programs or
// reaches services by other ways than the URL of the site.
type Here interface {
	Places() Places
	// Program returns how a service of the stack is run, with its present files and
	// environment.
	Program(service string) (Program, error)
}

// A Program is a command with its surroundings.
type Program struct {
	Path string   // absolute
	Args []string // without the program's name
	Dir  string
	Env  []string // the whole environment, as "K=V"
	// UID and GID are the account of the stack's services.
	UID, GID int
}
