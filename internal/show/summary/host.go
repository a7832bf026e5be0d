package summary

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// A HostSeries is the samples of a host over a run, by second.
type HostSeries struct {
	At []time.Time `json:"at"`
	// Services are the machine ("host") and each service, in the order of the file.
	Services []ServiceSeries `json:"services"`
}

// A ServiceSeries is the samples of one service: CPU in cores, memory in bytes.
// A sample in which the service had no row is 0.
type ServiceSeries struct {
	Name   string    `json:"name"`
	Cores  []float64 `json:"cores"`
	Memory []float64 `json:"memory_bytes"`
}

// maxSamples bounds the samples of one file: a day of seconds.
const maxSamples = 86400

// ParseHost reads a file of samples in the form of package hoststat.
func ParseHost(tsv []byte) (*HostSeries, error) {
	head, body, _ := bytes.Cut(tsv, []byte("\n"))
	column := map[string]int{}
	for i, name := range strings.Split(string(head), "\t") {
		column[name] = i
	}
	for _, name := range []string{"time", "service", "user_cores", "system_cores", "rss_bytes"} {
		if _, ok := column[name]; !ok {
			return nil, fmt.Errorf("there is no column %s", name)
		}
	}
	s := &HostSeries{}
	at := map[string]int{}
	for line := range bytes.Lines(body) {
		cells := strings.Split(strings.TrimSuffix(string(line), "\n"), "\t")
		cell := func(name string) string {
			if i := column[name]; i < len(cells) {
				return cells[i]
			}
			return ""
		}
		when, err := time.Parse(time.RFC3339Nano, cell("time"))
		if err != nil {
			return nil, fmt.Errorf("a sample without a time: %w", err)
		}
		if n := len(s.At); n == 0 || !s.At[n-1].Equal(when) {
			if n == maxSamples {
				return nil, fmt.Errorf("more than %d samples", maxSamples)
			}
			s.At = append(s.At, when)
		}
		s.add(at, cell("service"), numberOf(cell("user_cores"))+numberOf(cell("system_cores")), numberOf(cell("rss_bytes")))
	}
	for i := range s.Services {
		s.Services[i].pad(len(s.At))
	}
	return s, nil
}

// add appends the values of a service in the latest sample. at holds the index of
// each service.
func (s *HostSeries) add(at map[string]int, name string, cores, memory float64) {
	if strings.HasPrefix(name, "other/") { // programs beside the site differ from sample to sample
		return
	}
	i, ok := at[name]
	if !ok {
		i = len(s.Services)
		at[name] = i
		s.Services = append(s.Services, ServiceSeries{Name: name})
	}
	v := &s.Services[i]
	if v.pad(len(s.At) - 1); len(v.Cores) == len(s.At)-1 { // a second row of one sample is left out
		v.Cores, v.Memory = append(v.Cores, cores), append(v.Memory, memory)
	}
}

// aside is how far a sample of another machine may be from one of this series: both are taken
// once a second.
const aside = 750 * time.Millisecond

// addOf adds the services of another machine, each with its name. Each sample goes to the
// nearest one of the series.
func (s *HostSeries) addOf(host string, o *HostSeries) {
	place := make([]int, len(o.At))
	for j, at := range o.At {
		place[j] = -1
		i, _ := slices.BinarySearchFunc(s.At, at, time.Time.Compare)
		for _, k := range []int{i - 1, i} {
			if k >= 0 && k < len(s.At) && s.At[k].Sub(at).Abs() <= aside && (place[j] < 0 || s.At[k].Sub(at).Abs() < s.At[place[j]].Sub(at).Abs()) {
				place[j] = k
			}
		}
	}
	for _, v := range o.Services {
		out := ServiceSeries{Name: iikanji.PlacedOn(v.Name, host), Cores: make([]float64, len(s.At)), Memory: make([]float64, len(s.At))}
		for j := range v.Cores {
			if i := place[j]; i >= 0 {
				out.Cores[i], out.Memory[i] = v.Cores[j], v.Memory[j]
			}
		}
		s.Services = append(s.Services, out)
	}
}

// pad fills in samples without a row.
func (v *ServiceSeries) pad(n int) {
	for len(v.Cores) < n {
		v.Cores, v.Memory = append(v.Cores, 0), append(v.Memory, 0)
	}
}

func numberOf(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v != v || v > 1e18 || v < 0 {
		return 0
	}
	return v
}
