package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

const (
	samplesPerBlock = 1600 // a block is 64 KB
	// maxBlocks limits the queue for a slow disk to 16 MB. Further samples are
	// dropped and counted, because waiting would change the load.
	maxBlocks = 256
)

// A sampleWriter writes blocks of samples in its own goroutine. The file has a
// temporary name until it is complete. A nil writer keeps no samples.
type sampleWriter struct {
	path   string
	part   string // the temporary name
	file   *os.File
	blocks chan []byte
	free   sync.Pool
	lost   atomic.Int64
	done   chan struct{}
	err    error // valid after done
}

// A sampleBuffer collects the samples of one shard, under the shard's lock.
type sampleBuffer struct {
	w    *sampleWriter
	full []byte
}

// newSampleWriter creates the file. With an empty dir it returns nil.
func newSampleWriter(dir string, head SampleHead) (*sampleWriter, error) {
	if dir == "" {
		return nil, nil
	}
	path := filepath.Join(dir, SamplesFile)
	w := &sampleWriter{path: path, part: path + ".part", blocks: make(chan []byte, maxBlocks), done: make(chan struct{})}
	head.Format, head.Version, head.Record, head.Phases = sampleFormat, 1, sampleSize, samplePhases
	line, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("writing the head of the samples: %w", err)
	}
	if w.file, err = os.Create(w.part); err != nil {
		return nil, fmt.Errorf("creating the file of samples: %w", err)
	}
	if _, err := w.file.Write(append(line, '\n')); err != nil {
		w.abandon()
		return nil, fmt.Errorf("writing the head of the samples: %w", err)
	}
	go w.write()
	return w, nil
}

func (w *sampleWriter) abandon() {
	_ = w.file.Close() // the file is thrown away
	_ = os.Remove(w.part)
}

// write runs until blocks is closed. After an error it discards the blocks.
func (w *sampleWriter) write() {
	defer close(w.done)
	for b := range w.blocks {
		if w.err == nil {
			_, w.err = w.file.Write(b)
		} else {
			w.lost.Add(int64(len(b) / sampleSize))
		}
		b = b[:0]
		w.free.Put(&b)
	}
}

func (w *sampleWriter) buffer() *sampleBuffer {
	if w == nil {
		return nil
	}
	return &sampleBuffer{w: w}
}

func (b *sampleBuffer) add(x *exchange, phase uint8) {
	if b.full == nil {
		if p, _ := b.w.free.Get().(*[]byte); p != nil {
			b.full = *p
		} else {
			b.full = make([]byte, 0, samplesPerBlock*sampleSize)
		}
	}
	b.full = appendSample(b.full, x, phase)
	if len(b.full) == samplesPerBlock*sampleSize {
		select {
		case b.w.blocks <- b.full:
		default:
			b.w.lost.Add(samplesPerBlock)
		}
		b.full = nil
	}
}

// close writes the remaining samples and renames the file. It returns a warning
// if samples were lost.
func (w *sampleWriter) close(shards []shard) (warning string) {
	if w == nil {
		return ""
	}
	for i := range shards {
		s := &shards[i]
		s.mu.Lock()
		if len(s.samples.full) > 0 {
			w.blocks <- s.samples.full
		}
		s.samples = nil // later samples are not kept
		s.mu.Unlock()
	}
	close(w.blocks)
	<-w.done
	err := w.err
	if cerr := w.file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(w.part, w.path)
	} else {
		_ = os.Remove(w.part) // an incomplete file misleads, and the disk may be full
	}
	switch {
	case err != nil:
		return fmt.Sprintf("raw samples were not kept: %v", err)
	case w.lost.Load() > 0:
		return fmt.Sprintf("%d raw samples were lost: the disk was too slow", w.lost.Load())
	}
	return ""
}
