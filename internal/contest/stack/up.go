package stack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// baseRoom is the disk space that must be free beforehand, for a build and for
// logs. New data folders need more, see engine.
const baseRoom = 40 << 20

// undoWait limits the cleanup after a failed start.
const undoWait = 30 * time.Second

// Up brings an arena up and returns when every service answers. After an error,
// also of ctx, nothing is left running. The caller must call Down on the Stack. ctx
// covers only the start.
func Up(ctx context.Context, a *arena.Arena, o Options) (_ *Stack, err error) {
	s := &Stack{options: o, dead: make(chan error, 16), procs: map[string]*process.Child{}, from: map[string]int64{}}
	if s.arena, err = a.Complete(); err != nil {
		return nil, err
	}
	s.ranks = ranksOf(s.arena.Services)
	if err := CheckEnv(o.Env); err != nil {
		return nil, fmt.Errorf("the app's environment: %w", err)
	}
	dir := o.Dir
	if dir == "" {
		if dir, err = DefaultDir(a.Name); err != nil {
			return nil, err
		}
	}
	s.dir = folder{root: dir} // until it is opened: a missing program leaves no folder behind
	if s.programs, err = findPrograms(s.Services(), o); err != nil {
		return nil, err
	}
	if s.dir, err = openFolder(dir, serviceAccount(), dataDirs(s.arena)); err != nil {
		return nil, err
	}
	if s.lock, err = s.dir.lock(ctx, stopTime(s.arena.Services), s.progress); err != nil {
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
	if s.control, err = process.Launch(ctx, process.Options{Dir: s.dir.root, Env: os.Environ(),
		Log:  s.dir.path(logDir, supervisorLog),
		Lock: s.lock, Record: s.dir.path(processesFile)}); err != nil {
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
	if err := errors.Join(f.cleanUp(ctx, s.progress), f.clearScratch(s.arena.Services)); err != nil {
		return nil, nil, err
	}
	need := int64(baseRoom)
	for _, svc := range s.Services() {
		if svc.Data != "" && (s.missing(svc.Data) || s.options.Fresh) {
			need += process.EngineOf(svc.Engine).Room
		}
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
		old, err := f.fresh(s.arena, m, &st)
		if err != nil {
			return nil, nil, err
		}
		if old != "" {
			s.progress("the earlier edits are in " + old)
		}
	}
	if err := f.prepare(ctx, s.arena.Services); err != nil {
		return nil, nil, err
	}
	if err := f.turnLogs(s.arena.Services); err != nil {
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

// come chooses ports and starts everything. If another process takes a port
// between the check and the service's listen, come tries another port.
func (s *Stack) come(ctx context.Context, st *state, m *manifest) error {
	avoid := map[int]bool{}
	pinned := len(st.Ports) > 0 && s.configEdited(m)
	for try := 1; ; try++ {
		err := s.configure(ctx, st, m, pinned, avoid)
		if err == nil {
			err = s.startAll(ctx, st)
		}
		var lost *PortError
		if err == nil || !errors.As(err, &lost) || pinned || lost.Service == s.arena.Entry && s.options.Port != 0 || try == 5 {
			return err
		}
		s.progress(err.Error() + ", choosing another one")
		avoid[lost.Port] = true
		for _, svc := range slices.Backward(s.arena.Services) {
			if err := s.control.Stop(ctx, svc.Name); err != nil {
				return err
			}
		}
	}
}

// configEdited reports whether the user edited a configuration, which may name
// ports.
func (s *Stack) configEdited(m *manifest) bool {
	for _, svc := range s.arena.Services {
		for _, c := range svc.Configs {
			if m.edited(confDir+"/"+c.File) && !s.missing(filepath.Join(confDir, c.File)) {
				return true
			}
		}
	}
	return false
}

// configure chooses the places and writes the configs that the user did not edit.
func (s *Stack) configure(ctx context.Context, st *state, m *manifest, pinned bool, avoid map[int]bool) error {
	f := s.dir
	if o := s.options.Port; pinned && o != 0 && o != st.Ports[s.arena.Entry] {
		return &PortError{Service: s.arena.Entry, Port: o, Edited: f.path(confDir)}
	}
	p, err := choosePorts(f.root, portKeys(s.arena.Services), portChoice{last: st.Ports, entry: s.arena.Entry, fixed: s.options.Port, must: pinned, avoid: avoid})
	if err != nil {
		return err
	}
	s.place(p)
	st.Ports, st.URL, st.Services = p, s.places.URL(), nil
	for _, svc := range s.Services() {
		if svc.IsProcess() {
			st.Services = append(st.Services, svc.Name)
		}
	}
	if err := s.makeCertificates(); err != nil {
		return err
	}
	m.kept = nil
	if err := errors.Join(s.writeConfigs(m), f.writeManifest(m), f.writeState(*st)); err != nil {
		return fmt.Errorf("writing the configs: %w", err)
	}
	if len(m.kept) > 0 {
		s.progress("keeping your edits of " + some(m.kept))
	}
	for _, svc := range s.Services() {
		if err := s.testConfig(ctx, &svc); err != nil {
			return err
		}
	}
	return nil
}

// place fills in where everything is.
func (s *Stack) place(p ports) {
	f := s.dir
	sockets, outside := f.socketFolder(s.arena.Services)
	s.outside = outside
	s.places = arena.Places{Dir: f.root, Conf: f.path(confDir), Webapp: f.path(webappDir), Run: f.path(runDir), Tmp: f.path(tmpDir),
		Logs: f.path(logDir), Entry: s.arena.Entry, Services: map[string]arena.Place{}}
	for _, svc := range s.arena.Services {
		d := svc.Database
		at := arena.Place{Name: svc.Name, Port: p[svc.Name], Ports: map[string]int{}, Binary: f.path(binDir, svc.Name),
			Logs: map[string]string{}, Schema: d.Name, User: d.User, Password: d.Password}
		if at.Port != 0 {
			at.Address = fmt.Sprintf("127.0.0.1:%d", at.Port)
		}
		if svc.TLS {
			at.TLS, at.Cert, at.Key = true, f.path(runDir, svc.Name+".crt"), f.path(runDir, svc.Name+".key")
		}
		for _, name := range svc.Ports {
			at.Ports[name] = p[furtherPort(svc.Name, name)]
		}
		if svc.Socket != "" {
			at.Socket = filepath.Join(sockets, svc.Socket)
		}
		if main := svc.MainConfig(); main != "" {
			at.Config = f.path(confDir, main)
		}
		if svc.DropIns != "" {
			at.DropIns = f.path(confDir, svc.DropIns)
		}
		if svc.Data != "" {
			at.Data = f.path(svc.Data)
		}
		for _, l := range svc.Logs {
			at.Logs[l.Kind] = f.path(logDir, l.File)
		}
		s.places.Services[svc.Name] = at
	}
}

// writeConfigs renders the configs and writes those that the user did not edit.
func (s *Stack) writeConfigs(m *manifest) error {
	for i := range s.arena.Services {
		svc := &s.arena.Services[i]
		for _, c := range svc.Configs {
			body, err := s.config(svc, c)
			if err != nil {
				return err
			}
			if err := s.dir.put(m, confDir+"/"+c.File, body, fromConf); err != nil {
				return err
			}
		}
		if process.EngineOf(svc.Engine).InitSQL {
			if err := s.writeInitSQL(svc); err != nil {
				return err
			}
		}
	}
	return nil
}

// startAll starts the services in the arena's order. Those before the first one
// that is built start while the sources are being built.
func (s *Stack) startAll(ctx context.Context, st *state) error {
	for _, svc := range s.Services() {
		if svc.Data != "" && s.missing(svc.Data) {
			clear(st.Loaded)
		}
	}
	both, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var sums map[string]string
	built := make(chan error, 1)
	go func() {
		var err error
		if sums, err = s.buildChanged(both, st.Built); err != nil {
			cancel(err)
		}
		built <- err
	}()
	wait := sync.OnceValue(func() error {
		if err := <-built; err != nil {
			return err
		}
		maps.Copy(st.Built, sums)
		return s.dir.writeState(*st)
	})
	err := s.startEach(both, st, wait)
	if err != nil {
		cancel(err)
	}
	if buildErr := wait(); buildErr != nil || err != nil {
		return context.Cause(both) // the first error; it caused the other one by cancelling both
	}
	return nil
}

// startEach makes the data folder of each service, loads its data and starts it.
// The first service with a build command waits for all builds.
func (s *Stack) startEach(ctx context.Context, st *state, built func() error) error {
	for _, svc := range s.Services() {
		if len(svc.Build) > 0 {
			if err := built(); err != nil {
				return err
			}
		}
		if err := s.setUp(ctx, &svc); err != nil {
			return err
		}
		if err := s.load(ctx, &svc, st); err != nil {
			return err
		}
		if !svc.IsProcess() {
			continue
		}
		s.progress("starting the " + svc.Name)
		if _, err := s.start(ctx, &svc); err != nil {
			return err
		}
	}
	return nil
}
