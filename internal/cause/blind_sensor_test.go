package cause_test

import (
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// TestBlindSensors checks that findings of a blind sensor are withheld, and that
// BEN103 reports the sensor.
func TestBlindSensors(t *testing.T) {
	in := cause.Input{Profiles: []iikanji.Profile{{Source: iikanji.Slow, Rows: readDigests(t, "900 20 54000000 900 | SELECT id FROM t ORDER BY RAND() LIMIT 1")}}}
	fs, err := findAll(in)
	if err != nil || len(fs) != 1 || fs[0].Code != "DB122" {
		t.Fatalf("%v, %v", fs, err)
	}
	in.Blind, in.BlindWhy = []iikanji.Source{iikanji.Slow}, map[iikanji.Source]string{iikanji.Slow: "no line parsed"}
	fs, err = findAll(in)
	if err != nil || len(fs) != 1 || fs[0].Code != "BEN103" || fs[0].Where != "slow" || fs[0].Evidence[0].Text != "no line parsed" {
		t.Fatalf("%v, %v", fs, err)
	}
}
