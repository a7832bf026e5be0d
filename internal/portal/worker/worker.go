package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// Options are for New.
type Options struct {
	URL   string // of the portal
	Token string
	Name  string
	Slots int
	// Dir keeps the worker's id and its spool.
	Dir     string
	Program string // iikanji itself: benchmarker of arenas, and guard
	Version string
	Log     *slog.Logger
	// Unconfined runs foreign benchmarkers without a sandbox.
	Unconfined bool
	// Confined runs every benchmarker in the sandbox, also those of local contests.
	Confined bool
	// Read are files and folders that foreign benchmarkers may read.
	Read []string
	// Memory is what a foreign benchmarker may use, in bytes; 0 for 2 GiB.
	Memory int64
	// Generators are commands that start iikanji on further machines, which send the load of a
	// problem with shards together with this one.
	Generators []string
	// Faster divides the intervals of heartbeats: for tests.
	Faster int
}

const (
	beatEvery  = 5 * time.Second
	beatLimit  = 4 * time.Second // of one call
	silentStop = 12 * time.Second
	nextLimit  = 40 * time.Second // a portal holds a request for 25 s
	retryEvery = time.Second
	sendFor    = 24 * time.Hour
)

// A Worker makes attempts.
type Worker struct {
	o      Options
	id     string
	boot   string
	client *client
	spool  *spool
	lock   *os.File // of the folder, held by this process and by its guards
	// missing is what this machine lacks for a sandbox; "" for nothing.
	missing string

	mu    sync.Mutex
	taken map[int]bool // ports for callbacks of the runs that are on
}

// New opens a worker's folder.
func New(o Options) (*Worker, error) {
	if o.Slots < 1 {
		o.Slots = 1
	}
	if o.Faster < 1 {
		o.Faster = 1
	}
	s, err := openSpool(filepath.Join(o.Dir, "spool"))
	if err != nil {
		return nil, err
	}
	w := &Worker{o: o, boot: rand.Text(), client: newClient(o.URL, o.Token), spool: s, taken: map[int]bool{}}
	if w.id, err = keptID(filepath.Join(o.Dir, "id")); err != nil {
		return nil, err
	}
	return w, nil
}

// keptID is the worker's id: it stays the same after a restart.
func keptID(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err == nil && len(b) > 10 {
		return strings.TrimSpace(string(b)), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("reading the worker's id: %w", err)
	}
	id := "w" + strings.ToLower(rand.Text())
	if err := os.WriteFile(path, []byte(id+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keeping the worker's id: %w", err)
	}
	return id, nil
}

// interval is a time, shortened for tests.
func (w *Worker) interval(d time.Duration) time.Duration { return d / time.Duration(w.o.Faster) }

// Run works until ctx ends; then it takes no more jobs and waits for those that run, until
// hurry ends.
func (w *Worker) Run(ctx, hurry context.Context) error {
	if err := w.hold(ctx); err != nil {
		return err
	}
	defer w.lock.Close()
	w.prepare()
	if err := w.register(ctx); err != nil {
		return err
	}
	var all sync.WaitGroup
	all.Go(func() { w.deliverSpooled(ctx) })
	all.Go(func() { w.checkHosts(ctx) })
	for slot := range w.o.Slots {
		all.Go(func() { w.slot(ctx, hurry, slot) })
	}
	all.Wait()
	return nil
}

// hold takes the lock of the folder. It waits for the guards of an earlier process: what they
// guard has ended when this worker registers and its lost jobs are given to others.
func (w *Worker) hold(ctx context.Context) (err error) {
	if w.lock, err = os.OpenFile(filepath.Join(w.o.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return fmt.Errorf("locking the worker's folder: %w", err)
	}
	for {
		err := unix.Flock(int(w.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("locking the worker's folder: %w", err)
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// register tells the portal what this worker is, until it answers.
func (w *Worker) register(ctx context.Context) error {
	for {
		_, err := w.client.call(ctx, "register", beatLimit, api.Register{Worker: w.id, Name: w.o.Name, Kinds: w.kinds(), Slots: w.o.Slots, Boot: w.boot, Version: w.o.Version}, &struct{}{})
		var status *StatusError
		if err == nil {
			w.o.Log.Info("registered", "worker", w.id, "slots", w.o.Slots)
		}
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if errors.As(err, &status) && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden) {
			return err
		}
		w.o.Log.Warn("the portal does not answer", "error", err)
		pause(ctx, retryEvery)
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// slot makes one attempt after the other.
func (w *Worker) slot(ctx, hurry context.Context, slot int) {
	for ctx.Err() == nil {
		var a api.Assignment
		found, err := w.client.call(ctx, "next", nextLimit, api.Next{Worker: w.id, Kinds: w.kinds(), Slot: slot}, &a)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.o.Log.Warn("asking for a job", "error", err)
			pause(ctx, retryEvery)
			if status := (*StatusError)(nil); errors.As(err, &status) && status.Status == http.StatusNotFound {
				if err := w.register(ctx); err != nil { // the portal has another database
					w.o.Log.Warn("registering", "error", err)
				}
			}
		case found:
			w.attempt(hurry, &a)
		}
	}
}
