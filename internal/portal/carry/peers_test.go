package carry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A front stands before the port of a server, and can be cut.
type front struct {
	to string

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// newFront listens at an address of its own.
func newFront(t *testing.T, to string) (f *front, address string) {
	t.Helper()
	f = &front{to: to, conns: map[net.Conn]bool{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); f.set(true) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.pass(c)
		}
	}()
	return f, l.Addr().String()
}

// pass connects both ends until one of them ends or the front is cut.
func (f *front) pass(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", f.to)
	if err != nil {
		return
	}
	defer out.Close()
	f.mu.Lock()
	if f.cut {
		f.mu.Unlock()
		return
	}
	f.conns[in] = true
	f.mu.Unlock()
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1]) // it ends with the connection
			done <- struct{}{}
		}()
	}
	<-done
	f.mu.Lock()
	delete(f.conns, in)
	f.mu.Unlock()
}

// set cuts the front, or mends it.
func (f *front) set(cut bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut = cut
	if cut {
		for c := range f.conns {
			c.Close()
		}
	}
}

// A trio is three servers, which reach each other through their fronts alone.
type trio struct {
	t       *testing.T
	dir     string
	ports   int
	fronts  [3]*front
	fronted [3]string
	servers [3]Carrier
}

// start starts servers, which wait for each other.
func (x *trio) start(which ...int) {
	x.t.Helper()
	address := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", x.ports+i) }
	var all sync.WaitGroup
	for _, i := range which {
		p := Peers{Self: address(i), Others: []string{x.fronted[(i+1)%3], x.fronted[(i+2)%3]}, advertise: x.fronted[i]}
		all.Go(func() {
			c, err := Clustered(x.t.Context(), filepath.Join(x.dir, fmt.Sprint(i)), p, 1)
			if err != nil {
				x.t.Error(err)
				return
			}
			x.servers[i] = c
		})
	}
	all.Wait()
	if x.t.Failed() {
		x.t.FailNow()
	}
}

// split cuts all three from each other, or mends that.
func (x *trio) split(cut bool) {
	for _, f := range x.fronts {
		f.set(cut)
	}
}

// settled waits until a server can write again: the others have elected leaders of the streams.
func (x *trio) settled(i int) {
	x.t.Helper()
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = x.write(i, "settled"); err == nil {
			return
		}
	}
	x.t.Fatalf("server %d writes nothing: %v", i, err)
}

// write writes into each stream and bucket.
func (x *trio) write(i int, text string) error {
	ctx, cancel := context.WithTimeout(x.t.Context(), 3*time.Second)
	defer cancel()
	c := x.servers[i]
	var errs []error
	for _, b := range []Bucket{Leases, Workers, Leader} {
		errs = append(errs, c.Put(ctx, b, "k", []byte(text)))
	}
	for s, prefix := range prefixes {
		errs = append(errs, c.Publish(ctx, s, Message{Subject: prefix + "settled.x", Data: []byte(text)}))
	}
	return errors.Join(errs...)
}

// read reads a key at a server.
func (x *trio) read(i int) string {
	ctx, cancel := context.WithTimeout(x.t.Context(), 3*time.Second)
	defer cancel()
	v, _, err := x.servers[i].Get(ctx, Leases, "k")
	if err != nil {
		return err.Error()
	}
	return string(v)
}

// TestClustered: what the portal relies on, on three servers, and with one of them ended. Those that
// are cut from each other write nothing, and later all have what one wrote.
func TestClustered(t *testing.T) {
	tier.Slow(t)
	x := &trio{t: t, dir: t.TempDir(), ports: servertest.FreePorts(t, 3)}
	for i := range x.fronts {
		x.fronts[i], x.fronted[i] = newFront(t, fmt.Sprintf("127.0.0.1:%d", x.ports+i))
	}
	x.start(0, 1, 2)
	t.Cleanup(func() {
		for _, c := range x.servers {
			c.Close()
		}
	})
	x.carries(0, "three")
	x.watched()
	if err := x.servers[0].Empty(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.carries(1, "emptied")

	x.servers[2].Close()
	began := time.Now()
	x.carries(1, "two")
	t.Logf("one of three has ended: the others carry on within %v", time.Since(began).Round(100*time.Millisecond))
	x.start(2)
	x.carries(2, "again")

	x.split(true)
	for i := range x.servers {
		if err := x.write(i, "alone"); err == nil {
			t.Errorf("server %d writes without the others", i)
		}
	}
	x.split(false)
	x.settled(0)
	if err := x.write(2, "after"); err != nil {
		t.Error(err)
	}
	for i := range x.servers {
		for end := time.Now().Add(2 * time.Minute); x.read(i) != "after" && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		}
		if got := x.read(i); got != "after" {
			t.Errorf("server %d has %q", i, got)
		}
	}
}

// carries runs what the portal relies on at a server, as soon as it writes again.
func (x *trio) carries(i int, run string) {
	x.t.Helper()
	x.settled(i)
	x.clean(i)
	queue(x.t.Context(), x.t, x.servers[i], run)
	keys(x.t.Context(), x.t, x.servers[i])
	x.clean(i)
}

// watched: what one server publishes, those who watch at another see.
func (x *trio) watched() {
	x.t.Helper()
	seen := make(chan string, 1000)
	if err := x.servers[1].Watch(x.t.Context(), Events, "iik.ev.r.", func(m Message) { seen <- string(m.Data) }); err != nil {
		x.t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; { // the other server has to learn of the watcher first
		if err := x.servers[0].Publish(x.t.Context(), Events, Message{Subject: "iik.ev.r.result", Data: []byte("far")}); err != nil {
			x.t.Fatal(err)
		}
		select {
		case <-seen:
			return
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(end) {
			x.t.Fatal("the second server sees no event of the first")
		}
	}
}

// clean removes what settled and the checks of keys wrote.
func (x *trio) clean(i int) {
	x.t.Helper()
	for _, b := range []Bucket{Leases, Workers, Leader} {
		for _, key := range []string{"k", "leader"} {
			if err := x.servers[i].Delete(x.t.Context(), b, key); err != nil {
				x.t.Fatal(err)
			}
		}
	}
}

// TestPeersRefused: an address that is none, or is taken.
func TestPeersRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, p := range []Peers{{Self: "6222"}, {Self: ":6222"}, {Self: taken.Addr().String()}, {Self: fmt.Sprintf("127.0.0.1:%d", servertest.FreePort(t)), Others: []string{"a b"}}} {
		if c, err := Clustered(t.Context(), t.TempDir(), p, 1); err == nil {
			c.Close()
			t.Errorf("%+v was taken", p)
		}
	}
}
