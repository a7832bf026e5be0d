package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A server is a private nginx with one file.
type server struct {
	url       string
	h2, h2TLS string // URLs of the same file over HTTP/2
	want      string // path of the served file
	cmd       *exec.Cmd
}

const nginxConf = `daemon off;
worker_processes 1;
worker_cpu_affinity %s;
pid %[2]s/nginx.pid;
error_log %[2]s/error.log;
%[4]s
events { worker_connections 1024; }
http {
	access_log off;
	keepalive_requests 1000000000;
	open_file_cache max=10;
	client_body_temp_path %[2]s/body; proxy_temp_path %[2]s/proxy; fastcgi_temp_path %[2]s/fastcgi;
	uwsgi_temp_path %[2]s/uwsgi; scgi_temp_path %[2]s/scgi;
	server { listen 127.0.0.1:%[3]d backlog=1024; root %[2]s/www; default_type text/plain; }
	server { listen 127.0.0.1:%[5]d http2; root %[2]s/www; default_type text/plain; }
	server {
		listen 127.0.0.1:%[6]d ssl http2;
		ssl_protocols TLSv1.3;
		ssl_certificate %[2]s/cert.pem;
		ssl_certificate_key %[2]s/key.pem;
		root %[2]s/www;
		default_type text/plain;
	}
}
`

// startNginx starts nginx in dir, its worker on the target's core.
func startNginx(ctx context.Context, dir string) (*server, error) {
	bin, err := findNginx()
	if err != nil {
		return nil, err
	}
	s := &server{want: filepath.Join(dir, "www", "file")}
	if err := os.MkdirAll(filepath.Dir(s.want), 0o755); err != nil {
		return nil, fmt.Errorf("making nginx's folder: %w", err)
	}
	body := strings.Repeat("0123456789abcdefghijklmnopqrstuv", 32) // 1 KiB
	if err := os.WriteFile(s.want, []byte(body), 0o644); err != nil {
		return nil, fmt.Errorf("writing nginx's file: %w", err)
	}
	var ports [3]int
	for i := range ports {
		if ports[i], err = freePort(); err != nil {
			return nil, err
		}
	}
	if err := writeCertificate(dir); err != nil {
		return nil, err
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;" // no other user may read the folder
	}
	mask := "1" + strings.Repeat("0", targetCore)
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, mask, dir, ports[0], user, ports[1], ports[2]), 0o644); err != nil {
		return nil, fmt.Errorf("writing nginx's configuration: %w", err)
	}
	s.cmd = exec.Command(bin, "-p", dir, "-c", conf, "-e", filepath.Join(dir, "error.log"))
	s.cmd.Stderr = os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting nginx: %w", err)
	}
	s.url = fmt.Sprintf("http://127.0.0.1:%d/file", ports[0])
	s.h2, s.h2TLS = fmt.Sprintf("http://127.0.0.1:%d/file", ports[1]), fmt.Sprintf("https://127.0.0.1:%d/file", ports[2])
	if err := await(ctx, s.url); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	_ = s.cmd.Wait()
}

func findNginx() (string, error) {
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} {
		if bin, err := exec.LookPath(name); err == nil {
			return bin, nil
		}
	}
	return "", errors.New("nginx is not installed (apt-get install nginx)")
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// await sends requests until one is answered.
func await(ctx context.Context, url string) error {
	for end := time.Now().Add(10 * time.Second); ; {
		res, err := http.Get(url)
		if err == nil {
			_ = res.Body.Close()
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("waiting for the target: %w", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
