package stack

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/freeport"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// ports are TCP ports on 127.0.0.1 by the service's name, or by "service/name" for
// a service's further ports.
type ports map[string]int

// A portKey is a port that a service needs.
type portKey struct{ key, service string }

// portKeys lists the ports that services need.
func portKeys(services []arena.Service) []portKey {
	var keys []portKey
	for _, svc := range services {
		if !svc.NoPort {
			keys = append(keys, portKey{svc.Name, svc.Name})
		}
		for _, name := range svc.Ports {
			keys = append(keys, portKey{furtherPort(svc.Name, name), svc.Name})
		}
	}
	return keys
}

func furtherPort(service, name string) string { return service + "/" + name }

// A portChoice is what limits the choice of ports.
type portChoice struct {
	last  ports // of the last start
	entry string
	fixed int          // port of the entry as the user requested it, or 0
	must  bool         // the ports of last must be free, because an edited config names them
	avoid map[int]bool // taken by another process between the check and the service's listen
}

// choosePorts keeps the ports of the last start that are free and finds others for
// the rest. The search begins at a number derived from the folder, so that two
// folders seldom choose the same port.
func choosePorts(dir string, keys []portKey, c portChoice) (ports, error) {
	p := ports{}
	for _, k := range keys {
		if port := c.last[k.key]; port != 0 {
			p[k.key] = port
		}
	}
	if c.fixed != 0 {
		p[c.entry] = c.fixed
	}
	h := fnv.New32a()
	h.Write([]byte(dir))
	low, high := freeport.Range()
	next := low + int(h.Sum32())%(high-low)
	for _, k := range keys {
		now := p[k.key]
		if now != 0 && !c.avoid[now] && freeport.Free(now) {
			continue
		}
		if now != 0 && (c.must || k.key == c.entry && c.fixed != 0) {
			return p, portError(k.service, now)
		}
		port, ok := freePort(&next, low, high, func(port int) bool { return c.avoid[port] || p.has(port) })
		if !ok {
			return p, errors.New("no loopback port is free for the " + k.service)
		}
		p[k.key] = port
	}
	return p, nil
}

func (p ports) has(port int) bool {
	for _, other := range p {
		if other == port {
			return true
		}
	}
	return false
}

// freePort returns the first free port after next, which it advances.
func freePort(next *int, low, high int, not func(int) bool) (int, bool) {
	for range high - low {
		if *next++; *next > high {
			*next = low
		}
		if !not(*next) && freeport.Free(*next) {
			return *next, true
		}
	}
	return 0, false
}

func portError(service string, port int) error {
	pid, name, _ := process.Listener(port)
	return &PortError{Service: service, Port: port, PID: pid, Program: name}
}

// lostPort reports whether a service's last log lines mean that its port is taken.
func lostPort(tail []string) bool {
	for _, line := range tail {
		l := strings.ToLower(line)
		if strings.Contains(l, "address already in use") || strings.Contains(l, "got error: 98") {
			return true
		}
	}
	return false
}

// ownPort checks that the process listening on a port belongs to the service. A
// foreign process may have had the port before, and the service may not have
// noticed yet.
func ownPort(service string, port, root int) error {
	var pid int
	var name string
	for range 3 { // a socket may close between the two reads of /proc
		var listens bool
		if pid, name, listens = process.Listener(port); !listens || pid == root {
			return nil // if the port has no listener any more, the next poll fails
		}
		if pid != 0 {
			break
		}
	}
	if pid == 0 && !visible(root) {
		return nil
	}
	for _, d := range process.Descendants(root) {
		if d.PID == pid {
			return nil
		}
	}
	return &PortError{Service: service, Port: port, PID: pid, Program: name}
}

// visible reports whether the open files of a process can be read.
func visible(pid int) bool {
	_, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return err == nil
}
