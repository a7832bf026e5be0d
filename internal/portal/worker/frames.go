package worker

import (
	"encoding/binary"
	"errors"
	"net/url"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
)

// A framesBench runs a benchmarker of the isuxbench contract: it gets its target in
// ISUXBENCH_TARGET and writes frames to the descriptor in ISUXBENCH_REPORT_FD, each two bytes
// of length (big endian) and a message BenchmarkResult.
type framesBench struct{}

func (b *framesBench) command(a *api.Assignment, dir string) (spec, error) {
	all := make([]string, len(a.Targets))
	for i, t := range a.Targets {
		all[i] = hostOf(t)
	}
	return commandSpec(a, dir, []string{"ISUXBENCH_TARGET=" + hostOf(a.Target), "ISUXBENCH_ALL_ADDRESSES=" + strings.Join(all, ","), "ISUXBENCH_REPORT_FD=3"})
}

// hostOf is the HOST:PORT of a URL.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

func (b *framesBench) progress([]byte) *api.Progress { return nil }

func (b *framesBench) report(e ending) api.Report {
	if e.failed != "" {
		return api.Report{Outcome: iikanji.OutcomeUnknown, Error: e.failed}
	}
	r, finished, err := readFrames(e.report)
	if err == nil && !finished {
		err = errors.New("the benchmarker ended without a finished result: " + lastLine(e.stderr))
	}
	if err != nil {
		return api.Report{Outcome: iikanji.OutcomeUnknown, Error: err.Error()}
	}
	return r
}

// errFrame is a report that is no sequence of frames.
var errFrame = errors.New("the benchmarker's report is not of the isuxbench contract")

// readFrames reads the last result of a report.
func readFrames(text []byte) (r api.Report, finished bool, err error) {
	for len(text) > 0 {
		if len(text) < 2 {
			return r, false, errFrame
		}
		n := int(binary.BigEndian.Uint16(text))
		if len(text) < 2+n {
			return r, false, errFrame
		}
		if r, finished, err = readResult(text[2 : 2+n]); err != nil {
			return r, false, err
		}
		text = text[2+n:]
	}
	return r, finished, nil
}

// readResult reads a message BenchmarkResult: finished = 1, passed = 2, score = 3,
// score_breakdown = 4 {raw = 1, deduction = 2}, execution = 5 {reason = 1}. Other fields are
// ignored.
func readResult(message []byte) (r api.Report, finished bool, err error) {
	r.Outcome = iikanji.Failed
	score := 0.0
	err = fields(message, func(n protowire.Number, number uint64, text []byte) error {
		switch n {
		case 1:
			finished = number != 0
		case 2:
			if number != 0 {
				r.Outcome = iikanji.Passed
			}
		case 3:
			score = float64(int64(number))
		case 4:
			return fields(text, func(n protowire.Number, number uint64, _ []byte) error {
				switch n {
				case 1:
					r.Raw = float64(int64(number))
				case 2:
					r.Deducted = float64(int64(number))
				}
				return nil
			})
		case 5:
			return fields(text, func(n protowire.Number, _ uint64, text []byte) error {
				if n == 1 && len(text) > 0 {
					r.Reasons = append(r.Reasons, string(text))
				}
				return nil
			})
		}
		return nil
	})
	if r.Outcome == iikanji.Passed {
		r.Score = score
	}
	return r, finished, err
}

// fields calls do with each field of a message: its number, and its varint or its bytes.
func fields(b []byte, do func(n protowire.Number, number uint64, text []byte) error) error {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return errFrame
		}
		b = b[size:]
		var number uint64
		var text []byte
		switch kind {
		case protowire.VarintType:
			number, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			text, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(n, kind, b)
		}
		if size < 0 {
			return errFrame
		}
		if err := do(n, number, text); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}
