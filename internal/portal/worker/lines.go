package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
)

// A reportLine is one line of JSON of a benchmarker's report.
type reportLine struct {
	T        float64         `json:"t"` // seconds since its start
	Score    float64         `json:"score"`
	Phase    string          `json:"phase"`
	Message  string          `json:"message"`
	End      bool            `json:"end"`
	Pass     bool            `json:"pass"`
	Void     bool            `json:"void"` // the measurement was the limit: it says nothing of the site
	Raw      float64         `json:"raw"`
	Deducted float64         `json:"deducted"`
	Reasons  []string        `json:"reasons"`
	Faults   []iikanji.Fault `json:"faults"`
}

// errNoEnd is a report without its last line.
var errNoEnd = errors.New("the benchmarker's report has no line with \"end\": true")

// readLines reads a report. Lines that are no JSON are ignored; the last line with "end"
// counts. any is false for a report without a line.
func readLines(text []byte) (r api.Report, any bool, err error) {
	err = errNoEnd
	for line := range bytes.Lines(text) {
		l := reportLine{}
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		any = true
		r.Growth = appendGrowth(r.Growth, l)
		if !l.End {
			continue
		}
		err = nil
		r.Outcome = iikanji.Failed
		if l.Pass && !math.IsInf(l.Score, 0) {
			r.Outcome, r.Score = iikanji.Passed, l.Score
		}
		if l.Void {
			r.Outcome, r.Score = iikanji.Void, 0
		}
		r.Raw, r.Deducted, r.Reasons, r.Faults = l.Raw, l.Deducted, l.Reasons, l.Faults
	}
	return r, any, err
}

// maxGrowth is the longest run whose growth is kept, in seconds.
const maxGrowth = 3600

// appendGrowth notes the score of a line at its second; seconds without a line keep the score
// before.
func appendGrowth(growth []float64, l reportLine) []float64 {
	if l.T < 0 || l.T >= maxGrowth || l.End {
		return growth
	}
	last := 0.0
	for len(growth) <= int(l.T) {
		if n := len(growth); n > 0 {
			last = growth[n-1]
		}
		growth = append(growth, last)
	}
	growth[int(l.T)] = l.Score
	return growth
}
