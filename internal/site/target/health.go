package target

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// A Health is what answers when a service is ready. Exactly one field is set;
// none is for a service whose process alone proves it.
type Health struct {
	URL    string // any answer below 500
	TCP    string // host:port that accepts connections
	Unix   string // path of a socket that accepts connections
	SQL    bool   // SELECT 1
	NoTest bool   // the process alone
}

// ParseHealth reads the key health; "" is the zero Health.
func ParseHealth(s string) (Health, error) {
	kind, rest, _ := strings.Cut(s, ":")
	switch {
	case s == "":
		return Health{}, nil
	case s == "none":
		return Health{NoTest: true}, nil
	case s == "sql":
		return Health{SQL: true}, nil
	case kind == "tcp":
		if _, port, err := net.SplitHostPort(rest); err == nil && isPort(port) {
			return Health{TCP: rest}, nil
		}
	case kind == "unix" && strings.HasPrefix(rest, "/"):
		return Health{Unix: rest}, nil
	case kind == "http" || kind == "https":
		if u, err := url.Parse(s); err == nil && u.Host != "" {
			return Health{URL: s}, nil
		}
	}
	return Health{}, fmt.Errorf("%q; want a URL, tcp:HOST:PORT, unix:PATH, sql or none", s)
}

// Check is the health of the service, with the default filled in.
func (s *Service) Check() Health {
	h, err := ParseHealth(s.Health)
	switch {
	case err != nil || h != Health{}:
		return h
	case s.Engine.MySQLFamily():
		return Health{SQL: true}
	case s.Socket != "":
		return Health{Unix: s.Socket}
	case s.Listen != "":
		return Health{TCP: Reachable(s.Listen)}
	}
	return Health{NoTest: true}
}

// Reachable is an address to which a client of this machine can connect, for an
// address to listen at: a server that listens on all interfaces is reached by
// the loopback.
func Reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || host == "*" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil && strings.Contains(listen, "[") {
			host = "localhost"
		}
	}
	return net.JoinHostPort(host, port)
}
