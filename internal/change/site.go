package change

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// Hands are the effects that the executor may have.
type Hands interface {
	// State is the fingerprint of the present content of an op's place.
	State(ctx context.Context, op iikanji.Op) (iikanji.Fingerprint, error)
	// Perform does an op. All ops but statements can be repeated; the executor reads
	// the State before it repeats a statement.
	Perform(ctx context.Context, op iikanji.Op) error
	// Content is the present content of a place, to show how it differs.
	Content(ctx context.Context, op iikanji.Op) (string, error)
}

// A Site is a running target that kinds read and the executor changes.
type Site struct {
	Target iikanji.Target
	// Hosts by HostRef.Name. This machine need not be in it: see On.
	Hosts map[string]host.Host
	// Roots are the folders under which files may be written, and no others; one
	// on another host is "name:/path", as in Op.Location. A root may be one file, see
	// host.OneFile.
	Roots []string
	// Services by name, as in Target.Services.
	Services map[string]Service
	// Keep are systemd units that are never edited, started or ended.
	Keep []string
	// Placement is the path of placement.json, which must be below one of Roots; "" without
	// a work folder.
	Placement string
	// Placed is called after Placement was written or removed; nil for nothing.
	Placed func(ctx context.Context)
	// Initialize makes the site's data anew, as the benchmark does before its load; nil if no
	// way is known.
	Initialize func(ctx context.Context) error
	// AroundUnit calls do, which starts or ends a unit of a host and reports whether it is
	// active then; nil: do is called alone.
	AroundUnit func(ctx context.Context, on, unit string, do func() (active bool, err error)) error

	written writeTimes
}

// A Service is a part of the site as data: its files and settings. What can be done with it
// while it runs is its Running.
type Service struct {
	// Host is the HostRef.Name of the host with its files; "" is this machine.
	Host   string
	Config string // its main configuration file
	// Engine and Address are those of Target.Services, for a service that is not listed
	// there because it does not run.
	Engine  iikanji.Engine
	Address string
	// Memory limits the data that a cache keeps, in bytes; 0 if unknown.
	Memory int64
	// DropIn is a file that the service reads after its main one and that only
	// iikanji writes; it may not exist yet.
	DropIn string
	// Public is the folder with the files that the app serves unchanged, at their
	// relative paths; "" if unknown.
	Public string
	// EnvFile has K=V lines that are read after the service's own environment at
	// each start. Only iikanji writes it; it may not exist yet.
	EnvFile string
	// ArgsFile has the command line, as a JSON list of its words, with which the service
	// is started in place of its own one. Only iikanji writes it; it may not exist yet. ""
	// where the command line cannot be changed.
	ArgsFile string
	// Env is the environment that the service has without EnvFile, as "K=V".
	// It may have secrets: values are used to plan and never shown.
	Env []string
	// LimitsFile has "name = value" lines of process limits that are applied at each
	// start of the service. Only iikanji writes it; it may not exist yet.
	LimitsFile string
	// EnableFile is for a service that runs on demand: Restart starts it if the file
	// exists and ends it otherwise. Only iikanji writes it; "" for other services.
	EnableFile string
	// Source is the folder of the service's source, which Restart builds if it has
	// changed; "" if unknown.
	Source string
	// SourceThere is the folder of the service's source on its host where no change may edit
	// it: kinds read how the service connects to others. "" where Source is known.
	SourceThere string
	// Mirror returns a folder of this machine with the files that Source has now, for a service
	// of another host; nil for one of this machine.
	Mirror func(ctx context.Context) (dir string, err error)
	// Package is the Go package of the program, relative to Source; "" for the folder
	// itself.
	Package string
	// Loads are the folders with the SQL files that the site's initialize loads, on the host
	// LoadsOn (HostRef.Name): they stay where they are when the service moves to another one.
	Loads   []string
	LoadsOn string
	// Files are the folders with the SQLite files that the app has in use. Originals is
	// the folder with the files that the site's initialize copies into them; "" if
	// there is none.
	Files     []string
	Originals string
	// What Running can do besides a restart: compile the source, test a configuration, and
	// load it without downtime.
	Builds, Checks, Reloads bool
	// Running is nil for a service of which only the files are known.
	Running Running
}

// A Running is a service that runs: what kinds of change ask of it, and how the executor
// makes it use its files. Arenas and live sites have an implementation each.
type Running interface {
	// Restart ends and starts the service, after it has built a source that has changed.
	// Reload loads the configuration without downtime. Both return once the service answers
	// with the new configuration.
	Restart(ctx context.Context) error
	Reload(ctx context.Context) error
	// CheckConfig has the service's program read the configuration whose main file is at
	// path, on its host. Its error has the program's output.
	CheckConfig(ctx context.Context, path string) error
	// Build compiles a copy of the source in dir, a folder of this machine. Its error has the
	// compiler's output. It changes nothing else.
	Build(ctx context.Context, dir string) error
	// Processes are the ids of the running root processes on its host; known is false where
	// nothing can be read back from them.
	Processes() (pids []int, known bool)
	// DB is a pool to a database server, with the rights to alter tables; nil for others.
	DB() *sql.DB
}

// Processes are those of Running.
func (s Service) Processes() (pids []int, known bool) {
	if s.Running == nil {
		return nil, false
	}
	return s.Running.Processes()
}

// DB is that of Running; nil for a service that does not run.
func (s Service) DB() *sql.DB {
	if s.Running == nil {
		return nil
	}
	return s.Running.DB()
}

var _ Hands = (*Site)(nil)

// On is the host of a name; "" is this machine.
func (s *Site) On(name string) (host.Host, error) {
	if h := s.Hosts[name]; h != nil {
		return h, nil
	}
	if name == "" {
		return host.Local{}, nil
	}
	return nil, fmt.Errorf("no host %q", name)
}

// RootsOn are the folders of a host under which files may be written.
func (s *Site) RootsOn(name string) []string {
	var roots []string
	for _, root := range s.Roots {
		if filepath.IsAbs(root) && name == "" {
			roots = append(roots, root)
		} else if on, path, ok := strings.Cut(root, ":"); ok && on == name && on != "" && filepath.IsAbs(path) {
			roots = append(roots, path)
		}
	}
	return roots
}

// State implements Hands.
func (s *Site) State(ctx context.Context, op iikanji.Op) (iikanji.Fingerprint, error) {
	switch op.Verb {
	case iikanji.Write, iikanji.Remove:
		b, err := s.readPlace(op)
		if err != nil {
			return "", err
		}
		if b == nil {
			return Absent, nil
		}
		return FingerprintOf(b), nil
	case iikanji.SQL:
		if OnFiles(op) {
			is, err := s.filesNow(ctx, op)
			return is.now, err
		}
		text, err := s.Content(ctx, op)
		if err == nil && text == "" { // there is no such table
			return Absent, nil
		}
		return FingerprintOf([]byte(text)), err
	case iikanji.Unit, iikanji.Place, iikanji.Account:
		now, _, err := s.orderNow(ctx, op)
		return now, err
	}
	return "", nil
}

// orderNow reads the state of a place that has an order: its fingerprint, and a text for
// people.
func (s *Site) orderNow(ctx context.Context, op iikanji.Op) (iikanji.Fingerprint, string, error) {
	switch op.Verb {
	case iikanji.Unit:
		return s.unitNow(ctx, op)
	case iikanji.Place:
		return s.placeNow(op)
	}
	return s.accountNow(ctx, op)
}

// Content implements Hands.
func (s *Site) Content(ctx context.Context, op iikanji.Op) (string, error) {
	if OnFiles(op) {
		is, err := s.filesNow(ctx, op)
		return is.content, err
	}
	if op.Verb == iikanji.SQL {
		text, err := s.onDatabase(ctx, op.Place, "")
		return text, s.lostBy(op, err)
	}
	if o, err := orderOf(op); err != nil {
		return "", err
	} else if o != nil {
		_, text, err := s.orderNow(ctx, op)
		return text, err
	}
	b, err := s.readPlace(op)
	return string(b), err
}

// readPlace reads the file of an op; nil if there is none. It follows no link: the
// places of a planned change have none.
func (s *Site) readPlace(op iikanji.Op) ([]byte, error) {
	h, err := s.On(op.Host)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", op.Place, err)
	}
	root, err := s.rootOf(h, op.Host, op.Place)
	if err != nil {
		return nil, err
	}
	return oldContent(op.Place, func() ([]byte, error) { return h.ReadBeneath(root, op.Place) })
}

// Perform implements Hands.
func (s *Site) Perform(ctx context.Context, op iikanji.Op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch op.Verb {
	case iikanji.Write, iikanji.Remove:
		h, err := s.On(op.Host)
		if err != nil {
			return err
		}
		root, err := s.rootOf(h, op.Host, op.Place)
		if err != nil {
			return err
		}
		if op.Verb == iikanji.Write {
			err = h.WriteBeneath(root, op.Place, []byte(op.Body), newFile(op))
			s.written.note(h, op)
		} else {
			err = h.RemoveBeneath(root, op.Place)
			if folder := filepath.Dir(op.Place); err == nil && op.Folder && folder != root {
				err = h.RmdirBeneath(root, folder)
			}
		}
		if err == nil && op.Host == "" && s.Placed != nil && s.isPlacement(op.Place) {
			s.Placed(ctx)
		}
		return err
	case iikanji.SQL:
		if OnFiles(op) {
			return s.performFiles(ctx, op)
		}
		_, err := s.onDatabase(ctx, op.Place, op.Body)
		return s.lostBy(op, err)
	case iikanji.Unit:
		return s.performUnit(ctx, op)
	case iikanji.Place:
		return s.performPlace(ctx, op)
	case iikanji.Account:
		return s.performAccount(ctx, op)
	case iikanji.Reload, iikanji.Restart:
		svc := s.Services[op.Place].Running
		if op.Place == Systemd && op.Host != "" || svc == nil && unitForm.MatchString(op.Place) {
			return s.noticeUnit(ctx, op)
		}
		if svc == nil {
			return fmt.Errorf("no service %q to %s", op.Place, op.Verb)
		}
		do := svc.Reload
		if op.Verb == iikanji.Restart {
			do = svc.Restart
		}
		if err := do(ctx); err != nil {
			return fmt.Errorf("%s of %s: %w", op.Verb, op.Place, err)
		}
		if op.Verb == iikanji.Restart {
			return s.reconnect(ctx, op.Place)
		}
		return nil
	}
	return fmt.Errorf("no executor for op %s", op.Verb)
}

// isPlacement reports whether a path without links is that of the placement.
func (s *Site) isPlacement(path string) bool {
	real, err := s.RealPlace("", s.Placement)
	return err == nil && s.Placement != "" && path == real
}

// reconnect restarts the apps after a restart of a database. Their pools hold
// connections that have ended with it, and many drivers notice that only at the next
// statement: the first requests would fail, and the change would be blamed.
func (s *Site) reconnect(ctx context.Context, service string) error {
	if svc, ok := s.Target.Service(service); !ok || svc.Role != iikanji.RoleDatabase {
		return nil
	}
	for _, app := range s.Target.WithRole(iikanji.RoleApp) {
		running := s.Services[app.Name].Running
		if running == nil {
			continue
		}
		if err := running.Restart(ctx); err != nil {
			return fmt.Errorf("restart of %s after that of %s: %w", app.Name, service, err)
		}
	}
	return nil
}

// newFile is what the file of an op gets if the op makes it.
func newFile(op iikanji.Op) host.New {
	as := host.New{Perm: 0o644, Folder: op.Folder}
	if op.Mode != 0 {
		as.Perm = modeOf(op.Mode)
	}
	if user, group, ok := strings.Cut(op.Owner, ":"); ok {
		uid, err := strconv.Atoi(user)
		gid, err2 := strconv.Atoi(group)
		if err == nil && err2 == nil {
			as.Owner = &host.Owner{UID: uid, GID: gid}
		}
	}
	return as
}

// special are the special bits of a mode, in the form of package fs and of chmod(2).
var special = []struct {
	mode fs.FileMode
	bit  uint32
}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}}

// modeOf is the mode of the bits of chmod(2), bitsOf the reverse.
func modeOf(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	for _, s := range special {
		if bits&s.bit != 0 {
			mode |= s.mode
		}
	}
	return mode
}

func bitsOf(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for _, s := range special {
		if mode&s.mode != 0 {
			bits |= s.bit
		}
	}
	return bits
}

// MayWrite refuses a path of a host that is outside of the roots, also by way of
// symbolic links.
func (s *Site) MayWrite(on, path string) error {
	h, err := s.On(on)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("%s is not a plain absolute path", path)
	}
	real, err := h.RealPath(path)
	if err != nil { // the file may not exist yet; its folder must
		dir, derr := h.RealPath(filepath.Dir(path))
		if derr != nil {
			return fmt.Errorf("finding the folder of %s: %w", path, derr)
		}
		real = filepath.Join(dir, filepath.Base(path))
	}
	_, err = s.rootOf(h, on, real)
	return err
}

// mayMake refuses a file whose missing folder is made with it, unless it is inside the roots.
func (s *Site) mayMake(h host.Host, op iikanji.Op) error {
	dir := filepath.Dir(op.Place)
	above, err := h.RealPath(filepath.Dir(dir))
	if err != nil {
		return fmt.Errorf("finding the folder of %s: %w", dir, err)
	}
	_, err = s.rootOf(h, op.Host, filepath.Join(above, filepath.Base(dir), filepath.Base(op.Place)))
	return err
}

// rootOf returns the folder of the target, by its path without links, that a path
// without links is beneath; for a file that is a root, the folder above its own one.
func (s *Site) rootOf(h host.Host, on, path string) (string, error) {
	for _, root := range s.RootsOn(on) {
		if host.OneFile(root) {
			if isFileRoot(h, root, path) {
				return filepath.Dir(filepath.Dir(path)), nil // its folder may have to be made
			}
			continue
		}
		real, err := h.RealPath(root)
		if lostIn(err) != nil {
			return "", fmt.Errorf("finding the folder of %s: %w", path, err)
		}
		if err == nil && strings.HasPrefix(path, strings.TrimSuffix(real, "/")+"/") {
			return real, nil
		}
	}
	return "", fmt.Errorf("%s is outside the folders of the target", path)
}

// Systemd is the place of a Reload that is a daemon-reload of the op's host. Site.Services has
// that of this machine under this name where systemd has booted it and the target may change
// units; it is no service of the target.
const Systemd = "systemd"
