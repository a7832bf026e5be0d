package history

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/iikanji/iikanji"
)

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpacked(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPack packs the raw files of old runs, keeps every other file, and prunes the
// oldest ones above the limit.
func TestPack(t *testing.T) {
	h := open(t, t.TempDir())
	log := strings.Repeat("# Query_time: 0.1\nSELECT 1;\n", 200)
	for range 5 {
		id, _, err := h.NewRun()
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"samples.bin": bytes.Repeat([]byte("abcd"), 500), "slow.log.gz": gzipped(t, log), "slow-orders.log.gz": gzipped(t, log), "slow.json": []byte("{}")} {
			if err := h.SaveFile(id, name, data); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.SaveRun(&iikanji.Run{ID: id, Outcome: iikanji.Passed}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := h.Pack(2, MaxRaw)
	if err != nil || p.Packed != 9 || p.Pruned != 0 {
		t.Fatalf("packed %+v, %v; want 9 files of 3 runs", p, err)
	}
	at := func(parts ...string) string {
		return filepath.Join(append([]string{h.Dir(), "runs"}, parts...)...)
	}
	if got := unpacked(t, at("0001", "slow-orders.log.zst")); got != log {
		t.Errorf("the packed log has %d bytes, want %d", len(got), len(log))
	}
	if got := unpacked(t, at("0003", "samples.bin.zst")); got != strings.Repeat("abcd", 500) {
		t.Errorf("the packed samples are %.20q", got)
	}
	for name, want := range map[string]bool{at("0001", "samples.bin"): false, at("0004", "samples.bin"): true, at("0001", "slow.json"): true, at("0001", "run.json"): true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
	if again, err := h.Pack(2, MaxRaw); err != nil || again.Packed != 0 || again.Bytes != p.Bytes {
		t.Errorf("the second time: %+v, %v; the first was %+v", again, err, p)
	}
	small, err := h.Pack(2, p.Bytes/2)
	if err != nil || small.Pruned == 0 || small.Bytes > p.Bytes/2 {
		t.Fatalf("pruned to half: %+v, %v", small, err)
	}
	if _, err := os.Stat(at("0001", "samples.bin.zst")); err == nil {
		t.Error("the oldest raw file was not pruned first")
	}
	if _, err := os.Stat(at("0005", "samples.bin")); err != nil {
		t.Error("the newest raw file was pruned:", err)
	}
	if runs, err := h.Runs(); err != nil || len(runs) != 5 {
		t.Errorf("runs after pruning: %v, %v", runs, err)
	}
}
