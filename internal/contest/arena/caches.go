package arena

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
)

// DefaultMiB limits the data of a cache that declares no Memory. The change that starts a
// cache on demand may choose another limit.
const DefaultMiB = 64

// memory is the limit of a service's data in bytes; 0 for none. A store that is
// not a cache must not drop data, so it has a limit only if it declares one.
func (s *Service) memory() int64 {
	if s.Memory == 0 && s.Role == iikanji.RoleCache {
		return DefaultMiB << 20
	}
	return s.Memory
}

// mebibytes is the word of a command with the limit m of the service's data.
func (s *Service) mebibytes(m int64) string {
	if s.OnDemand && s.Memory == 0 {
		return "{{.MiB}}"
	}
	return fmt.Sprint(max(1, m>>20))
}

// exchange sets the text of a readiness check unless the service declares a check.
func (r *Ready) exchange(send, expect string) {
	if r.Path == "" && r.Send == "" && r.Expect == "" {
		r.Send, r.Expect = send, expect
	}
}

// memcached listens on its port, or only on its socket if it has one: it cannot
// do both. It has no configuration file, and its log is its output.
func memcached(s *Service) {
	listen := []string{"-l", "127.0.0.1", "-p", "{{.Self.Port}}", "-U", "0"}
	if s.Socket != "" {
		s.NoPort, listen = true, []string{"-s", "{{.Self.Socket}}", "-a", "0777"}
	}
	if s.Start == nil {
		s.Start = slices.Concat([]string{"memcached"}, listen)
		if m := s.memory(); m > 0 {
			s.Start = append(s.Start, "-m", s.mebibytes(m))
		}
	}
	s.Ready.exchange("version\r\n", "VERSION ")
}

// redis answers PING with an error until it has loaded its data. A cache starts
// empty; another store writes its data to its folder, also when it ends.
func redis(s *Service) {
	or(&s.Data, s.Name)
	if s.Start == nil {
		s.Start = []string{"redis-server", "{{.Self.Config}}"}
	}
	if s.Configs == nil {
		s.Configs = []Config{{}}
	}
	s.Configs = slices.Clone(s.Configs)
	if s.Configs[0].Template == "" {
		or(&s.Configs[0].Text, s.redisConf())
	}
	s.Ready.exchange("PING\r\n", "+PONG")
	if s.Stop == nil {
		s.Stop = []Stop{{Signal: syscall.SIGTERM, Wait: 10 * time.Second}}
	}
}

// redisConf is the template of Redis's configuration.
func (s *Service) redisConf() string {
	conf := "bind 127.0.0.1\nport {{.Self.Port}}\ndir {{.Self.Data}}\ndaemonize no\nlogfile \"\"\n"
	if s.Socket != "" {
		conf += "unixsocket {{.Self.Socket}}\nunixsocketperm 777\n"
	}
	if m := s.memory(); m > 0 {
		conf += fmt.Sprintf("maxmemory %d\n", m)
	}
	if s.Role == iikanji.RoleCache {
		conf += "maxmemory-policy allkeys-lru\nsave \"\"\n"
	}
	return conf
}

// varnish runs in the foreground, keeps to its folder and has no administration
// port. Its log is its output; varnishncsa, a service of its own, writes an access
// log.
func varnish(s *Service) {
	or(&s.Data, s.Name)
	if s.Start == nil {
		s.Start = []string{"varnishd", "-F", "-j", "none", "-T", "none", "-n", "{{.Self.Data}}", "-a", "{{.Self.Address}}", "-f", "{{.Self.Config}}"}
		if m := s.memory(); m > 0 {
			s.Start = append(s.Start, "-s", "malloc,"+s.mebibytes(m)+"m")
		}
	}
	if s.Check == nil {
		s.Check = []string{"varnishd", "-C", "-f", "{{.Self.Config}}"}
	}
	if s.Configs == nil && s.Backend != "" {
		s.Configs = []Config{{Text: fmt.Sprintf("vcl 4.1;\n\nbackend default {\n    .host = \"127.0.0.1\";\n    .port = \"{{(.Service %q).Port}}\";\n}\n", s.Backend)}}
	}
	s.Configs = slices.Clone(s.Configs)
	if len(s.Configs) > 0 {
		or(&s.Configs[0].File, s.Name+".vcl")
	}
	if s.Ready.Send == "" && s.Ready.Expect == "" {
		or(&s.Ready.Path, "/")
	}
	if s.Stop == nil {
		s.Stop = []Stop{{Signal: syscall.SIGTERM, Wait: 5 * time.Second}}
	}
}
