package topology

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// byPath divides requests by their path: some stay on the app's own host. The other way is
// "all".
const byPath = "path"

// spreadArgs are the arguments of "spread".
type spreadArgs struct {
	Service   string            `arg:"service,required" help:"the app"`
	Over      string            `arg:"over,required" help:"the names of the hosts, as in web,app2; the app's own one is among them, local is the one that iikanji runs on"`
	By        string            `arg:"by" oneof:"all,path" default:"all" help:"which requests the other hosts get: all, or by path all but those of home"`
	Home      string            `arg:"home" help:"paths that stay on the app's own host, as in /image/:id,/upload/; by default those whose handlers write or read its files"`
	Balance   string            `arg:"balance" oneof:",least_conn,round_robin" help:"how the front chooses; by default as it does now"`
	Weights   string            `arg:"weights" help:"shares of the hosts, as in web=1,app2=2; by default equal ones"`
	Variables map[string]string `arg:"env.NAME,many" help:"a variable of the instances on other hosts"`
	Step      string            `arg:"step" oneof:",prepare,switch" help:"prepare or switch; default: what comes next"`
}

// weightsArgs are the arguments of "weights".
type weightsArgs struct {
	Service string `arg:"service,required" help:"the app"`
	Weights string `arg:"weights,required" help:"shares of the hosts, as in web=1,app2=2"`
}

// gatherArgs are the arguments of "gather".
type gatherArgs struct {
	Service string `arg:"service,required" help:"the app"`
	To      string `arg:"to" help:"the host that keeps it, one of those that it runs on; default: its own one"`
}

// keeps is the HostRef.Name of the host that keeps an app.
func (a *gatherArgs) keeps(svc iikanji.Service) string {
	switch a.To {
	case "":
		return svc.Host
	case here:
		return ""
	}
	return a.To
}

// mostWeight bounds a weight; nginx keeps larger ones, but no machine is a hundred times another.
const mostWeight = 100

// hostsOf are the names of hosts in an argument.
func hostsOf(text string) (all []string, err error) {
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "local" {
			name = ""
		} else if name == "" {
			return nil, fmt.Errorf("%q: want names of hosts, as in web,app2", text)
		}
		if slices.Contains(all, name) {
			return nil, fmt.Errorf("%q names a host twice", text)
		}
		all = append(all, name)
	}
	return all, nil
}

// weightsOf reads weights by host.
func weightsOf(text string) (map[string]int, error) {
	all := map[string]int{}
	if text == "" {
		return all, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.Atoi(value)
		if !ok || name == "" || err != nil || n < 1 || n > mostWeight {
			return nil, fmt.Errorf("%q: want weights of 1 to %d by host, as in web=1,app2=2", text, mostWeight)
		}
		if name == "local" {
			name = ""
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("%q has a host twice", text)
		}
		all[name] = n
	}
	return all, nil
}

// Validate checks the arguments as far as that needs no site.
func (a *spreadArgs) Validate() error {
	hosts, err := hostsOf(a.Over)
	if err != nil {
		return err
	}
	if len(hosts) < 2 {
		return errors.New("over: want at least two hosts")
	}
	weights, err := weightsOf(a.Weights)
	if err != nil {
		return err
	}
	for name := range weights {
		if !slices.Contains(hosts, name) {
			return fmt.Errorf("weights: %q is not one of the hosts %s", name, a.Over)
		}
	}
	if err := change.CheckEnvironment(a.Variables); err != nil {
		return err
	}
	if a.Home != "" && a.By != byPath {
		return errors.New("home is for by=path")
	}
	return nil
}

// Validate checks the weights.
func (a *weightsArgs) Validate() error {
	all, err := weightsOf(a.Weights)
	if err == nil && len(all) == 0 {
		err = errors.New("weights: there are none")
	}
	return err
}
