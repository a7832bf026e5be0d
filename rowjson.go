package iikanji

import (
	"encoding/json"
	"time"
)

// MarshalJSON leaves out the times of an untimed row, which are unknown.
func (r Row) MarshalJSON() ([]byte, error) {
	type plain Row
	if !r.Untimed {
		return json.Marshal(plain(r))
	}
	return json.Marshal(struct { // its fields hide those of plain, and are never set
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
