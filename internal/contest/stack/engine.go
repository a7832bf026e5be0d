package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
)

// An engine is what a service's software needs besides the commands and the files
// that the arena declares. A service of any other engine needs none of it.
type engine struct {
	programs []string // further programs
	room     int64    // bytes of disk space for a new data folder
	// setUp makes the data folder if it is missing.
	setUp func(s *Stack, ctx context.Context, svc *arena.Service) error
	// configure writes files beside the configurations.
	configure func(s *Stack, svc *arena.Service) error
	// ping replaces the readiness check that the arena declares.
	ping func(ctx context.Context, at arena.Place) error
	// stopWhenReady: a service that gets a stop signal before it is ready can hang, so a start
	// that is cancelled waits at most this long for it to be ready.
	stopWhenReady time.Duration
	// check tests the drop-in file at path, see Checker.
	check func(s *Stack, ctx context.Context, svc *arena.Service, path string) error
}

// engineOf is zero for most engines. MariaDB's own files take 130 MB; its
// temporary tablespace needs more. A MariaDB that gets SIGTERM before it is ready
// can hang until it is killed.
func engineOf(svc *arena.Service) engine {
	switch svc.Engine {
	case iikanji.EngineMariaDB:
		return engine{programs: []string{installDB}, room: 260 << 20, setUp: (*Stack).setUpMariaDB, configure: (*Stack).writeInitSQL,
			ping: pingMariaDB, stopWhenReady: 5 * time.Second, check: (*Stack).checkMariaDB}
	}
	return engine{}
}

// setUp makes a service's data folder if it is missing.
func (s *Stack) setUp(ctx context.Context, svc *arena.Service) error {
	if svc.Data == "" {
		return nil
	}
	if do := engineOf(svc).setUp; do != nil {
		return do(s, ctx, svc)
	}
	dir := s.dir.path(svc.Data)
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		return s.dir.reown(dir, info)
	}
	if err = errors.Join(err, os.Chmod(dir, 0o755), s.dir.as.own(dir)); err != nil {
		return fmt.Errorf("making the data folder of the %s: %w", svc.Name, err)
	}
	return nil
}
