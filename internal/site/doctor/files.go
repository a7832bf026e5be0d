package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
)

// folders checks the folders in which files are written.
func (d *round) folders() {
	const name = "folder of changes"
	if d.File.ProgramOnly() {
		return // only the file with the values of parameters is written
	}
	if len(d.File.Policy.Folders) == 0 {
		d.bad(Warning, "", name, "fill in folders below [policy]", "no folder is given: no file can be changed")
	}
	for _, folder := range d.File.Policy.Folders {
		on, dir := d.place(folder)
		if err := writable(on, dir); err != nil {
			d.bad(Failed, "", name, "run iikanji as a user that may write there, or take the folder out of [policy]", "%s: %v", folder, err)
		} else {
			d.ok("", name, "%s can be written", folder)
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(d.Dir), 0o755), os.MkdirAll(d.Dir, 0o700)); err != nil {
		d.bad(Failed, "", "work folder", "choose another one with --dir", "%v", err)
	}
}

// writableFile checks one file that may be written. It and its folder need not exist yet.
func writableFile(on host.Host, file string) error {
	dir := filepath.Dir(file)
	if _, err := on.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		dir = filepath.Dir(dir)
	}
	return writable(on, dir)
}

// writable checks an entry of the folders in which files are written.
func writable(on host.Host, dir string) error {
	info, err := on.Stat(dir)
	if host.OneFile(dir) && (errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular()) {
		return writableFile(on, dir)
	}
	if err != nil {
		return plain(err)
	}
	if !info.IsDir() {
		return errors.New("it is no folder")
	}
	if host.WorkerOf(on) != nil { // its far end is root, or refuses to start
		return nil
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return errors.New("it cannot be written by this user")
	}
	return nil
}

// plain is an error without the path, which the check shows.
func plain(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("it does not exist")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("it may not be read by this user")
	}
	return err
}

// running finds the process of each service.
func (d *round) running() {
	m, unread := d.m, d.unread
	for _, name := range slices.Sorted(maps.Keys(unread)) {
		d.bad(Failed, "", "processes", "mend the way to the machine, and run doctor again", "%v", unread[name])
	}
	down, err := livesite.Outages(d.Hosts, d.File, d.Dir)
	if err != nil {
		d.bad(Failed, "", "services that are down", "remove the folder down of the work folder", "%v", err)
	}
	for i := range d.File.Services {
		s := &d.File.Services[i]
		if s.InFiles() {
			continue
		}
		if unread[s.Host] != nil {
			continue
		}
		p, err := livesite.Find(m[s.Host], s)
		if err != nil {
			if i := slices.IndexFunc(down, func(o *livesite.Outage) bool { return o.Service == s.Name }); i >= 0 {
				err = down[i]
			}
			d.bad(Failed, s.Name, "process", remedyOf(err, "start the service"), "%v", err)
			continue
		}
		d.ok(s.Name, "process", "%d, %s%s", p.PID, p.Program, onMachine(s))
		if s.Host == "" && s.Method() == target.ByProcess && p.UID != os.Geteuid() && os.Geteuid() != 0 {
			d.bad(Failed, s.Name, "right", "run iikanji as root, or give commands for this service", "another user's process (uid %d) cannot be restarted by this user", p.UID)
		}
		if p.Deleted {
			d.bad(Warning, s.Name, "program", "restart the service, or build the program again", "the program was replaced since the process started")
		}
	}
}

// paths checks the files that the services name.
func (d *round) paths() {
	for i := range d.File.Services {
		s := &d.File.Services[i]
		d.path(s, "config", s.Config, "correct config", false)
		d.path(s, "program", s.Program, "correct program", false)
		d.path(s, "app.source", s.App.Source, "correct app.source, or leave it out", false)
		d.path(s, "public", s.Public, "correct public, or leave it out", false)
		d.path(s, "logs.error", s.Logs.Error, "correct logs.error", true)
		for _, dir := range s.Database.Loads {
			d.path(s, "database.schema_folders", dir, "correct database.schema_folders", false)
		}
		for _, dir := range s.Database.Files {
			d.path(s, "database.files", dir, "correct database.files", false)
		}
		d.path(s, "database.originals", s.Database.Originals, "correct database.originals, or leave it out", false)
		if s.DropIn != "" {
			d.path(s, "folder of drop_in", filepath.Dir(s.DropIn), "make the folder, or correct drop_in", false)
		}
		config := s.Config
		if s.Engine.MySQLFamily() && s.DropIn != "" { // its settings are written into the drop-in alone
			config = ""
		}
		for _, path := range append([]string{config, s.DropIn, s.App.Source, s.Database.Originals}, s.Database.Files...) {
			if path != "" && !d.inside(s, path) {
				d.bad(Warning, s.Name, "folder of changes", "add its folder to folders below [policy]", "%s is in no folder in which files may be changed", path)
			}
		}
	}
}

// path checks that a file or folder is there and can be read.
func (d *round) path(s *target.Service, name, path, remedy string, mayMiss bool) {
	if path == "" {
		return
	}
	service := s.Name
	f, err := d.on(s).Open(path)
	if err == nil {
		_ = f.Close()
		d.ok(service, name, "%s", path)
		return
	}
	state := Failed
	if mayMiss {
		state = Warning
	}
	d.bad(state, service, name, remedy, "%s: %v", path, plain(err))
}

// on is the machine of a service.
func (d *round) on(s *target.Service) host.Host { return d.Hosts.On(s.Host) }

// onMachine says on which machine a service runs, "" for this one.
func onMachine(s *target.Service) string {
	if s.Host == "" {
		return ""
	}
	return ", on " + s.Host
}

// place is the machine and the path of a folder of [policy], which is NAME:/FOLDER on
// another machine.
func (d *round) place(folder string) (on host.Host, dir string) {
	name, dir, far := strings.Cut(folder, ":")
	if !far || filepath.IsAbs(folder) {
		name, dir = "", folder
	}
	return d.Hosts.On(name), dir
}

// inside reports whether a path of a service, without links, is in one of the folders of
// its machine.
func (d *round) inside(s *target.Service, path string) bool {
	own := d.on(s)
	real, err := own.RealPath(path)
	if err != nil {
		real = path
	}
	return slices.ContainsFunc(d.File.Policy.Folders, func(folder string) bool {
		on, dir := d.place(folder)
		if on.Name() != own.Name() {
			return false
		}
		if r, err := on.RealPath(dir); err == nil {
			dir = r
		}
		return real == dir || strings.HasPrefix(real, dir+string(filepath.Separator))
	})
}

// open opens the site, which logs in to its databases.
func (d *round) open(ctx context.Context) {
	s, err := livesite.Open(ctx, livesite.Options{File: d.File, Dir: d.Dir, Hosts: d.Hosts})
	if err != nil {
		d.bad(Failed, "", "site", remedyOf(err, "fill in database.user and database.password with an account that the server accepts"), "%v", err)
		return
	}
	d.s = s
}

// configs has the services' programs test their configuration.
func (d *round) configs(ctx context.Context) {
	for i := range d.File.Services {
		s := &d.File.Services[i]
		if s.Config == "" && s.Commands.Test == "" || s.Role == iikanji.RoleApp {
			continue
		}
		if s.Engine.MySQLFamily() && s.Commands.Test == "" && !ownDefaults(d.m[s.Host], s) {
			continue // the file is one of several, which the server reads in its own order
		}
		if err := d.s.CheckConfig(ctx, s.Name, s.Config); err != nil {
			d.bad(Failed, s.Name, "configuration test", remedyOf(err, "correct the configuration; iikanji changes it only if it is right before"), "%v", err)
			continue
		}
		d.ok(s.Name, "configuration test", "%s is accepted", s.Config)
	}
}

// ownDefaults reports whether a database reads its configuration file alone.
func ownDefaults(m *process.Machine, s *target.Service) bool {
	p, err := livesite.Find(m, s)
	return err == nil && slices.Contains(p.Args, "--defaults-file="+s.Config)
}

// logs checks that the access logs can be read, by their last lines.
func (d *round) logs(ctx context.Context) {
	const name = "access log"
	for i := range d.File.Services {
		s := &d.File.Services[i]
		if s.Role != iikanji.RoleWeb {
			continue
		}
		ours := s.Engine == iikanji.EngineNginx // of others iikanji does not edit the configuration
		if s.Logs.Access == "" && !ours {
			d.bad(Warning, s.Name, name, "have it write one with times, "+target.TimedLog(s.Engine)+", and fill in logs.access", "there is none: no request is seen")
			continue
		}
		if s.Logs.Access == "" {
			d.bad(Warning, s.Name, name, "", "there is none; iikanji turns one on while it observes")
			continue
		}
		format, entries, timed, err := formatOf(ctx, d.on(s), s.Logs.Access)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			d.bad(Warning, s.Name, name, "correct logs.access if the web server writes it elsewhere", "%s does not exist yet", s.Logs.Access)
		case err != nil:
			d.bad(Failed, s.Name, name, "correct logs.access, or use a known format (docs/access.md)", "%s: %v", s.Logs.Access, err)
		case entries == 0:
			d.ok(s.Name, name, "%s is empty", s.Logs.Access)
		case !timed && !ours:
			d.bad(Warning, s.Name, name, "write "+target.TimedLog(s.Engine), "%s, %s: it has no times of requests, so that slow ones are not found", s.Logs.Access, format)
		case !timed:
			d.bad(Warning, s.Name, name, "", "%s, %s: it has no times of requests; iikanji turns on a timed log beside it while it observes", s.Logs.Access, format)
		default:
			d.ok(s.Name, name, "%s, %s", s.Logs.Access, format)
		}
	}
}

// lastBytes is how much of a log is read to recognize its format.
const lastBytes = 256 << 10

// formatOf recognizes the format of a log by its end.
func formatOf(ctx context.Context, on host.Host, path string) (format string, entries int64, timed bool, err error) {
	f, err := on.Open(path)
	if err != nil {
		return "", 0, false, err
	}
	info, err := f.Stat()
	if err != nil {
		return "", 0, false, errors.Join(err, f.Close())
	}
	in, err := lines.File(path, f)
	if err != nil {
		return "", 0, false, errors.Join(err, f.Close())
	}
	defer in.Close()
	if from := info.Size() - lastBytes; from > 0 {
		if err := in.SeekTo(from); err != nil {
			return "", 0, false, err
		}
	}
	if info.Size() == 0 {
		return "", 0, false, nil
	}
	p, err := accesslog.Read(ctx, []*lines.Input{in}, accesslog.Options{})
	if err != nil {
		return "", 0, false, err
	}
	for _, r := range p.Rows {
		timed = timed || r.Total > 0
	}
	if p.Intake.Lines == 0 || p.Intake.Bad*2 > p.Intake.Lines {
		return "", p.Intake.Lines, false, fmt.Errorf("%d of %d lines are in no known format", p.Intake.Bad, p.Intake.Lines)
	}
	return p.Intake.Format, p.Intake.Lines, timed, nil
}

// sources checks that programs can be built.
func (d *round) sources(ctx context.Context) {
	for i := range d.File.Services {
		s := &d.File.Services[i]
		if s.App.Source == "" {
			continue
		}
		svc := d.s.Site().Services[s.Name]
		if s.Host != "" && svc.Running != nil && !svc.Builds {
			d.ok(s.Name, "build", "the source is on %s: a person builds it there", s.Host)
			continue
		}
		if !svc.Builds && (s.Engine == iikanji.EnginePython || s.Engine == iikanji.EngineRuby) {
			d.ok(s.Name, "build", "the source is in %s, which is not compiled", s.Engine)
			continue
		}
		if !svc.Builds {
			d.bad(Warning, s.Name, "build", "fill in app.build if the source is compiled", "no command builds the program: source edits take effect with a restart alone")
			continue
		}
		if _, err := exec.LookPath("go"); err != nil && s.Engine == iikanji.EngineGo && s.App.Build == "" {
			d.bad(Failed, s.Name, "build", "install Go, or add its bin folder to PATH", "the go command is not in PATH")
			continue
		}
		dir, err := svc.Readable(ctx, s.App.Source)
		if err == nil {
			err = svc.Running.Build(ctx, dir)
		}
		if err != nil {
			d.bad(Failed, s.Name, "build", "correct app.source and app.package, or give app.build", "%v", err)
			continue
		}
		d.ok(s.Name, "build", "the source in %s compiles", s.App.Source)
	}
}
