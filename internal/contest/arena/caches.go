package arena

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/process"
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
}

// redis is empty at its start if it is a cache; another store writes its data to its
// folder, also when it ends.
func redis(s *Service) {
	or(&s.Data, s.Name)
	if s.Configs == nil {
		s.Configs = []Config{{}}
	}
	s.Configs = slices.Clone(s.Configs)
	if s.Configs[0].Template == "" {
		or(&s.Configs[0].Text, s.redisConf())
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

// varnish writes its log to its output; varnishncsa, a service of its own, writes an
// access log.
func varnish(s *Service) {
	or(&s.Data, s.Name)
	if m := s.memory(); s.Start == nil && m > 0 {
		s.Start = append(slices.Clone(process.EngineOf(s.Engine).Start), "-s", "malloc,"+s.mebibytes(m)+"m")
	}
	if s.Configs == nil && s.Backend != "" {
		s.Configs = []Config{{Text: fmt.Sprintf("vcl 4.1;\n\nbackend default {\n    .host = \"127.0.0.1\";\n    .port = \"{{(.Service %q).Port}}\";\n}\n", s.Backend)}}
	}
	s.Configs = slices.Clone(s.Configs)
	if len(s.Configs) > 0 {
		or(&s.Configs[0].File, s.Name+".vcl")
	}
}
