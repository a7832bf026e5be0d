package history

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/iikanji/iikanji"
)

// Limits of the raw files of runs: the samples of every request, the seconds of runs
// without samples, and the slow logs with the times at which they grew, from which the profiles beside them were made.
const (
	// PackAfter is how many of the latest runs keep their raw files as they were
	// written. Those of older runs are compressed with zstd.
	PackAfter = 20
	// MaxRaw is the size of all raw files, in bytes. Beyond it, those of the oldest
	// runs are removed.
	MaxRaw = 1 << 30
)

// rawNames are the patterns of raw files. No command needs them again.
var rawNames = []string{"samples.bin", "seconds.tsv", "slow.log.gz", "slow-*.log.gz", "slow-growth.json", "slow-growth-*.json",
	"samples.bin.zst", "seconds.tsv.zst", "slow.log.zst", "slow-*.log.zst", "slow-growth.json.zst", "slow-growth-*.json.zst"}

// packedEnding is the ending of a packed file.
const packedEnding = ".zst"

// maxPacked bounds what ReadFile unpacks.
const maxPacked = 256 << 20

// readPacked reads a packed file.
func readPacked(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", filepath.Base(path), err)
	}
	defer z.Close()
	data, err := io.ReadAll(io.LimitReader(z, maxPacked))
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", filepath.Base(path), err)
	}
	return data, nil
}

// IsRaw reports whether a file of a run is a raw one.
func IsRaw(name string) bool {
	return slices.ContainsFunc(rawNames, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// Packed is what Pack did.
type Packed struct {
	Packed int   // files compressed
	Pruned int   // files removed
	Bytes  int64 // of all raw files that are left
}

// Pack compresses the raw files of all but the latest packAfter runs, and removes
// those of the oldest runs while all together are larger than maxRaw. Every other
// file stays.
func (h *History) Pack(packAfter int, maxRaw int64) (Packed, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var p Packed
	if h.j == nil {
		return p, fmt.Errorf("packing the history: %w", errNotWritable)
	}
	runs, err := numbers(filepath.Join(h.dir, runsDir))
	if err != nil {
		return p, err
	}
	type raw struct {
		path string
		size int64
	}
	var kept []raw // of the oldest run first
	for i, n := range runs {
		dir := h.runDir(iikanji.RunID(n))
		entries, err := os.ReadDir(dir)
		if err != nil {
			return p, fmt.Errorf("packing the history: %w", err)
		}
		for _, e := range entries {
			if !IsRaw(e.Name()) || !e.Type().IsRegular() {
				continue
			}
			name := filepath.Join(dir, e.Name())
			if i < len(runs)-packAfter && !strings.HasSuffix(name, ".zst") {
				if name, err = packFile(name); err != nil {
					return p, spaceHint(fmt.Errorf("packing the history: %w", err))
				}
				p.Packed++
			}
			info, err := os.Stat(name)
			if err != nil {
				return p, fmt.Errorf("packing the history: %w", err)
			}
			kept = append(kept, raw{name, info.Size()})
			p.Bytes += info.Size()
		}
	}
	for _, r := range kept {
		if p.Bytes <= maxRaw {
			break
		}
		if err := os.Remove(r.path); err != nil {
			return p, fmt.Errorf("pruning the history: %w", err)
		}
		p.Bytes -= r.size
		p.Pruned++
	}
	return p, nil
}

// packFile compresses a file with zstd and removes it. A gzipped one is decompressed
// first, because zstd makes it smaller. When the process is killed in between, the
// file is there twice, and is packed again.
func packFile(name string) (packed string, err error) {
	in, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	var from io.Reader = in
	packed = name + ".zst"
	if stem, gz := strings.CutSuffix(name, ".gz"); gz {
		packed = stem + ".zst"
		z, err := gzip.NewReader(in)
		if err != nil {
			return "", fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		from = z
	}
	info, err := in.Stat()
	if err != nil {
		return "", err
	}
	if err := writeZstd(packed, from, info.Mode().Perm()); err != nil {
		return "", err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return packed, nil
}

// writeZstd writes a compressed file atomically.
func writeZstd(name string, from io.Reader, mode fs.FileMode) (err error) {
	out, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			out.Close()
			os.Remove(out.Name())
		}
	}()
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if _, err = io.Copy(z, from); err != nil {
		return errors.Join(err, z.Close())
	}
	if err = z.Close(); err != nil {
		return err
	}
	if err = out.Chmod(mode); err != nil {
		return err
	}
	if err = out.Sync(); err != nil {
		return err
	}
	if err = out.Close(); err != nil {
		return err
	}
	return os.Rename(out.Name(), name)
}
