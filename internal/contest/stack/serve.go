package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// servesName is the name under which this program is started as a service of a stack.
const servesName = "iikanji-service"

// A serving is what such a process is told.
type serving struct {
	Arena   string       `json:"arena"`
	Service string       `json:"service"`
	Places  arena.Places `json:"places"`
}

// MaybeSupervise is process.MaybeSupervise, and the same for services that are a part of this
// program. Call it first in main, and in an init of tests that bring a stack up.
func MaybeSupervise() {
	process.MaybeSupervise()
	if len(os.Args) != 2 || os.Args[0] != servesName {
		return
	}
	if err := serve(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "iikanji: serving: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve is the life of a service that is a part of this program.
func serve(told string) error {
	var what serving
	if err := json.Unmarshal([]byte(told), &what); err != nil {
		return err
	}
	a, ok := arena.Find(what.Arena)
	if !ok {
		return fmt.Errorf("there is no arena %q", what.Arena)
	}
	for _, svc := range a.Services {
		if svc.Name == what.Service && svc.Serve != nil {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return svc.Serve(ctx, what.Places)
		}
	}
	return fmt.Errorf("arena %s serves no %q itself", what.Arena, what.Service)
}

// serves is the command of a service that is a part of this program. Its program is a copy in
// the work folder: the services' account may not reach the original.
func (s *Stack) serves(svc *arena.Service) (path string, args []string, err error) {
	path = s.places.Service(svc.Name).Binary
	if err := copySelf(path); err != nil {
		return "", nil, fmt.Errorf("copying this program for the %s: %w", svc.Name, err)
	}
	told, err := json.Marshal(serving{s.arena.Name, svc.Name, s.places})
	if err != nil {
		return "", nil, fmt.Errorf("describing the %s: %w", svc.Name, err)
	}
	return path, []string{servesName, string(told)}, nil
}

// copySelf copies this program, unless the file has it already. A file that runs is replaced,
// not written.
func copySelf(path string) error {
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	is, err := self.Stat()
	if err != nil {
		return err
	}
	if has, err := os.Stat(path); err == nil && has.Size() == is.Size() && has.ModTime().Equal(is.ModTime()) {
		return nil
	}
	tmp := path + unfinished
	to, err := os.OpenFile(tmp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, self)
	if err = errors.Join(err, to.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return errors.Join(os.Chtimes(tmp, is.ModTime(), is.ModTime()), os.Rename(tmp, path))
}

// Program implements arena.Here.
func (s *Stack) Program(service string) (arena.Program, error) {
	svc, err := s.find(service)
	if err != nil {
		return arena.Program{}, fmt.Errorf("running %w", err)
	}
	sp, err := s.specOf(svc)
	if err != nil {
		return arena.Program{}, fmt.Errorf("running the %s: %w", service, err)
	}
	sp = s.dropped(sp)
	return arena.Program{Path: sp.Path, Args: sp.Args[1:], Dir: sp.Dir, Env: process.LastWins(sp.Env), UID: sp.UID, GID: sp.GID}, nil
}

var _ arena.Here = (*Stack)(nil)
