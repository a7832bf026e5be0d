package peer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestFence: a far end writes in the folders of the first call only, whatever the path
// looks like, and nowhere without folders.
func TestFence(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in, out := root+"/in", root+"/in-other"
	if err := errors.Join(os.Mkdir(in, 0o755), os.Mkdir(out, 0o755), os.WriteFile(out+"/f", []byte("kept"), 0o644), os.Symlink(out, in+"/l"), os.Symlink(out+"/f", in+"/lf")); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Peer{"one folder": connect(t, []string{in}, Options{}), "none": connect(t, nil, Options{})} {
		for _, path := range []string{out + "/f", in + "/l/f", in + "/../in-other/f", in + "/lf"} {
			errs := map[string]error{
				"Write": p.Write(path, []byte("x"), 0o600), "Create": p.Create(path+"2", nil, 0o600),
				"WriteBeneath": p.WriteBeneath(filepath.Dir(path), path, []byte("x"), host.New{Perm: 0o600}),
			}
			if path != in+"/lf" {
				errs["Remove"], errs["RemoveAll"], errs["Chown"] = p.Remove(path), p.RemoveAll(path), p.Chown(path, host.Owner{})
				errs["Mkdir"], errs["Symlink"], errs["RemoveBeneath"] = p.Mkdir(path+"d", 0o755), p.Symlink("x", path+"l"), p.RemoveBeneath(filepath.Dir(path), path)
				errs["Rmdir"], errs["RmdirBeneath"] = p.Rmdir(path), p.RmdirBeneath(filepath.Dir(path), path)
			} else if name != "none" {
				delete(errs, "Create") // the name beside the link is in the folder
				delete(errs, "WriteBeneath")
			}
			for what, err := range errs {
				if !errors.Is(err, ErrFenced) && !(errors.Is(err, host.ErrLink) && strings.HasSuffix(what, "Beneath")) {
					t.Errorf("%s: %s of %s: %v", name, what, path, err)
				}
			}
		}
		if b, err := p.Read(out + "/f"); err != nil || string(b) != "kept" {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}

// TestFenceOfAFile: of a folder that is made for one file only that file may be written; the
// folder goes when it is empty.
func TestFenceOfAFile(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own := root + "/app.service.d/90-own.conf"
	p := connect(t, []string{own}, Options{})
	as := host.New{Perm: 0o644, Folder: true}
	for _, path := range []string{root + "/app.service.d/x.conf", root + "/90-own.conf", own + "/x", own + "x"} {
		if err := p.WriteBeneath(root, path, nil, as); !errors.Is(err, ErrFenced) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := p.RmdirBeneath(filepath.Dir(root), root); !errors.Is(err, ErrFenced) {
		t.Errorf("a folder above: %v", err)
	}
	if err := errors.Join(p.WriteBeneath(root, own, []byte("x"), as), p.RemoveBeneath(root, own), p.RmdirBeneath(root, filepath.Dir(own))); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("%v %v", entries, err)
	}
}

// TestOneWriter: of two near ends that write, the second waits for the first to end, and is
// refused after its time; one that only reads does not wait.
func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	o := Options{Lock: dir + "/lock", Wait: 100 * time.Millisecond}
	first := connect(t, []string{dir}, o)
	connect(t, nil, o)
	refused := func() error {
		near, far := pipes(t)
		go Serve(context.Background(), far, host.Local{}, o)
		p, err := Connect(t.Context(), near, Setup{Name: "far", Folders: []string{dir}})
		if err == nil {
			p.Close()
		}
		return err
	}
	if err := refused(); !errors.Is(err, ErrHeld) {
		t.Errorf("%v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if err = refused(); err == nil {
			return
		}
	}
	t.Errorf("the lock of a near end that has gone stays: %v", err)
}

// TestManyStreams: a hundred calls at once, the end of one, and a gigabyte in one file.
func TestManyStreams(t *testing.T) {
	dir := t.TempDir()
	p := connect(t, []string{dir}, Options{})
	const size = 64 << 20
	part := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	if err := os.WriteFile(dir+"/big", part, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if _, err := p.Exec(ctx, host.Command{Path: "/bin/sleep", Args: []string{"1000"}}); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		})
	}
	for range 4 {
		all.Go(func() {
			for range 4 {
				f, err := p.Open(dir + "/big")
				if err != nil {
					t.Error(err)
					return
				}
				if n, err := io.Copy(io.Discard, f); err != nil || n != size {
					t.Errorf("%d bytes, %v", n, err)
				}
				f.Close()
			}
		})
	}
	for range 100 {
		if b, err := p.Read("/proc/sys/kernel/ostype"); err != nil || string(b) != "Linux\n" {
			t.Fatalf("beside them: %q %v", b, err)
		}
	}
	cancel()
	all.Wait()
	if err := p.Write(dir+"/copy", part, 0o600); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(dir + "/copy"); err != nil || !bytes.Equal(b, part) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// TestLost: a connection that ends, or falls silent, is a LostError for the calls under
// way and the later ones, and the far end ends what it started.
func TestLost(t *testing.T) {
	for name, cut := range map[string]func(c *cutConn){
		"ends":        func(c *cutConn) { c.Conn.Close() },
		"goes silent": func(c *cutConn) { c.silence() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := Options{Ping: 50 * time.Millisecond, Lost: 5 * time.Second} // a busy machine may be silent for less
			near, far := pipes(t)
			cutting := &cutConn{Conn: near}
			ended := make(chan error, 1)
			go func() { ended <- Serve(context.Background(), far, host.Local{}, o) }()
			p, err := Connect(t.Context(), cutting, Setup{Name: "db", Folders: []string{dir}, Options: o})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			done := make(chan error, 1)
			go func() {
				_, err := p.Exec(t.Context(), host.Command{Path: "/bin/sh", Args: []string{"-c", "echo $$ > " + dir + "/pid; exec sleep 1000"}})
				done <- err
			}()
			for begun := false; !begun; time.Sleep(time.Millisecond) {
				select {
				case err := <-done:
					t.Fatalf("before the connection was cut: %v", err)
				default:
					b, _ := os.ReadFile(dir + "/pid") // not there yet
					begun = bytes.HasSuffix(b, []byte("\n"))
				}
			}
			cut(cutting)
			var lost *host.LostError
			if err := <-done; !errors.As(err, &lost) || !lost.Sent || lost.Host != "db" {
				t.Errorf("under way: %v", err)
			}
			<-p.Lost()
			if _, err := p.Read("/etc/hostname"); !errors.As(err, &lost) || lost.Sent {
				t.Errorf("later: %v", err)
			}
			if err := <-ended; err != nil {
				t.Errorf("the far end: %v", err)
			}
			b, err := os.ReadFile(dir + "/pid")
			if err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				stat, err := os.ReadFile("/proc/" + string(bytes.TrimSpace(b)) + "/stat")
				if err != nil || bytes.Contains(stat, []byte(") Z ")) {
					break
				}
				if time.Now().After(end) {
					t.Fatal("the command is left")
				}
			}
		})
	}
}

// A cutConn stops passing bytes on when it is silenced.
type cutConn struct {
	net.Conn
	mu     sync.Mutex
	silent bool
}

func (c *cutConn) silence() { c.mu.Lock(); c.silent = true; c.mu.Unlock() }

func (c *cutConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// TestBeforeHello: a stream that does not begin as ours is refused.
func TestBeforeHello(t *testing.T) {
	near, far := pipes(t)
	ended := make(chan error, 1)
	go func() { ended <- Serve(context.Background(), far, host.Local{}, Options{}) }()
	if _, err := io.WriteString(near, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(near)
	if err != nil || bytes.Contains(b, []byte(" 200 ")) {
		t.Errorf("%q %v", b, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	near.Close()

	// A banner of a login shell before our far end answers.
	near, far = pipes(t)
	if _, err := io.WriteString(far, "Welcome to the machine\n"); err != nil {
		t.Fatal(err)
	}
	if p, err := Connect(t.Context(), near, Setup{Name: "far"}); err == nil {
		p.Close()
		t.Error("a banner was taken for a far end")
	}
	far.Close()
}

// FuzzFrame: no bytes crash the reader of frames, or make it take more memory than they have.
func FuzzFrame(f *testing.F) {
	for _, v := range []any{hello{Protocol: 1, Folders: []string{"/x"}}, answer{Value: []byte("x")}, []dirEntry{{N: "a"}}} {
		b, err := appendFrame(nil, v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("\xff\xff\xff\xffx"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var a answer
		_ = readFrame(bytes.NewReader(b), &a)
		_ = a.Err.err()
		var p program
		_ = readFrame(bytes.NewReader(b), &p)
		var entries []dirEntry
		_ = readFrame(bytes.NewReader(b), &entries)
	})
}

// BenchmarkRead is a small call, and BenchmarkThroughput a long file through two pipes.
func BenchmarkRead(b *testing.B) {
	p := connect(b, nil, Options{})
	for b.Loop() {
		if _, err := p.Read("/proc/sys/kernel/ostype"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkThroughput(b *testing.B) {
	name := filepath.Join(b.TempDir(), "f")
	if err := os.WriteFile(name, make([]byte, 64<<20), 0o600); err != nil {
		b.Fatal(err)
	}
	p := connect(b, nil, Options{})
	b.SetBytes(64 << 20)
	for b.Loop() {
		f, err := p.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, f); n != 64<<20 || err != nil {
			b.Fatal(n, err)
		}
		f.Close()
	}
}
