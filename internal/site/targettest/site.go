// Package targettest starts a small site of its own for tests: the ferry
// company, with an app in Go, a background job, an nginx and a MariaDB, started
// by a shell script as a person would do it. iikanji is not a parent of any of it.
package targettest

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/freeport"
)

//go:embed all:testdata/ferry
var files embed.FS

// Secret is the password of the site's database account.
const Secret = "tide-9-secret"

// A Site is a running ferry company.
type Site struct {
	Dir, URL string
}

// An Edit replaces a text in a file of the site before it is built.
type Edit struct{ File, Old, New string }

// Start builds and starts the site in a new folder, with changes.
func Start(ctx context.Context, edits ...Edit) (*Site, error) {
	dir, err := os.MkdirTemp("", "ferry")
	if err != nil {
		return nil, fmt.Errorf("starting the ferry company: %w", err)
	}
	s := &Site{Dir: dir}
	if err := s.start(ctx, edits); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the ferry company: %w", err), s.Stop())
	}
	return s, nil
}

func (s *Site) start(ctx context.Context, edits []Edit) error {
	if err := s.unpack(); err != nil {
		return err
	}
	for _, e := range edits {
		path := filepath.Join(s.Dir, e.File)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.Contains(string(text), e.Old) {
			return fmt.Errorf("%s has no text %q", e.File, e.Old)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), e.Old, e.New)), 0o644); err != nil {
			return err
		}
	}
	for out, pkg := range map[string]string{"ferry": ".", "load": "./load"} {
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", filepath.Join(s.Dir, "bin", out), pkg)
		build.Dir = filepath.Join(s.Dir, "app")
		build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "CGO_ENABLED=0")
		if text, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", pkg, err, text)
		}
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	s.URL = "http://127.0.0.1:" + ports[0]
	script := exec.CommandContext(ctx, "sh", "start.sh", ports[0], ports[1])
	script.Dir = s.Dir
	script.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	log, err := os.Create(filepath.Join(s.Dir, "start.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	script.Stdout, script.Stderr = log, log
	if err := script.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("start.sh: %w\n%s", err, text)
	}
	return s.answers(ctx)
}

// unpack writes the files; module files get their true names.
func (s *Site) unpack() error {
	return fs.WalkDir(files, "testdata/ferry", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(s.Dir, strings.TrimSuffix(strings.TrimPrefix(path, "testdata/ferry"), ".txt"))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		b, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, b, 0o644)
	})
}

// answers waits until the app answers behind nginx.
func (s *Site) answers(ctx context.Context) error {
	for {
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(s.URL, "http://"), time.Minute)
		if err == nil {
			_, _ = fmt.Fprintf(conn, "GET /harbour/harbour-1 HTTP/1.0\r\n\r\n")
			line := make([]byte, 12)
			_, err = conn.Read(line)
			_ = conn.Close()
			if err == nil && string(line) == "HTTP/1.1 200" {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the site does not answer: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// freePorts finds TCP ports that nothing listens at, and that no outgoing connection takes while
// a service restarts.
func freePorts(n int) (ports []string, err error) {
	low, high := freeport.Range()
	for range 1000 {
		port := low + rand.IntN(high-low)
		if text := strconv.Itoa(port); !slices.Contains(ports, text) && freeport.Free(port) {
			ports = append(ports, text)
		}
		if len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("no %d free ports from %d to %d", n, low, high)
}

// PID is the id in one of the site's pid files: nginx, counter, tidy or db.
func (s *Site) PID(name string) int {
	b, err := os.ReadFile(filepath.Join(s.Dir, "run", name+".pid"))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}

// Stop ends the site, waits for its processes and removes its folder.
func (s *Site) Stop() error {
	var pids []int
	for _, name := range []string{"nginx", "counter", "tidy", "db"} {
		if pid := s.PID(name); pid > 0 {
			pids = append(pids, pid)
		}
	}
	stop := exec.Command("sh", "stop.sh")
	stop.Dir = s.Dir
	err := stop.Run()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end) && running(pids); time.Sleep(10 * time.Millisecond) {
	}
	return errors.Join(err, os.RemoveAll(s.Dir))
}

func running(pids []int) bool {
	for _, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && !strings.Contains(string(b), ") Z ") {
			return true
		}
	}
	return false
}
