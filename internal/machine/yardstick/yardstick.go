// Package yardstick measures what a machine of a site can do by itself, and how much goes
// between two machines. It is no benchmark: it tells a small machine from a large one, and a
// slow link from a fast one.
package yardstick

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Result is what one machine can do.
type Result struct {
	// Spin is how many bytes one core hashes with SHA-256 in a second.
	Spin float64 `json:"spin"`
	// Memory is how many bytes one core copies in a second, in blocks of 32 MiB.
	Memory float64 `json:"memory"`
	// Sync is the median time of a write of 4 KiB that reaches the disk.
	Sync time.Duration `json:"sync_ns"`
}

// part is how long one of the measurements takes.
const part = 500 * time.Millisecond

// Machine measures the machine on which it is carried out. Its argument is a folder for a
// file that is synchronized.
func Machine() host.Task[string, Result] {
	return host.Task[string, Result]{Name: "yardstick.machine", Do: func(ctx context.Context, _ host.Host, folder string) (Result, error) {
		block := make([]byte, 64<<10)
		from, to := make([]byte, 32<<20), make([]byte, 32<<20)
		out := Result{
			Spin:   perSecond(ctx, len(block), func() { sum := sha256.Sum256(block); block[0] = sum[0] }),
			Memory: perSecond(ctx, len(from), func() { copy(to, from) }),
		}
		var err error
		out.Sync, err = syncTime(ctx, folder)
		return out, err
	}}
}

// perSecond repeats something that handles a number of bytes.
func perSecond(ctx context.Context, bytes int, do func()) float64 {
	n := 0
	begin := time.Now()
	for time.Since(begin) < part && ctx.Err() == nil {
		do()
		n += bytes
	}
	return float64(n) / time.Since(begin).Seconds()
}

// syncTime is the median of writes that reach the disk.
func syncTime(ctx context.Context, folder string) (time.Duration, error) {
	f, err := os.CreateTemp(folder, ".iikanji-yardstick-")
	if err != nil {
		return 0, fmt.Errorf("measuring the disk: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	page := make([]byte, 4<<10)
	var times []time.Duration
	for begin := time.Now(); (time.Since(begin) < part || len(times) < 3) && ctx.Err() == nil; {
		start := time.Now()
		if _, err := f.WriteAt(page, 0); err != nil {
			return 0, fmt.Errorf("measuring the disk: %w", err)
		}
		if err := f.Sync(); err != nil {
			return 0, fmt.Errorf("measuring the disk: %w", err)
		}
		times = append(times, time.Since(start))
	}
	if len(times) == 0 {
		return 0, context.Cause(ctx)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// A Received is where a machine takes bytes, and then how many came.
type Received struct {
	Port  int // 0 in the second one
	Bytes int64
	Took  time.Duration // between the first and the last
}

// patience is how long a receiver waits for the sender.
const patience = 5 * time.Second

// Receive takes one connection at an address of the machine, at a port that it tells
// first, and counts what comes.
func Receive() host.Feed[string, Received] {
	return host.Feed[string, Received]{Name: "yardstick.receive", Run: func(ctx context.Context, _ host.Host, latest func() string, send func(Received) error) error {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(latest(), "0"))
		if err != nil {
			return fmt.Errorf("taking bytes: %w", err)
		}
		defer l.Close()
		at, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			return fmt.Errorf("taking bytes at %v, which has no port", l.Addr())
		}
		stop := time.AfterFunc(patience, func() { l.Close() })
		defer stop.Stop()
		if err := send(Received{Port: at.Port}); err != nil {
			return err
		}
		c, err := l.Accept()
		if err != nil {
			return fmt.Errorf("taking bytes: %w", err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			return fmt.Errorf("taking bytes: %w", err)
		}
		var first [1]byte
		if _, err := io.ReadFull(c, first[:]); err != nil {
			return fmt.Errorf("taking bytes: %w", err)
		}
		begin := time.Now()
		n, err := io.Copy(io.Discard, c)
		if err != nil {
			return fmt.Errorf("taking bytes: %w", err)
		}
		return send(Received{Bytes: n + 1, Took: time.Since(begin)})
	}}
}

// Send writes to an address for a while.
func Send() host.Task[string, int64] {
	return host.Task[string, int64]{Name: "yardstick.send", Do: func(ctx context.Context, h host.Host, address string) (n int64, err error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		c, err := h.Dial(ctx, "tcp", address)
		if err != nil {
			return 0, fmt.Errorf("sending bytes: %w", err)
		}
		defer c.Close()
		block := make([]byte, 256<<10)
		for begin := time.Now(); time.Since(begin) < part && ctx.Err() == nil; {
			k, err := c.Write(block)
			if n += int64(k); err != nil {
				return n, fmt.Errorf("sending bytes: %w", err)
			}
		}
		return n, nil
	}}
}

// Between is how many bytes go in a second from one machine to the address of another.
func Between(ctx context.Context, from, to host.Host, address string) (float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var got Received
	sent := make(chan error, 1)
	sent <- nil // nobody sends yet
	err := Receive().On(ctx, to, time.Second, func() string { return address }, func(r Received) {
		if r.Port == 0 {
			got = r
			return
		}
		<-sent
		go func() {
			_, err := Send().On(ctx, from, net.JoinHostPort(address, fmt.Sprint(r.Port)))
			sent <- err
		}()
	})
	if serr := <-sent; serr != nil {
		err = serr // the receiver waited in vain
	}
	if err != nil || got.Took <= 0 {
		return 0, err
	}
	return float64(got.Bytes) / got.Took.Seconds(), nil
}

// Tasks are what the far end of a machine carries out for this package.
func Tasks() []host.Served { return []host.Served{Machine(), Receive(), Send()} }
