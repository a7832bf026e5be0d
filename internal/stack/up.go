package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/arena"
)

// Disk space that must be free beforehand. MariaDB's own files take 130 MB; the
// build and the temporary tablespace need more. An existing folder has most of
// this already.
const (
	firstRoom = 300 << 20
	laterRoom = 40 << 20
)

// undoWait limits the cleanup after a failed start.
const undoWait = 30 * time.Second

// Up brings an arena up and returns when every service answers. After an error,
// also of ctx, nothing is left running. The caller must call Down on the Stack. ctx
// covers only the start.
func Up(ctx context.Context, a *arena.Arena, o Options) (_ *Stack, err error) {
	s := &Stack{arena: a, options: o, dead: make(chan error, 16), procs: map[string]*process{}, from: map[string]int64{}}
	if err := CheckEnv(o.Env); err != nil {
		return nil, fmt.Errorf("the app's environment: %w", err)
	}
	if s.programs, err = findPrograms(a, o); err != nil {
		return nil, err
	}
	dir := o.Dir
	if dir == "" {
		if dir, err = DefaultDir(a.Name); err != nil {
			return nil, err
		}
	}
	if s.dir, err = openFolder(dir, serviceAccount()); err != nil {
		return nil, err
	}
	if s.lock, err = s.dir.lock(ctx, s.progress); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(s.dir.full(err, ""), s.undo(ctx))
		}
	}()
	st, m, err := s.layOut(ctx)
	if err != nil {
		return nil, err
	}
	if s.control, err = newControl(ctx, s.dir.root, s.dir.path(logDir, supervisorLog), s.lock); err != nil {
		return nil, err
	}
	if err := s.come(ctx, st, m); err != nil {
		return nil, err
	}
	for _, p := range s.running() {
		s.watch(p)
	}
	return s, nil
}

// undo stops everything and releases the lock.
func (s *Stack) undo(ctx context.Context) error {
	if s.control == nil {
		return s.lock.Close()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWait)
	defer cancel()
	return s.Down(ctx)
}

// layOut prepares the folder for the services: it removes what a crashed instance
// left, lays out the arena's files and data, and starts new logs.
func (s *Stack) layOut(ctx context.Context) (*state, *manifest, error) {
	f := s.dir
	if err := errors.Join(f.cleanUp(ctx, s.progress), f.clearScratch()); err != nil {
		return nil, nil, err
	}
	need := int64(laterRoom)
	if _, err := os.Stat(f.path(mariadbDir)); err != nil || s.options.Fresh {
		need = firstRoom
	}
	if err := f.room(need); err != nil {
		return nil, nil, err
	}
	st, err := f.readState(s.arena)
	if err != nil {
		return nil, nil, err
	}
	m, err := f.readManifest()
	if err != nil {
		return nil, nil, err
	}
	if s.options.Fresh {
		old, err := f.fresh(m, &st)
		if err != nil {
			return nil, nil, err
		}
		if old != "" {
			s.progress("the earlier edits are in " + old)
		}
	}
	if err := f.prepare(ctx); err != nil {
		return nil, nil, err
	}
	if err := f.turnLogs(); err != nil {
		return nil, nil, err
	}
	return &st, m, s.layAll(ctx, &st, m)
}

// layAll lays out files and generated data, and reports the files it left unchanged.
func (s *Stack) layAll(ctx context.Context, st *state, m *manifest) error {
	f := s.dir
	err := f.layFiles(ctx, s.arena, m)
	if err == nil && (st.Generated != s.arena.GeneratedVersion || s.missing(dataDir)) && s.arena.Generate != nil {
		s.progress("generating the initial data")
		if err = f.generate(ctx, s.arena, m); err == nil {
			st.Generated = s.arena.GeneratedVersion
		}
	}
	// Also after an error: the files laid out so far must be recorded.
	if err := errors.Join(err, f.writeManifest(m), f.writeState(*st)); err != nil {
		return err
	}
	if len(m.kept) > 0 {
		s.progress("keeping your edits of " + some(m.kept))
	}
	if len(m.stale) > 0 {
		s.progress("the arena has newer versions of " + some(m.stale) + " (--fresh installs them)")
	}
	return nil
}

func (s *Stack) missing(name string) bool {
	_, err := os.Stat(s.dir.path(name))
	return err != nil
}

// some lists the first few names.
func some(names []string) string {
	const few = 4
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// come chooses ports and starts everything. If another process takes a port
// between the check and the service's listen, come tries another port.
func (s *Stack) come(ctx context.Context, st *state, m *manifest) error {
	avoid := map[int]bool{}
	pinned := st.Ports != ports{} && (m.edited(confDir+"/"+nginxConf) && !s.missing(filepath.Join(confDir, nginxConf)) ||
		m.edited(confDir+"/"+myCnf) && !s.missing(filepath.Join(confDir, myCnf)))
	for try := 1; ; try++ {
		err := s.configure(ctx, st, m, pinned, avoid)
		if err == nil {
			err = s.startAll(ctx, st)
		}
		var lost *PortError
		if err == nil || !errors.As(err, &lost) || pinned || lost.Service == Nginx && s.options.Port != 0 || try == 5 {
			return err
		}
		s.progress(err.Error() + ", choosing another one")
		avoid[lost.Port] = true
		for _, service := range []string{Nginx, App, Database} {
			if err := s.control.stop(ctx, service); err != nil {
				return err
			}
		}
	}
}

// configure chooses the places and writes the configs that the user did not edit.
func (s *Stack) configure(ctx context.Context, st *state, m *manifest, pinned bool, avoid map[int]bool) error {
	f, d := s.dir, s.arena.Database
	if o := s.options.Port; pinned && o != 0 && o != st.Ports.Nginx {
		return &PortError{Service: Nginx, Port: o, Edited: f.path(confDir)}
	}
	p, err := choosePorts(f.root, st.Ports, s.options.Port, pinned, avoid)
	if err != nil {
		return err
	}
	st.Ports = p
	socket, outside := f.databaseSocket()
	s.outside = outside
	s.places = arena.Places{Dir: f.root, Conf: f.path(confDir), Webapp: f.path(webappDir), NginxPort: p.Nginx, AppPort: p.App, DBPort: p.Database,
		DBSocket: socket, AccessLog: f.path(logDir, accessLog), ErrorLog: f.path(logDir, errorLog), Run: f.path(runDir),
		DBName: d.Name, DBUser: d.User, DBPassword: d.Password}
	conf, err := s.renderNginx()
	if err != nil {
		return err
	}
	m.kept = nil
	err = errors.Join(f.put(m, confDir+"/"+nginxConf, conf, fromConf), f.put(m, confDir+"/"+myCnf, s.databaseConf(), fromConf), s.writeInitSQL())
	if err := errors.Join(err, f.writeManifest(m), f.writeState(*st)); err != nil {
		return fmt.Errorf("writing the configs: %w", err)
	}
	if len(m.kept) > 0 {
		s.progress("keeping your edits of " + some(m.kept))
	}
	return s.testNginx(ctx)
}

// startAll sets up and starts the database while the app is being built, then
// starts app and nginx.
func (s *Stack) startAll(ctx context.Context, st *state) error {
	if s.missing(mariadbDir) {
		st.Loaded = ""
	}
	both, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	built := make(chan error, 1)
	var sum string
	go func() {
		var err error
		if sum, err = s.dir.ensureApp(both, s.control, s.arena.App.Source, s.options, st.Source, s.progress); err != nil {
			cancel(err)
		}
		built <- err
	}()
	err := s.initDatabase(both)
	if err == nil {
		s.progress("starting the database")
		_, err = s.start(both, Database)
	}
	if err != nil {
		cancel(err)
	}
	if buildErr := <-built; buildErr != nil || err != nil {
		return context.Cause(both) // the first error; it caused the other one by cancelling both
	}
	st.Source = sum
	if err := s.dir.writeState(*st); err != nil {
		return err
	}
	if err := s.load(ctx, st); err != nil {
		return err
	}
	s.progress("starting the app and nginx")
	if _, err := s.start(ctx, App); err != nil {
		return err
	}
	_, err = s.start(ctx, Nginx)
	return err
}
