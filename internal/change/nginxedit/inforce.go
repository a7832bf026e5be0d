package nginxedit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// workersWait is how long new workers may take to start and to set their limits.
const workersWait = 5 * time.Second

// Workers are a change's settings of the workers; 0 for what it does not set.
type Workers struct{ Processes, Descriptors int }

// InForce returns an error unless the running nginx reads the service's
// configuration, its workers were started after the files of the change were
// written, and they are as the change sets them. nginx cannot be asked for its
// settings: its workers have those of the files as they were when it started them.
func InForce(ctx context.Context, s *change.Site, service string, c *iikanji.Change, want Workers) error {
	svc, ok := s.Services[service]
	if !ok {
		return fmt.Errorf("no service %q", service)
	}
	if _, known := svc.Processes(); !known {
		return nil
	}
	h, err := s.On(svc.Host)
	if err != nil {
		return err
	}
	for end := time.Now().Add(workersWait); ; {
		err := running(s, h, svc, c, want)
		if err == nil || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// running is InForce at one time.
func running(s *change.Site, h host.Host, svc change.Service, c *iikanji.Change, want Workers) error {
	pids, _ := svc.Processes()
	master, workers, err := processes(h, pids)
	if err != nil {
		return err
	}
	errs := []error{sameConfig(h, svc.Config, master)}
	for _, op := range c.Do {
		at, known := s.WrittenAt(op)
		if op.Verb != iikanji.Write || op.Host != svc.Host || !known {
			continue
		}
		for _, w := range workers {
			if w.SinceBoot() < at {
				errs = append(errs, fmt.Errorf("worker %d was started before %s was written, and has the settings of before", w.PID, op.Place))
			}
		}
	}
	if n := want.Processes; n > 0 && n != len(workers) {
		errs = append(errs, fmt.Errorf("%d workers run, and worker_processes was set to %d", len(workers), n))
	}
	for _, w := range workers {
		if n := want.Descriptors; n > 0 {
			errs = append(errs, descriptors(h, w.PID, n))
		}
	}
	return errors.Join(errs...)
}

// processes are nginx's master and the workers that accept connections. pids are the
// root processes of the service: the master, or a process that started it.
func processes(h host.Host, pids []int) (master hostproc.Stat, workers []hostproc.Stat, err error) {
	if len(pids) == 0 {
		return master, nil, errors.New("nginx does not run")
	}
	for _, pid := range pids {
		if master, err = hostproc.ReadStat(h, pid); err != nil {
			return master, nil, err
		}
		all, err := hostproc.Stats(h)
		if err != nil {
			return master, nil, err
		}
		for _, p := range all {
			title, _ := hostproc.Title(h, p.PID) // "" for one that has ended
			if p.Parent == pid && strings.Contains(title, ": worker process") && !strings.Contains(title, "shutting down") {
				workers = append(workers, p)
			}
		}
		if len(workers) > 0 {
			return master, workers, nil
		}
	}
	return master, nil, fmt.Errorf("process %d has no worker that accepts connections", pids[0])
}

// sameConfig refuses a master that was started with another main file. A master
// without "-c" reads the file that was compiled into it.
func sameConfig(h host.Host, config string, master hostproc.Stat) error {
	title, err := hostproc.Title(h, master.PID)
	if err != nil {
		return err
	}
	words := strings.Fields(title)
	path, prefix := option(words, "-c"), option(words, "-p")
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(prefix, path)
	}
	if !filepath.IsAbs(path) { // below a folder that the command line does not name
		return nil
	}
	is, err := h.RealPath(path)
	if errors.Is(err, fs.ErrNotExist) { // the process has a root folder of its own
		return nil
	} else if err != nil {
		return fmt.Errorf("finding the configuration of process %d: %w", master.PID, err)
	}
	want, err := h.RealPath(config)
	if err != nil {
		return fmt.Errorf("finding the configuration: %w", err)
	}
	if is != want {
		return fmt.Errorf("process %d reads %s, and the settings are in %s", master.PID, is, want)
	}
	return nil
}

// option is the value of an option of a command line, behind it or attached to it.
func option(words []string, name string) string {
	for i, w := range words {
		if value, ok := strings.CutPrefix(w, name); ok && value != "" {
			return value
		}
		if w == name && i+1 < len(words) {
			return words[i+1]
		}
	}
	return ""
}

// descriptors compares the limit of open files of a worker. nginx goes on with the
// old limit, and only logs that, if it may not set another one.
func descriptors(h host.Host, pid, want int) error {
	limits, err := hostproc.Limits(h, pid)
	if err != nil {
		return fmt.Errorf("reading the limits of a worker: %w", err)
	}
	for _, l := range limits { // a system that does not show the limit passes
		if l.Name == "nofile" && l.Soft != strconv.Itoa(want) {
			return fmt.Errorf("worker %d may open %s files, and worker_rlimit_nofile was set to %d", pid, l.Soft, want)
		}
	}
	return nil
}
