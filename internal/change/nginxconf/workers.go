package nginxconf

import (
	"fmt"
	"strconv"
)

// maxFilesOpen is what Linux lets a process raise its descriptors to, as a rule
// (fs.nr_open); nginx goes on with less when it is told more.
const maxFilesOpen = 1 << 20

// descriptors is how many a worker has when nothing says it: the usual limit
// of a process.
const descriptors = 1024

// editWorkers sets how many workers there are, and connections and descriptors
// of each. A request that is passed on has two connections: nofile is at least
// twice the connections.
func editWorkers(t *task) error {
	var says string
	if v := t.args["processes"]; v != "" {
		if !workers.MatchString(v) || v == "0" {
			return fmt.Errorf("processes %q: want auto or a count", v)
		}
		setMain(t.conf, "worker_processes", v)
		says += " " + v + " workers,"
	}
	if t.args["nofile"] != "" {
		n, err := t.number("nofile", 64, maxFilesOpen)
		if err != nil {
			return err
		}
		setMain(t.conf, "worker_rlimit_nofile", strconv.Itoa(n))
		says += " " + strconv.Itoa(n) + " descriptors,"
	}
	if t.args["connections"] != "" {
		n, err := t.number("connections", 16, maxFilesOpen/2)
		if err != nil {
			return err
		}
		if err := t.setConnections(n); err != nil {
			return err
		}
		says += " " + strconv.Itoa(n) + " connections,"
	}
	if says == "" {
		return fmt.Errorf("want a count of processes, connections or nofile")
	}
	t.says = "give nginx" + says[:len(says)-1]
	if t.args["connections"] != "" || t.args["processes"] != "" {
		t.says += " for each worker"
	}
	return t.consistent()
}

// setMain sets a directive of the main context.
func setMain(c *conf, name, value string) {
	if v, ok := c.mainValue(name); ok && v == value {
		return
	}
	_ = setDirective(c, name, "", []string{value}, everywhere) // the main context is always there
}

func (c *conf) mainValue(name string) (string, bool) {
	if found := c.find(name); len(found) > 0 {
		return found[0].arg(0), true
	}
	return "", false
}

// connections is how many a worker may have; nginx's own number is 512.
func (c *conf) connections() int {
	if found := c.find("worker_connections", "events"); len(found) > 0 {
		if n, err := strconv.Atoi(found[0].arg(0)); err == nil {
			return n
		}
	}
	return 512
}

func (t *task) setConnections(n int) error {
	if t.connections() != n {
		if err := setDirective(t.conf, "worker_connections", "events", []string{strconv.Itoa(n)}, everywhere); err != nil {
			return err
		}
	}
	limit, ok := t.mainValue("worker_rlimit_nofile")
	now, err := strconv.Atoi(limit)
	if !ok || err != nil {
		now = descriptors
	}
	if now < 2*n && t.args["nofile"] == "" {
		setMain(t.conf, "worker_rlimit_nofile", strconv.Itoa(2*n))
	}
	return nil
}

// consistent wants descriptors for the connections that are allowed.
func (t *task) consistent() error {
	limit, ok := t.mainValue("worker_rlimit_nofile")
	if n, err := strconv.Atoi(limit); ok && err == nil && n < 2*t.connections() {
		return fmt.Errorf("nofile %d: want at least twice the %d connections", n, t.connections())
	}
	return nil
}
