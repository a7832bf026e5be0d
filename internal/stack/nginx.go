package stack

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"text/template"

	"github.com/iikanji/iikanji/internal/host"
)

const nginxConf = "nginx.conf"

// renderNginx fills the arena's template with this stack's places.
func (s *Stack) renderNginx() ([]byte, error) {
	text, err := fs.ReadFile(s.arena.Files, s.arena.NginxConf)
	if err != nil {
		return nil, fmt.Errorf("reading the template of nginx's config: %w", err)
	}
	t, err := template.New(s.arena.NginxConf).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("reading the template of nginx's config: %w", err)
	}
	var b bytes.Buffer
	b.WriteString("# Written by iikanji up. Edit it as you like: once edited it is kept as it is.\n# Delete it to have it written again.\n")
	if err := t.Execute(&b, s.places); err != nil {
		return nil, fmt.Errorf("rendering nginx's config: %w", err)
	}
	return b.Bytes(), nil
}

// nginxArgs keeps nginx in the folder: prefix, config, and the error log that
// nginx uses before it reads its config (by default the system's). The config
// itself must not set "daemon".
func (s *Stack) nginxArgs(conf string) []string {
	f := s.dir
	return []string{"-p", f.path(runDir), "-c", conf, "-e", f.path(logDir, errorLog), "-g", "daemon off;"}
}

// nginxSpec describes nginx's process. QUIT lets it finish open requests.
func (s *Stack) nginxSpec() spec {
	f := s.dir
	return spec{Name: Nginx, Path: s.programs.nginx, Args: s.nginxArgs(f.path(confDir, nginxConf)), Dir: f.path(runDir), Log: f.path(logDir, nginxLog),
		Env: f.baseEnv(s.programs), CPUs: s.options.StackCPUs, Rank: rankNginx,
		Stop: []stopStep{{syscall.SIGQUIT, 2000}, {syscall.SIGTERM, 1000}}}
}

// testNginx tests the config in conf/ with nginx.
func (s *Stack) testNginx(ctx context.Context) error {
	return s.checkNginx(ctx, s.dir.path(confDir, nginxConf))
}

func (s *Stack) checkNginx(ctx context.Context, conf string) error {
	f := s.dir
	r, err := host.Local{}.Exec(ctx, host.Command{Path: s.programs.nginx, Args: append([]string{"-t", "-q"}, s.nginxArgs(conf)...),
		Env: f.baseEnv(s.programs), Dir: f.path(runDir), As: f.as.credential()})
	if err != nil {
		return fmt.Errorf("testing nginx's config: %w", err)
	}
	if r.Status == 0 {
		return nil
	}
	e := &ConfigError{Service: Nginx, Path: conf}
	for line := range strings.Lines(string(r.Output)) {
		if line = printable([]byte(strings.TrimPrefix(line, "nginx: "))); line != "" && !strings.HasSuffix(line, "test failed") {
			e.Lines = append(e.Lines, line)
		}
	}
	return f.full(e, string(r.Output))
}
