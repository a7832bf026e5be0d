package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// Files of a diagnosed run, beside its run.json.
const (
	accessFile  = "access.json"
	slowFile    = "slow.json"
	factsFile   = "facts.json"
	sensorsFile = "sensors.json"
	hostFile    = "host.tsv"
	errorsFile  = "errors.json"
	usageFile   = "host.json"
	targetFile  = "target.json"
	slowLogFile = "slow.log.gz"
	// growthFile has the lengths of the slow log at known times, as JSON. With it,
	// entries have times that are finer than their timestamps. It has at most one
	// point for each lookEvery of the load: about a megabyte a minute, packed with the
	// other raw files.
	growthFile = "slow-growth.json"
)

// profileFiles are the files of the profiles of one service each.
var profileFiles = map[iikanji.Source]string{iikanji.Access: accessFile, iikanji.Slow: slowFile, iikanji.Host: usageFile}

// nameFor is the name of a file with a service's name before its first ending,
// as in slow-orders.json.
func nameFor(file, service string) string {
	stem, ending, _ := strings.Cut(file, ".")
	return stem + "-" + url.PathEscape(service) + "." + ending
}

// MachineFile is the file with the samples of another machine of a run.
func MachineFile(host string) string { return nameFor(hostFile, host) }

// fileFor is the name of a file of a service: with the service's name where
// several services have a sensor of the source.
func (ob *Observation) fileFor(name string, source iikanji.Source, service string) string {
	if slices.ContainsFunc(ob.Sensors, func(s Sensor) bool { return s.Source == source && s.Target == service && service != "" }) {
		return nameFor(name, service)
	}
	return name
}

// profileNames are the files that the profiles of an observation may be in.
func (ob *Observation) profileNames() []string {
	var out []string
	for _, source := range []iikanji.Source{iikanji.Access, iikanji.Slow, iikanji.Host} {
		out = append(out, profileFiles[source])
		for _, s := range ob.Sensors {
			if s.Source == source && s.Target != "" {
				out = append(out, nameFor(profileFiles[source], s.Target))
			}
		}
	}
	return append(out, errorsFile)
}

// Observed reports whether sensors saw a saved run: its score does not compare with others.
func Observed(h *history.History, id iikanji.RunID) bool {
	_, err := os.Stat(filepath.Join(h.Dir(), "runs", fmt.Sprintf("%04d", id), sensorsFile))
	return err == nil
}

// Keep saves a run with what was observed of it, so that it can be diagnosed
// again. Data of a red sensor is saved too, so that its failure can be examined.
func Keep(h *history.History, ob *Observation, known []iikanji.Fact) error {
	id := ob.Run.ID
	for _, l := range ob.slowLogs {
		if err := keepSlowLog(h, ob, l); err != nil {
			return err
		}
	}
	var errs []iikanji.Profile
	for i := range ob.Profiles {
		name := profileFiles[ob.Profiles[i].Source]
		if name == "" {
			errs = append(errs, ob.Profiles[i])
			continue
		}
		name = ob.fileFor(name, ob.Profiles[i].Source, ob.Profiles[i].Target)
		if err := keepJSON(h, id, name, &ob.Profiles[i]); err != nil {
			return err
		}
	}
	if err := keepJSON(h, id, errorsFile, errs); err != nil {
		return err
	}
	if err := h.SaveFile(id, hostFile, hoststat.TSV(ob.Host)); err != nil {
		return err
	}
	for _, other := range ob.Hosts {
		if err := h.SaveFile(id, MachineFile(other.Host), hoststat.TSV(other.Samples)); err != nil {
			return err
		}
	}
	if err := keepJSON(h, id, factsFile, known); err != nil {
		return err
	}
	if err := keepJSON(h, id, targetFile, ob.Target); err != nil {
		return err
	}
	if err := keepJSON(h, id, sensorsFile, ob.Sensors); err != nil {
		return err
	}
	return h.SaveRun(ob.Run)
}

func keepJSON(h *history.History, id iikanji.RunID, name string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("saving %s of run %d: %w", name, id, err)
	}
	return h.SaveFile(id, name, append(b, '\n'))
}

// Recall reads what Keep saved. A run that was not observed is fs.ErrNotExist.
func Recall(h *history.History, id iikanji.RunID) (*Observation, []iikanji.Fact, error) {
	ob := new(Observation)
	var known []iikanji.Fact
	var err error
	if ob.Run, err = h.LoadRun(id); err != nil {
		return nil, nil, err
	}
	if err = recallJSON(h, id, sensorsFile, &ob.Sensors); err == nil {
		err = recallJSON(h, id, factsFile, &known)
	}
	if err == nil {
		err = fact.Decode(known)
	}
	if err == nil {
		err = recallJSON(h, id, targetFile, &ob.Target)
		if errors.Is(err, fs.ErrNotExist) { // kept before targets were
			err = nil
		}
	}
	if err != nil {
		return nil, nil, err
	}
	for _, name := range ob.profileNames() {
		var all []iikanji.Profile
		var err error
		if name == errorsFile {
			err = recallJSON(h, id, name, &all)
		} else {
			all = make([]iikanji.Profile, 1)
			err = recallJSON(h, id, name, &all[0])
		}
		if errors.Is(err, fs.ErrNotExist) { // of a sensor that was red
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for _, p := range all {
			if p.Version > iikanji.ProfileVersion {
				return nil, nil, fmt.Errorf("reading %s of run %d: it is of version %d, this is %d", name, id, p.Version, iikanji.ProfileVersion)
			}
		}
		ob.Profiles = append(ob.Profiles, all...)
	}
	ob.findLogs(h.Dir())
	return ob, known, nil
}

// findLogs makes the names of kept logs absolute, which are relative to the history.
func (ob *Observation) findLogs(dir string) {
	for i := range ob.Profiles {
		for j := range ob.Profiles[i].Rows {
			r := &ob.Profiles[i].Rows[j]
			files := []*string{&r.Example.File}
			if r.Query != nil {
				files = append(files, &r.Query.Typical.File)
			}
			for _, file := range files {
				if strings.HasPrefix(*file, "runs/") {
					*file = filepath.Join(dir, filepath.FromSlash(*file))
				}
			}
		}
	}
}

// mostSlowLog is how many bytes of a slow log are kept, from its start; gzip
// compresses them to about a tenth.
const mostSlowLog = 128 << 20

// mostFetched is how many bytes of compressed logs of other machines are kept of one run.
const mostFetched = 60 << 20

// packLog is a slow log as gzip. That of another machine comes compressed.
func packLog(ob *Observation, l slowLog) ([]byte, error) {
	if host.WorkerOf(l.host) != nil {
		if ob.fetched >= mostFetched {
			return nil, fs.ErrNotExist
		}
		b, err := rawTask().On(context.Background(), l.host, rawOrder{l.path, mostFetched - ob.fetched})
		ob.fetched += len(b)
		return b, err
	}
	f, err := l.host.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return packed(io.LimitReader(f, mostSlowLog), 0)
}

// keepSlowLog saves a compressed copy of the log in the run's folder, and makes the
// examples of the profile refer to it, because the next observation overwrites the
// log. Lines keep their numbers. Of a very long log only the beginning is kept.
func keepSlowLog(h *history.History, ob *Observation, l slowLog) error {
	packed, err := packLog(ob, l)
	if errors.Is(err, fs.ErrNotExist) { // its sensor is red then
		return nil
	}
	if err != nil {
		return fmt.Errorf("keeping the slow log: %w", err)
	}
	name := ob.fileFor(slowLogFile, iikanji.Slow, l.service)
	if err := h.SaveFile(ob.Run.ID, name, packed); err != nil {
		return err
	}
	if l.growing != nil {
		b, err := json.Marshal(l.growing.growth.Points())
		if err == nil {
			err = h.SaveFile(ob.Run.ID, ob.fileFor(growthFile, iikanji.Slow, l.service), b)
		}
		if err != nil {
			return fmt.Errorf("keeping the growth of the slow log: %w", err)
		}
	}
	kept := filepath.Join("runs", fmt.Sprintf("%04d", ob.Run.ID), name) // a history can be moved and committed
	for i := range ob.Profiles {
		if ob.Profiles[i].Source != iikanji.Slow {
			continue
		}
		for j := range ob.Profiles[i].Rows {
			r := &ob.Profiles[i].Rows[j]
			for _, at := range []*iikanji.Sighting{&r.Example, &r.Query.Typical} {
				if at.File == l.path {
					at.File = kept
				}
			}
		}
	}
	return nil
}

// A KeptLog is the slow log of one database that Keep saved.
type KeptLog struct {
	Path   string
	Growth *lines.Growth // nil for a log that was not watched
}

// KeptLogs are the slow logs of a run. Those of old runs may be removed.
func KeptLogs(h *history.History, id iikanji.RunID) (logs []KeptLog, err error) {
	dir := filepath.Join(h.Dir(), "runs", fmt.Sprintf("%04d", id))
	for _, pattern := range []string{"slow.log.*", "slow-*.log.*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("finding the slow logs of run %d: %w", id, err)
		}
		for _, path := range found {
			stem, _, _ := strings.Cut(filepath.Base(path), ".")
			service := strings.TrimPrefix(strings.TrimPrefix(stem, "slow"), "-")
			name := growthFile
			if service != "" {
				name = strings.TrimSuffix(growthFile, ".json") + "-" + service + ".json"
			}
			l := KeptLog{Path: path}
			var points [][3]int64
			switch err := recallJSON(h, id, name, &points); {
			case err == nil:
				l.Growth = lines.GrowthOf(points)
			case !errors.Is(err, fs.ErrNotExist):
				return nil, err
			}
			logs = append(logs, l)
		}
	}
	return logs, nil
}

func recallJSON(h *history.History, id iikanji.RunID, name string, v any) error {
	b, err := h.ReadFile(id, name)
	if err != nil {
		return fmt.Errorf("reading %s of run %d: %w", name, id, err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("reading %s of run %d: %w", name, id, err)
	}
	return nil
}
