package lines

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// A Reader deals blocks of its inputs to workers.
type Reader struct {
	inputs []*Input
	opt    Options

	limit int64      // of the present Run, over all inputs; -1 for none
	order sync.Mutex // guards the inputs while limit ≥ 0: a prefix is read in order

	mu     sync.Mutex
	counts [][]int32 // records by input and block, for Line
	before [][]int64 // sums of counts, made when Line is asked
}

// NewReader joins inputs, which stay the caller's to close. Their order is the
// order of the log as a whole.
func NewReader(inputs []*Input, opt Options) *Reader {
	return &Reader{inputs: inputs, opt: opt.filled(), counts: make([][]int32, len(inputs)), limit: -1}
}

// Workers is the number of workers of each Run.
func (r *Reader) Workers() int { return r.opt.Workers }

// A Work takes one block; it may keep nothing of it. Its error ends the Run.
type Work func(b *Block) error

// Run deals all blocks that are left. newWork is called once for each worker,
// in the worker's own goroutine; worker counts from 0. Run returns when every
// worker has, or with ctx's error as soon as ctx is done (a read that blocks,
// as of a terminal, is then left behind; nothing that the workers share with
// the caller may be used any more).
func (r *Reader) Run(ctx context.Context, newWork func(worker int) Work) error {
	return r.RunPrefix(ctx, -1, newWork)
}

// RunPrefix deals the records that start in the first n bytes of the inputs,
// taken in order, and returns. What is left is for the next Run. Which records
// these are depends on the bytes alone, not on blocks or workers. n < 0 means
// everything.
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
		if context.Cause(ctx) == ctx.Err() { // from outside: do not wait for a blocked read
			return ctx.Err()
		}
		<-finished
	}
	return context.Cause(ctx)
}

// serve deals blocks to one worker until there are none.
func (r *Reader) serve(ctx context.Context, worker int, work Work) error {
	h := &hand{worker: worker}
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

// A hand is what one worker holds: its buffer and the block in it.
type hand struct {
	worker int
	buf    []byte
	block  Block
	long   Block // a record beyond MaxRecord, to be delivered after block
}

// room returns the worker's buffer with at least n bytes; it keeps what is in it.
func (h *hand) room(n int) []byte {
	if len(h.buf) < n {
		bigger := make([]byte, n)
		copy(bigger, h.buf)
		h.buf = bigger
	}
	return h.buf[:n:n]
}

// take gets the next block of any input into the hand and returns false when
// nothing is left for this Run.
func (r *Reader) take(h *hand) (bool, error) {
	if r.limit >= 0 {
		return r.takeInOrder(h)
	}
	busy := -1
	for k := range r.inputs {
		i := (k + h.worker) % len(r.inputs) // each worker prefers a stream of its own
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

// takeInOrder takes from the first input that has a part of the prefix left.
func (r *Reader) takeInOrder(h *hand) (bool, error) {
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

// takeFrom takes from one input up to the offset limit (-1 for its end) and
// unlocks what guards it. It returns false when the input has nothing left.
func (r *Reader) takeFrom(h *hand, i int, limit int64, guard *sync.Mutex) (bool, error) {
	in := r.inputs[i]
	if !in.remains() {
		guard.Unlock()
		return false, nil
	}
	h.block = Block{File: i, Seq: in.seq}
	in.seq += 2 // a record that is too long gets a block of its own
	if in.at == nil {
		defer guard.Unlock()
		return true, in.readStream(h, r.opt, limit)
	}
	from, to := in.claim(int64(r.opt.BlockSize), limit)
	guard.Unlock() // ranges are read side by side
	return true, in.readRange(h, r.opt, from, to)
}

// count remembers how many records a block had.
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
// counted from where reading started. Ask once Run has returned.
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
	return n + 1
}

// Rewind makes all inputs readable once more from where they started, and
// forgets the counts. It returns false, and does nothing, where one is a
// stream.
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

// LinesBefore counts the newlines before the byte from which a plain file was
// read (SeekTo), so that line numbers can be those of the file; 0 for streams.
func (in *Input) LinesBefore() (int64, error) {
	if in.at == nil || in.start == 0 {
		return 0, nil
	}
	if in.before > 0 {
		return in.before - 1, nil
	}
	buf := make([]byte, DefaultBlock)
	var n int64
	for off := int64(0); off < in.start; {
		k, err := in.at.ReadAt(buf[:min(int64(len(buf)), in.start-off)], off)
		n += int64(bytes.Count(buf[:k], []byte{'\n'}))
		if off += int64(k); err != nil && !errors.Is(err, io.EOF) || k == 0 {
			return n, in.broken(err)
		}
	}
	in.before = n + 1
	return n, nil
}
