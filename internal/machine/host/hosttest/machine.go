package hosttest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

func sh(script string) host.Command {
	return host.Command{Path: "/bin/sh", Args: []string{"-c", script}, Dir: "/"}
}

var owners = []check{
	{"account", func(t *testing.T, g ground) {
		if a, err := g.h.Account(); err != nil || a != (host.Owner{UID: os.Geteuid(), GID: os.Getegid()}) {
			t.Errorf("%v %v", a, err)
		}
	}},
	{"user", func(t *testing.T, g ground) {
		if u, err := g.h.User("root"); err != nil || u.UID != 0 || len(u.Groups) == 0 {
			t.Errorf("%v %v", u, err)
		}
		_, err := g.h.User("no such user")
		is(t, err, host.ErrNoUser)
	}},
	{"owner of a file", func(t *testing.T, g ground) {
		file(t, g.at("f"), "")
		info, err := g.h.Stat(g.at("f"))
		must(t, err)
		if o, ok := host.OwnerOf(info); !ok || o != (host.Owner{UID: os.Geteuid(), GID: os.Getegid()}) {
			t.Errorf("%v %v", o, ok)
		}
	}},
	{"chown", func(t *testing.T, g ground) {
		file(t, g.at("f"), "")
		must(t, os.Symlink("f", g.at("l")))
		err := g.h.Chown(g.at("l"), host.Owner{UID: 12, GID: 34})
		if os.Geteuid() != 0 {
			is(t, err, fs.ErrPermission)
			return
		}
		must(t, err)
		var link, to syscall.Stat_t
		must(t, errors.Join(syscall.Lstat(g.at("l"), &link), syscall.Stat(g.at("f"), &to)))
		if link.Uid != 12 || link.Gid != 34 || int(to.Uid) != os.Geteuid() {
			t.Errorf("link %d:%d, its target %d", link.Uid, link.Gid, to.Uid)
		}
	}},
	{"write keeps the owner", func(t *testing.T, g ground) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give files away")
		}
		file(t, g.at("f"), "one")
		must(t, os.Chown(g.at("f"), 12, 34))
		must(t, g.h.Write(g.at("f"), []byte("two"), 0o600))
		var st syscall.Stat_t
		must(t, syscall.Stat(g.at("f"), &st))
		if st.Uid != 12 || st.Gid != 34 {
			t.Errorf("%d:%d", st.Uid, st.Gid)
		}
	}},
}

var locks = []check{
	{"hold", func(t *testing.T, g ground) {
		file(t, g.at("f"), "")
		c, err := g.h.Hold(g.at("f"))
		must(t, err)
		if again, err := g.h.Hold(g.at("f")); again != nil || err != nil {
			t.Errorf("held twice: %v %v", again, err)
		}
		must(t, c.Close())
		c, err = g.h.Hold(g.at("f"))
		must(t, err)
		must(t, c.Close())
	}},
	{"hold against another process", func(t *testing.T, g ground) {
		f, err := os.Create(g.at("f"))
		must(t, err)
		defer f.Close()
		must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
		if c, err := g.h.Hold(g.at("f")); c != nil || err != nil {
			t.Errorf("%v %v", c, err)
		}
	}},
	{"hold what is missing", func(t *testing.T, g ground) {
		if c, err := g.h.Hold(g.at("none")); c != nil || err != nil {
			t.Errorf("%v %v", c, err)
		}
	}},
	{"hold a folder", func(t *testing.T, g ground) {
		c, err := g.h.Hold(g.dir)
		must(t, err)
		must(t, c.Close())
	}},
}

var commands = []check{
	{"exec", func(t *testing.T, g ground) {
		r, err := g.h.Exec(t.Context(), sh("echo out; echo err >&2; exit 3"))
		if err != nil || r.Status != 3 || string(r.Output) != "out\nerr\n" {
			t.Errorf("%+v %v", r, err)
		}
	}},
	{"exec: no output", func(t *testing.T, g ground) {
		if r, err := g.h.Exec(t.Context(), sh("true")); err != nil || r.Status != 0 || len(r.Output) != 0 {
			t.Errorf("%+v %v", r, err)
		}
	}},
	{"exec: ended by a signal", func(t *testing.T, g ground) {
		if r, err := g.h.Exec(t.Context(), sh("kill -9 $$")); err != nil || r.Status != -1 {
			t.Errorf("%+v %v", r, err)
		}
	}},
	{"exec: no such program", func(t *testing.T, g ground) {
		_, err := g.h.Exec(t.Context(), host.Command{Path: "/no/such/program"})
		is(t, err, fs.ErrNotExist)
	}},
	{"exec: words are not a shell's", func(t *testing.T, g ground) {
		r, err := g.h.Exec(t.Context(), host.Command{Path: "/usr/bin/printf", Args: []string{"%s|", "a b", "$(x)", "'", "日\n", ""}})
		if err != nil || string(r.Output) != "a b|$(x)|'|日\n||" {
			t.Errorf("%q %v", r.Output, err)
		}
	}},
	{"exec: the environment is what is given", func(t *testing.T, g ground) {
		r, err := g.h.Exec(t.Context(), host.Command{Path: "/usr/bin/env", Env: []string{"A=1 2", "B="}})
		if err != nil || string(r.Output) != "A=1 2\nB=\n" {
			t.Errorf("%q %v", r.Output, err)
		}
		if r, err = g.h.Exec(t.Context(), host.Command{Path: "/usr/bin/env"}); err != nil || len(r.Output) != 0 {
			t.Errorf("%q %v", r.Output, err)
		}
	}},
	{"exec: in a folder", func(t *testing.T, g ground) {
		r, err := g.h.Exec(t.Context(), host.Command{Path: "/bin/pwd", Dir: g.dir})
		if err != nil || string(r.Output) != g.dir+"\n" {
			t.Errorf("%q %v", r.Output, err)
		}
	}},
	{"exec: as another user", func(t *testing.T, g ground) {
		c := host.Command{Path: "/usr/bin/id", Args: []string{"-u"}, As: &syscall.Credential{Uid: 65534, Gid: 65534}}
		r, err := g.h.Exec(t.Context(), c)
		if os.Geteuid() != 0 {
			is(t, err, fs.ErrPermission)
		} else if err != nil || string(r.Output) != "65534\n" {
			t.Errorf("%q %v", r.Output, err)
		}
	}},
	{"exec: much output", func(t *testing.T, g ground) {
		r, err := g.h.Exec(t.Context(), sh("head -c 3000000 /dev/zero; echo end >&2"))
		if err != nil || r.Status != 0 || len(r.Output) != host.MaxOutput {
			t.Errorf("%d bytes, status %d, %v", len(r.Output), r.Status, err)
		}
	}},
	{"exec: the end of the context ends it", func(t *testing.T, g ground) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for !fileHas(g.at("pid"), "\n") {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		_, err := g.h.Exec(ctx, sh("sleep 1000 & echo $! > '"+g.at("pid")+"'; wait"))
		is(t, err, context.Canceled)
		b, err := os.ReadFile(g.at("pid"))
		must(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		must(t, err)
		for end := time.Now().Add(time.Minute); !gone(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the grandchild %d is left", pid)
			}
		}
	}},
	{"exec: a deadline", func(t *testing.T, g ground) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := g.h.Exec(ctx, sh("sleep 100"))
		is(t, err, context.DeadlineExceeded)
	}},
	{"exec: many at once", func(t *testing.T, g ground) {
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				if r, err := g.h.Exec(t.Context(), sh("echo "+strconv.Itoa(i))); err != nil || string(r.Output) != strconv.Itoa(i)+"\n" {
					t.Errorf("%d: %q %v", i, r.Output, err)
				}
			})
		}
		all.Wait()
	}},
}

func fileHas(path, text string) bool {
	b, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(b), text)
}

// gone reports whether a process has ended, reaped or not.
func gone(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(b), ") Z ")
}

var signals = []check{
	{"signal", func(t *testing.T, g ground) {
		cmd := exec.CommandContext(t.Context(), "/bin/sleep", "1000")
		must(t, cmd.Start())
		must(t, g.h.Signal(cmd.Process.Pid, syscall.SIGTERM))
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
			t.Errorf("%v", err)
		}
		is(t, g.h.Signal(cmd.Process.Pid, 0), os.ErrProcessDone)
	}},
	{"signal to a group", func(t *testing.T, g ground) {
		if g.h.Signal(0, 0) == nil || g.h.Signal(-1, 0) == nil {
			t.Error("no error")
		}
	}},
}

var connections = []check{
	{"dial a socket", func(t *testing.T, g ground) {
		echo(t, "unix", g.at("s"))
		c, err := g.h.Dial(t.Context(), "unix", g.at("s"))
		must(t, err)
		defer c.Close()
		in := bufio.NewReader(c)
		for _, text := range []string{"one\n", "two\n"} {
			_, err = io.WriteString(c, text)
			must(t, err)
			if line, err := in.ReadString('\n'); err != nil || line != text {
				t.Fatalf("%q %v", line, err)
			}
		}
	}},
	{"dial an address", func(t *testing.T, g ground) {
		l := echo(t, "tcp", "127.0.0.1:0")
		c, err := g.h.Dial(t.Context(), "tcp", l.Addr().String())
		must(t, err)
		defer c.Close()
		text := strings.Repeat("x", 1<<20) + "\n"
		go io.WriteString(c, text)
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != text {
			t.Fatalf("%d bytes, %v", len(line), err)
		}
	}},
	{"dial: nobody listens", func(t *testing.T, g ground) {
		_, err := g.h.Dial(t.Context(), "unix", g.at("none"))
		is(t, err, syscall.ENOENT)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		must(t, l.Close())
		_, err = g.h.Dial(t.Context(), "tcp", l.Addr().String())
		is(t, err, syscall.ECONNREFUSED)
		var op *net.OpError
		if !errors.As(err, &op) {
			t.Errorf("no net.OpError: %v", err)
		}
	}},
	{"dial: the other end closes", func(t *testing.T, g ground) {
		l, err := net.Listen("unix", g.at("s"))
		must(t, err)
		defer l.Close()
		go func() {
			if c, err := l.Accept(); err == nil {
				io.WriteString(c, "bye")
				c.Close()
			}
		}()
		c, err := g.h.Dial(t.Context(), "unix", g.at("s"))
		must(t, err)
		defer c.Close()
		if b, err := io.ReadAll(c); err != nil || string(b) != "bye" {
			t.Errorf("%q %v", b, err)
		}
	}},
	{"dial: this end closes", func(t *testing.T, g ground) {
		l, err := net.Listen("unix", g.at("s"))
		must(t, err)
		defer l.Close()
		got := make(chan string, 1)
		go func() {
			c, err := l.Accept()
			if err != nil {
				got <- err.Error()
				return
			}
			b, _ := io.ReadAll(c)
			got <- string(b)
		}()
		c, err := g.h.Dial(t.Context(), "unix", g.at("s"))
		must(t, err)
		_, err = io.WriteString(c, "last words")
		must(t, err)
		must(t, c.Close())
		if text := <-got; text != "last words" {
			t.Errorf("%q", text)
		}
	}},
	{"dial: a deadline of the connection", func(t *testing.T, g ground) {
		echo(t, "unix", g.at("s"))
		c, err := g.h.Dial(t.Context(), "unix", g.at("s"))
		must(t, err)
		defer c.Close()
		must(t, c.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
		_, err = c.Read(make([]byte, 1))
		is(t, err, os.ErrDeadlineExceeded)
	}},
	{"dial: the context has ended", func(t *testing.T, g ground) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := g.h.Dial(ctx, "tcp", "127.0.0.1:1")
		is(t, err, context.Canceled)
	}},
}

// echo listens and answers with what it gets.
func echo(t *testing.T, network, address string) net.Listener {
	l, err := net.Listen(network, address)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.Copy(c, c)
			}()
		}
	}()
	return l
}

var texts = []check{
	{"exec: output that is no UTF-8", func(t *testing.T, g ground) {
		r, err := g.h.Exec(t.Context(), sh(`printf '\377\376\000x'`))
		if err != nil || string(r.Output) != "\xff\xfe\x00x" {
			t.Errorf("%q %v", r.Output, err)
		}
	}},
	{"a name that is no UTF-8", func(t *testing.T, g ground) {
		name := g.at("a\xff\xfeb")
		file(t, name, "x")
		if b, err := g.h.Read(name); err != nil || string(b) != "x" {
			t.Errorf("%q %v", b, err)
		}
		entries, err := g.h.ReadDir(g.dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != "a\xff\xfeb" {
			t.Errorf("%q %v", entries, err)
		}
		must(t, g.h.Remove(name))
		only(t, g.dir)
	}},
}
