package iikanji

import (
	"bytes"
	"encoding/json"
	"time"
)

// MarshalJSON leaves out the times of an untimed row, which are unknown.
func (r Row) MarshalJSON() ([]byte, error) {
	type plain Row
	if !r.Untimed {
		return marshal(plain(r))
	}
	return marshal(struct { // its fields hide those of plain, and are never set
		plain
		Total  *time.Duration `json:"total_ns,omitempty"`
		Share  *float64       `json:"share,omitempty"`
		Mean   *time.Duration `json:"mean_ns,omitempty"`
		Stddev *time.Duration `json:"stddev_ns,omitempty"`
		Min    *time.Duration `json:"min_ns,omitempty"`
		P50    *time.Duration `json:"p50_ns,omitempty"`
		P90    *time.Duration `json:"p90_ns,omitempty"`
		P95    *time.Duration `json:"p95_ns,omitempty"`
		P99    *time.Duration `json:"p99_ns,omitempty"`
		Max    *time.Duration `json:"max_ns,omitempty"`
	}{plain: plain(r)})
}

// marshal leaves <, > and & as they are: the encoder that calls MarshalJSON escapes them if it
// was asked to.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
