package stack

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"strconv"
	"strings"
)

// ports are the services' TCP ports on 127.0.0.1.
type ports struct {
	Nginx    int `json:"nginx"`
	App      int `json:"app"`
	Database int `json:"database"`
}

func (p *ports) each() [3]struct {
	service string
	port    *int
} {
	return [3]struct {
		service string
		port    *int
	}{{Nginx, &p.Nginx}, {App, &p.App}, {Database, &p.Database}}
}

const firstPort = 10240

// portRange is the range to search: below the kernel's ephemeral ports for
// outgoing connections. A load generator opens thousands of these, and one of
// them could take a service's port while the service restarts.
func portRange() (low, high int) {
	low, high = firstPort, 32767
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if f := strings.Fields(string(b)); err == nil && len(f) == 2 {
		if n, err := strconv.Atoi(f[0]); err == nil && n > firstPort+1000 {
			high = n - 1
		}
	}
	return low, high
}

// choosePorts keeps the ports of last that are free and finds others for the
// rest. The search begins at a number derived from the folder, so that two folders
// seldom choose the same port. Ports in avoid were taken by another process
// between the check and the service's listen. fixed is nginx's port as the user
// requested it, or 0. With pinned, the ports of last must be free, because an
// edited config names them.
func choosePorts(dir string, last ports, fixed int, pinned bool, avoid map[int]bool) (ports, error) {
	p := last
	if fixed != 0 {
		p.Nginx = fixed
	}
	h := fnv.New32a()
	h.Write([]byte(dir))
	low, high := portRange()
	next := low + int(h.Sum32())%(high-low)
	for _, s := range p.each() {
		must := pinned || s.service == Nginx && fixed != 0
		if *s.port != 0 && !avoid[*s.port] && portFree(*s.port) {
			continue
		}
		if *s.port != 0 && must {
			return p, portError(s.service, *s.port)
		}
		found := false
		for range high - low {
			if next++; next > high {
				next = low
			}
			if !avoid[next] && next != p.Nginx && next != p.App && next != p.Database && portFree(next) {
				*s.port, found = next, true
				break
			}
		}
		if !found {
			return p, errors.New("no loopback port is free for the " + s.service)
		}
	}
	return p, nil
}

// portFree tests a port by listening, on all addresses too, as an app may do.
func portFree(port int) bool {
	for _, addr := range []string{"127.0.0.1", ""} {
		l, err := net.Listen("tcp", net.JoinHostPort(addr, strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

func portError(service string, port int) error {
	p, _ := listener(port)
	return &PortError{Service: service, Port: port, PID: p.PID, Program: p.name()}
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
	var p proc
	for range 3 { // a socket may close between the two reads of /proc
		var listens bool
		if p, listens = listener(port); !listens || p.PID == root {
			return nil // if the port has no listener any more, the next poll fails
		}
		if p.PID != 0 {
			break
		}
	}
	if p.PID == 0 && !visible(root) {
		return nil
	}
	for _, d := range descendants(root) {
		if d.PID == p.PID {
			return nil
		}
	}
	return &PortError{Service: service, Port: port, PID: p.PID, Program: p.name()}
}

// visible reports whether the open files of a process can be read.
func visible(pid int) bool {
	_, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return err == nil
}
