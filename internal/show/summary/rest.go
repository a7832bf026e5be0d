package summary

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// priceFile is beside the last run of a measurement of the sensors' cost.
const priceFile = "price.json"

// A Price is what one sensor costs, as the ratio of observed to bare.
type Price struct {
	Sensor string           `json:"sensor"`
	Run    iikanji.RunID    `json:"run"` // the last one of the measurement
	Score  iikanji.Interval `json:"score"`
	CPU    iikanji.Interval `json:"cpu_per_request"`
	Says   string           `json:"says,omitempty"`
}

// A ratio is the part of a measured cost that is read.
type ratio struct {
	Ratio iikanji.Interval `json:"ratio"`
}

// rest fills in the machine, the versions, the prices and the commands.
func (l *loader) rest() error {
	for _, r := range slices.Backward(l.s.Runs) {
		run := l.loaded[r.ID]
		if run == nil {
			continue
		}
		if l.s.Machine == nil {
			l.s.Machine = run.Machine
		}
		if l.s.Place == nil && run.Place.Cores > 0 {
			l.s.Place = &run.Place
		}
	}
	if n := len(l.s.Observed); n > 0 && l.s.Observed[n-1].detail != nil {
		l.s.Versions = versionsOf(l.s.Observed[n-1].detail.Facts)
	}
	l.commands()
	return l.prices()
}

// versionsOf are the versions that services report.
func versionsOf(known []iikanji.Fact) (versions []Software) {
	for _, f := range known {
		if f.Key == "version" && (fact.TopicVariable.Is(f) || fact.TopicNginxVersion.Is(f)) {
			versions = append(versions, Software{f.Target, strings.TrimPrefix(f.Value, "nginx/")})
		}
	}
	slices.SortFunc(versions, func(a, b Software) int { return strings.Compare(a.Name, b.Name) })
	return versions
}

// commands are what repeats the measurements.
func (l *loader) commands() {
	add := func(c string) {
		if c != "" && !slices.Contains(l.s.Commands, c) {
			l.s.Commands = append(l.s.Commands, c)
		}
	}
	for _, s := range l.s.Searches {
		add(s.Options.Command)
	}
	if len(l.s.Searches) == 0 && len(l.s.Trials) > 0 {
		add("iikanji tune " + l.s.Target)
	}
	for _, r := range l.s.Runs {
		if r.Part == PartSingle && r.Saved && r.Load > 0 {
			add(fmt.Sprintf("iikanji bench %s --load %s --seed %d", l.s.Target, r.Load.Round(1e9), r.Seed))
			break
		}
	}
	add("iikanji history " + l.s.Target)
}

// prices reads the latest measurement of what sensors cost.
func (l *loader) prices() error {
	for _, r := range slices.Backward(l.s.Runs) {
		b, err := l.h.ReadFile(r.ID, priceFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		var doc struct {
			Sensors []struct {
				Sensor string `json:"sensor"`
				Score  ratio  `json:"score"`
				CPU    ratio  `json:"cpu_per_request"`
				Says   string `json:"says"`
			} `json:"sensors"`
		}
		if err := json.Unmarshal(b, &doc); err != nil {
			l.s.Warnings = append(l.s.Warnings, fmt.Sprintf("%s of run %d cannot be read: %s", priceFile, r.ID, err))
			return nil
		}
		for _, s := range doc.Sensors {
			l.s.Prices = append(l.s.Prices, Price{Sensor: s.Sensor, Run: r.ID, Score: s.Score.Ratio, CPU: s.CPU.Ratio, Says: s.Says})
		}
		return nil
	}
	return nil
}

// hideFolders makes the paths of the site relative to its folder, where all of its
// files are below one: readers have no use for the folder of another machine.
func (l *loader) hideFolders() {
	root := l.siteFolder()
	if root == "" {
		return
	}
	hide := func(text *string) { *text = withoutFolder(*text, root) }
	for i := range l.s.Changes {
		c := &l.s.Changes[i]
		hide(&c.Diff)
		hide(&c.Says)
		hide(&c.Claim)
		c.Evidence = slices.Clone(c.Evidence)
		for j := range c.Evidence {
			hide(&c.Evidence[j].Text)
		}
		for j := range c.Moves {
			hide(&c.Moves[j].Why)
		}
	}
	for i := range l.s.Trials {
		t := &l.s.Trials[i]
		for _, text := range []*string{&t.Says, &t.Claim, &t.Skipped, &t.Verdict.Why} {
			hide(text)
		}
		for j := range t.Parts {
			hide(&t.Parts[j])
		}
	}
	for i := range l.s.Observed {
		o := &l.s.Observed[i]
		hide(&o.Error)
		for j := range o.Findings {
			hide(&o.Findings[j].Claim)
			hide(&o.Findings[j].Where)
			for k := range o.Findings[j].Evidence {
				hide(&o.Findings[j].Evidence[k].Text)
			}
			for k := range o.Findings[j].Remedies {
				hide(&o.Findings[j].Remedies[k].Says)
			}
		}
		for j := range o.Sensors {
			hide(&o.Sensors[j].Error)
		}
	}
}

// withoutFolder makes the paths in a text relative to a folder that ends in a slash.
func withoutFolder(text, root string) string {
	for _, side := range []string{"--- a", "+++ b"} { // the names of a diff keep their slash
		text = strings.ReplaceAll(text, side+root, side+"/")
	}
	return strings.ReplaceAll(text, root, "")
}

// quoted is a string in a statement; the text may end in the middle of it.
var quoted = regexp.MustCompile(`(?s)'(?:[^'\\]|\\.|'')*(?:'|$)`)

// withoutValues replaces the strings of quoted statements: they are data of users.
func withoutValues(evidence []iikanji.Evidence) []iikanji.Evidence {
	evidence = slices.Clone(evidence)
	for i, e := range evidence {
		if strings.HasPrefix(e.Source, "digest ") {
			evidence[i].Text = quoted.ReplaceAllString(e.Text, "'?'")
		}
	}
	return evidence
}

// siteFolder is the folder that holds the configurations and logs of all services,
// with a slash at its end. It is "" if they have no folder of their own in common.
func (l *loader) siteFolder() string {
	for _, o := range slices.Backward(l.s.Observed) {
		b, err := l.h.ReadFile(o.Run, "target.json")
		if err != nil {
			continue
		}
		var t iikanji.Target
		if json.Unmarshal(b, &t) != nil {
			continue
		}
		var common []string
		first := true
		for _, s := range t.Services {
			paths := slices.Clone(s.Configs)
			for _, log := range s.Logs {
				paths = append(paths, log.Path)
			}
			for _, p := range paths {
				parts := strings.Split(filepath.Dir(p), "/")
				if first {
					common, first = parts, false
					continue
				}
				n := 0
				for n < len(common) && n < len(parts) && common[n] == parts[n] {
					n++
				}
				common = common[:n]
			}
		}
		if len(common) > 2 { // below "/" there are folders of the whole system
			return strings.Join(common, "/") + "/"
		}
	}
	return ""
}
