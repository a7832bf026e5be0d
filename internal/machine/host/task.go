package host

import (
	"context"
	"sync"
	"time"
)

// A Task is work on a host that is carried out where its data are. A Worker sends the
// arguments to its far end, which calls Do there; for any other host Do is called here. So
// both carry out the same function. Arguments and result travel in encoding/gob: a struct
// among them has an exported field, and no field is an interface.
type Task[A, R any] struct {
	Name string // unique among the tasks and feeds of the program
	Do   func(ctx context.Context, h Host, args A) (R, error)
}

// On carries the task out on a host.
func (t Task[A, R]) On(ctx context.Context, h Host, args A) (out R, err error) {
	if w := WorkerOf(h); w != nil {
		err = w.Work(ctx, t.Name, args, &out)
		return out, err
	}
	return t.Do(ctx, h, args)
}

// Called is the task's name.
func (t Task[A, R]) Called() string { return t.Name }

// Serve carries the task out with arguments that decode reads, and sends its result.
func (t Task[A, R]) Serve(ctx context.Context, h Host, decode func(any) error, send func(any) error) error {
	var args A
	if err := decode(&args); err != nil {
		return err
	}
	out, err := t.Do(ctx, h, args)
	if err != nil {
		return err
	}
	return send(out)
}

// A Feed is a Task with many results: Run sends them until it returns, or ctx ends. latest
// are the arguments as the caller has given them last.
type Feed[A, R any] struct {
	Name string
	Run  func(ctx context.Context, h Host, latest func() A, send func(R) error) error
}

// On carries the feed out on a host until ctx ends, or it ends by itself. latest is called
// once each interval, for new arguments; take gets the results, one at a time.
func (f Feed[A, R]) On(ctx context.Context, h Host, every time.Duration, latest func() A, take func(R)) error {
	if w := WorkerOf(h); w != nil {
		return w.Feed(ctx, f.Name, every, func() any { return latest() }, func(decode func(any) error) error {
			var out R
			if err := decode(&out); err != nil {
				return err
			}
			take(out)
			return nil
		})
	}
	return f.Run(ctx, h, latest, func(out R) error {
		take(out)
		return nil
	})
}

// Called is the feed's name.
func (f Feed[A, R]) Called() string { return f.Name }

// Serve runs the feed. decode reads the next arguments, and waits for them.
func (f Feed[A, R]) Serve(ctx context.Context, h Host, decode func(any) error, send func(any) error) error {
	var first A
	if err := decode(&first); err != nil {
		return err
	}
	now := newest[A]{value: first}
	go func() { // ends with the stream, whose end is an error of decode
		for {
			var next A
			if decode(&next) != nil {
				return
			}
			now.set(next)
		}
	}()
	return f.Run(ctx, h, now.get, func(out R) error { return send(out) })
}

// A Served is a Task or a Feed, as the far end of a Worker carries it out.
type Served interface {
	Called() string
	Serve(ctx context.Context, h Host, decode func(any) error, send func(any) error) error
}

// A Worker is a host with a far end that carries tasks out.
type Worker interface {
	// Work has a task carried out, and decodes its result into out, a pointer.
	Work(ctx context.Context, task string, args, out any) error
	// Feed has a feed run. It sends latest() at the begin and once each interval, and calls
	// take for each result.
	Feed(ctx context.Context, feed string, every time.Duration, latest func() any, take func(decode func(any) error) error) error
}

// WorkerOf is the Worker that a host is, or that it wraps; nil for neither.
func WorkerOf(h Host) Worker {
	w, _ := As[Worker](h)
	return w
}

// A newest is a value that one goroutine sets and others read.
type newest[T any] struct {
	mu    sync.Mutex
	value T
}

func (n *newest[T]) set(v T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.value = v
}

func (n *newest[T]) get() T {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.value
}
