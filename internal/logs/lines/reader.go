package lines

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// A Reader distributes blocks of its inputs to workers.
type Reader struct {
	inputs []*Input
	opt    Options

	limit int64      // byte limit of the current Run, over all inputs; -1 for none
	order sync.Mutex // guards the inputs while limit ≥ 0, because a prefix is read in order

	mu     sync.Mutex
	counts [][]int32 // records by input and block, for Line
	before [][]int64 // sums of counts, computed by Line
}

// NewReader joins inputs; the caller closes them. Their order is the order of
// the log.
func NewReader(inputs []*Input, opt Options) *Reader {
	return &Reader{inputs: inputs, opt: opt.filled(), counts: make([][]int32, len(inputs)), limit: -1}
}

// Workers is the number of workers of each Run.
func (r *Reader) Workers() int { return r.opt.Workers }

// A Work processes one block and must not keep any part of it. An error ends
// the Run.
type Work func(b *Block) error

// Run distributes all remaining blocks. Each worker calls newWork once in its
// own goroutine; worker counts from 0. Run returns when all workers have
// returned, or with ctx's error as soon as ctx is done. In that case a blocked
// read (of a terminal, for example) is abandoned, and the caller must not use
// data that the workers share.
func (r *Reader) Run(ctx context.Context, newWork func(worker int) Work) error {
	return r.RunPrefix(ctx, -1, newWork)
}

// RunPrefix distributes the records that start in the first n bytes of the
// inputs, taken in order. The next Run continues behind them. The set of
// records depends on the bytes alone, not on blocks or workers. n < 0 means no
// limit.
func (r *Reader) RunPrefix(ctx context.Context, n int64, newWork func(worker int) Work) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.limit = n
	var wg sync.WaitGroup
	for w := range r.opt.Workers {
		wg.Go(func() {
			if err := r.serve(ctx, w, newWork(w)); err != nil {
				cancel(err)
			}
		})
	}
	finished := make(chan struct{})
	go func() { wg.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-ctx.Done():
		if context.Cause(ctx) == ctx.Err() { // cancelled by the caller: do not wait for a blocked read
			return ctx.Err()
		}
		<-finished
	}
	return context.Cause(ctx)
}

// serve gives blocks to one worker until none are left.
func (r *Reader) serve(ctx context.Context, worker int, work Work) error {
	h := &slot{worker: worker}
	for ctx.Err() == nil {
		if ok, err := r.take(h); !ok || err != nil {
			return err
		}
		for len(h.block.Data) > 0 {
			if err := work(&h.block); err != nil {
				return err
			}
			r.count(&h.block)
			h.block, h.long = h.long, Block{}
		}
	}
	return nil
}

// A slot is the buffer of one worker and the block in it.
type slot struct {
	worker int
	buf    []byte
	block  Block
	long   Block // a record longer than MaxRecord, delivered after block
}

// room returns the worker's buffer with at least n bytes and keeps its content.
func (h *slot) room(n int) []byte {
	if len(h.buf) < n {
		bigger := make([]byte, n)
		copy(bigger, h.buf)
		h.buf = bigger
	}
	return h.buf[:n:n]
}

// take puts the next block of any input into the slot; false means that nothing
// is left for this Run.
func (r *Reader) take(h *slot) (bool, error) {
	if r.limit >= 0 {
		return r.takeInOrder(h)
	}
	busy := -1
	for k := range r.inputs {
		i := (k + h.worker) % len(r.inputs) // each worker starts with another input
		if !r.inputs[i].mu.TryLock() {
			busy = i
			continue
		}
		if ok, err := r.takeFrom(h, i, -1, &r.inputs[i].mu); ok || err != nil {
			return ok, err
		}
	}
	if busy < 0 {
		return false, nil
	}
	r.inputs[busy].mu.Lock()
	if ok, err := r.takeFrom(h, busy, -1, &r.inputs[busy].mu); ok || err != nil {
		return ok, err
	}
	return r.take(h)
}

// takeInOrder takes a block from the first input that has a part of the prefix
// left.
func (r *Reader) takeInOrder(h *slot) (bool, error) {
	r.order.Lock()
	left := r.limit
	for i, in := range r.inputs {
		if in.remains() && left > 0 && in.next < in.start+left {
			return r.takeFrom(h, i, in.start+left, &r.order)
		}
		left -= in.next - in.start
	}
	r.order.Unlock()
	return false, nil
}

// takeFrom takes a block from one input up to the offset limit (-1: its end)
// and unlocks guard. It returns false if the input has nothing left.
func (r *Reader) takeFrom(h *slot, i int, limit int64, guard *sync.Mutex) (bool, error) {
	in := r.inputs[i]
	if !in.remains() {
		guard.Unlock()
		return false, nil
	}
	h.block = Block{File: i, Seq: in.seq}
	in.seq += 2 // one number is reserved for a record longer than MaxRecord
	if in.at == nil {
		defer guard.Unlock()
		return true, in.readStream(h, r.opt, limit)
	}
	from, to := in.claim(int64(r.opt.BlockSize), limit)
	guard.Unlock() // ranges are read in parallel
	return true, in.readRange(h, r.opt, from, to)
}

// count stores the number of records of a block.
func (r *Reader) count(b *Block) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.counts[b.File]
	for len(c) <= b.Seq {
		c = append(c, 0)
	}
	c[b.Seq] = int32(b.Records)
	r.counts[b.File], r.before = c, nil
}

// Line returns the line number, from 1, of the nth record (from 0) of a block,
// counted from the start of reading. It is valid after Run has returned.
func (r *Reader) Line(file, seq int, n int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.before == nil {
		r.before = make([][]int64, len(r.counts))
	}
	sums := r.before[file]
	if len(sums) < len(r.counts[file]) {
		sums = make([]int64, 0, len(r.counts[file]))
		var sum int64
		for _, c := range r.counts[file] {
			sums = append(sums, sum)
			sum += int64(c)
		}
		r.before[file] = sums
	}
	if seq < len(sums) {
		n += sums[seq]
	}
	return r.inputs[file].line(n + 1)
}

// Rewind resets all inputs to their start and forgets the counts. It returns
// false, and changes nothing, if one input is a stream.
func (r *Reader) Rewind() bool {
	for _, in := range r.inputs {
		if _, file := in.packed.(*io.SectionReader); in.at == nil && !file {
			return false
		}
	}
	for i, in := range r.inputs {
		if in.at == nil && in.rewind() != nil {
			return false
		}
		in.next, in.seq, in.end, in.done, in.failed, in.midway = in.start, 0, 0, false, nil, false
		r.counts[i] = nil
	}
	r.before = nil
	return true
}

// LinesBefore counts the newlines before the start of a plain file (SeekTo), to
// convert line numbers to those of the file; 0 for streams.
func (in *Input) LinesBefore() (int64, error) {
	at := in.at
	if in.wrap != nil {
		at = in.wrap.raw
	}
	if at == nil || in.start == 0 {
		return 0, nil
	}
	if in.before > 0 {
		return in.before - 1, nil
	}
	buf := make([]byte, DefaultBlock)
	var n int64
	for off := int64(0); off < in.start; {
		k, err := at.ReadAt(buf[:min(int64(len(buf)), in.start-off)], off)
		n += int64(bytes.Count(buf[:k], []byte{'\n'}))
		if off += int64(k); err != nil && !errors.Is(err, io.EOF) || k == 0 {
			return n, in.broken(err)
		}
	}
	in.before = n + 1
	return n, nil
}
