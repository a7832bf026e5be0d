package isuports

import (
	"testing"
	"time"
)

func TestTmpFull(t *testing.T) {
	dir := t.TempDir()
	b := time.Now()
	if err := Generate(t.Context(), dir+"/webapp", dir+"/data"); err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(b))
	d, err := readDataset(dir + "/data")
	if err != nil {
		t.Fatal(err)
	}
	t.Log(len(d.Samples), d.Tenants[0].Billing)
}
