package isublog

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/servertest"
)

// staticNginx serves one small file under every path, without keep-alive and logs.
func staticNginx(tb testing.TB) (url string) {
	tb.Helper()
	dir, err := os.MkdirTemp("", "iikanji-isublog-nginx-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // the worker runs as another user
		tb.Fatal(err)
	}
	address := servertest.FreeAddress(tb)
	conf := fmt.Sprintf(`worker_processes 1;
pid %[1]s/pid;
error_log %[1]s/error.log;
events {}
http {
  access_log off;
  keepalive_timeout 0;
  open_file_cache max=10;
  client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
  server { listen %[2]s; root %[1]s; location / { try_files /file =404; } }
}
`, dir, address)
	for name, text := range map[string]string{"nginx.conf": conf, "file": style} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	cmd := exec.Command("nginx", "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-e", filepath.Join(dir, "error.log"), "-g", "daemon off;")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait() })
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return "http://" + address
		}
		time.Sleep(10 * time.Millisecond)
	}
	tb.Fatal("nginx does not answer")
	return ""
}

// cpuTime is the CPU time of this process.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A countingSession counts without locks that cost time: one goroutine calls it.
type countingSession struct {
	*fakeSession
	n, want int
	end     context.CancelFunc
}

func (s *countingSession) Add(scenario.Event, int64) {}

func (s *countingSession) Record(x *scenario.Exchange) {
	if s.n++; s.n == s.want || x.Fault != iikanji.FaultUnknown && x.Fault != iikanji.FaultCut {
		s.end()
	}
}

// BenchmarkHammer measures the load against nginx with one small file: requests per
// second of the generator's CPU time, which other programs disturb less than the
// wall clock.
func BenchmarkHammer(b *testing.B) {
	url := staticNginx(b)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	s := &countingSession{fakeSession: newFakeSession(url), want: b.N, end: cancel}
	h, err := newHammer(s, newPlan(s, Articles+1))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	before := cpuTime(b)
	b.ResetTimer()
	h.run(ctx)
	b.StopTimer()
	if len(s.reported) > 0 {
		b.Fatal(s.reported[0])
	}
	b.ReportMetric(float64(b.N)/(cpuTime(b)-before).Seconds(), "requests/cpu-s")
}

// BenchmarkDial is the same work by ten goroutines with package net, for a ratio.
func BenchmarkDial(b *testing.B) {
	url := staticNginx(b)
	s := newFakeSession(url)
	p := newPlan(s, Articles+1)
	h, err := newHammer(s, p)
	if err != nil {
		b.Fatal(err)
	}
	request := h.heads["/"][0]
	before := cpuTime(b)
	b.ReportAllocs()
	b.SetParallelism(connections / 2)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c, err := net.Dial("tcp", url[len("http://"):])
			if err != nil {
				b.Error(err)
				return
			}
			if _, err = c.Write(request); err == nil {
				_, err = io.Copy(io.Discard, c)
			}
			if c.Close(); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/(cpuTime(b)-before).Seconds(), "requests/cpu-s")
}
