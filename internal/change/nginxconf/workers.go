package nginxconf

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
)

// maxDescriptors is the usual maximum of descriptors of a process on Linux
// (fs.nr_open). nginx continues with fewer if it is configured for more.
const maxDescriptors = 1 << 20

// defaultDescriptors is how many descriptors a worker has if none are
// configured: the usual limit of a process.
const defaultDescriptors = 1024

var workerCount = regexp.MustCompile(`^([0-9]{1,4}|auto)$`)

// workers sets the number of worker processes, and the connections and
// descriptors of each. A request that is passed on has two connections, so
// nofile is at least twice the connections.
type workers struct {
	Processes   string `arg:"processes" help:"auto or a count"`
	Connections int    `arg:"connections" range:"16,524288" help:"connections of each process"`
	Nofile      int    `arg:"nofile" range:"64,1048576" help:"descriptors of each process; raised to twice the connections if it is less"`
}

// Validate is called by change.Decode.
func (a *workers) Validate() error {
	if *a == (workers{}) {
		return errors.New("want a count of processes, connections or nofile")
	}
	if a.Processes == "" {
		return nil
	}
	return checkProcesses(a.Processes)
}

// maxProcesses is the largest number of workers: more than the cores of a usual
// machine only cost memory.
const maxProcesses = 256

// checkProcesses refuses what is not a number of workers that can answer.
func checkProcesses(v string) error {
	n, err := strconv.Atoi(v)
	if v != "auto" && (err != nil || !workerCount.MatchString(v) || n < 1 || n > maxProcesses) {
		return fmt.Errorf("processes %q: want auto or a count from 1 to %d", v, maxProcesses)
	}
	return nil
}

func (a *workers) edit(t *task) error {
	var says string
	t.Weaken(a.promises(t.Conf)...)
	if a.Processes != "" {
		setMain(t.Conf, "worker_processes", a.Processes)
		says += " " + a.Processes + " workers,"
	}
	if a.Nofile != 0 {
		setMain(t.Conf, "worker_rlimit_nofile", strconv.Itoa(a.Nofile))
		says += " " + strconv.Itoa(a.Nofile) + " descriptors,"
	}
	if a.Connections != 0 {
		if err := t.setConnections(a.Connections, a.Nofile == 0); err != nil {
			return err
		}
		says += " " + strconv.Itoa(a.Connections) + " connections,"
	}
	t.Says = "give nginx" + says[:len(says)-1]
	if a.Connections != 0 || a.Processes != "" {
		t.Says += " for each worker"
	}
	return t.consistent()
}

// promises are those that fewer workers, connections or descriptors weaken.
func (a *workers) promises(c *nginxedit.Conf) []iikanji.Promise {
	var all []iikanji.Promise
	for _, d := range []struct{ name, value, usual string }{
		{"worker_processes", a.Processes, "1"}, {"worker_connections", strconv.Itoa(a.Connections), strconv.Itoa(workerConnections(c))},
		{"worker_rlimit_nofile", strconv.Itoa(a.Nofile), strconv.Itoa(defaultDescriptors)},
	} {
		before, ok := mainValue(c, d.name)
		if !ok {
			before = d.usual
		}
		if d.value != "" && d.value != "0" {
			all = append(all, promise.Nginx.Of(d.name, before, d.value)...)
		}
	}
	return all
}

// setMain sets a directive of the main context.
func setMain(c *nginxedit.Conf, name, value string) {
	if v, ok := mainValue(c, name); ok && v == value {
		return
	}
	_ = nginxedit.SetEverywhere(c, name, "", []string{value}, nginxedit.EveryPlace) // the main context always exists
}

func mainValue(c *nginxedit.Conf, name string) (string, bool) {
	if found := c.Find(name); len(found) > 0 {
		return found[0].Arg(0), true
	}
	return "", false
}

// workerConnections is how many connections a worker may have; nginx's default is 512.
func workerConnections(c *nginxedit.Conf) int {
	if found := c.Find("worker_connections", "events"); len(found) > 0 {
		if n, err := strconv.Atoi(found[0].Arg(0)); err == nil {
			return n
		}
	}
	return 512
}

// setConnections sets the connections of a worker. raise raises its descriptors
// to twice as many if they are fewer.
func (t *task) setConnections(n int, raise bool) error {
	if workerConnections(t.Conf) != n {
		if err := nginxedit.SetEverywhere(t.Conf, "worker_connections", "events", []string{strconv.Itoa(n)}, nginxedit.EveryPlace); err != nil {
			return err
		}
	}
	limit, ok := mainValue(t.Conf, "worker_rlimit_nofile")
	now, err := strconv.Atoi(limit)
	if !ok || err != nil {
		now = defaultDescriptors
	}
	if now < 2*n && raise {
		setMain(t.Conf, "worker_rlimit_nofile", strconv.Itoa(2*n))
	}
	return nil
}

// consistent refuses fewer descriptors than twice the connections.
func (t *task) consistent() error {
	limit, ok := mainValue(t.Conf, "worker_rlimit_nofile")
	if n, err := strconv.Atoi(limit); ok && err == nil && n < 2*workerConnections(t.Conf) {
		return fmt.Errorf("nofile %d: want at least twice the %d connections", n, workerConnections(t.Conf))
	}
	return nil
}
