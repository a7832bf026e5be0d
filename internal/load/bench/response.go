package bench

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// keepBuffer is the largest buffer that returns to the pool. It covers icons and
// pages; a rare large answer must not occupy memory for long.
const keepBuffer = 512 << 10

// A response is a scenario.Response and the memory of its slices.
type response struct {
	scenario.Response
	reply  reply
	plain  []byte                 // decoded gzip
	merged []scenario.HeaderField // of a 304 and the stored answer
	done   func(*scenario.Response)

	h2       h2stream               // its exchange over HTTP/2
	trailers []scenario.HeaderField // memory of Trailers

	packed bytes.Reader
	unzip  *gzip.Reader
}

// A responsePool provides responses. Release returns them.
type responsePool struct{ pool sync.Pool }

func (p *responsePool) get() *response {
	r, _ := p.pool.Get().(*response)
	if r == nil {
		r = new(response)
		r.done = func(*scenario.Response) { p.put(r) }
	}
	return r
}

func (p *responsePool) put(r *response) {
	r.Response = scenario.Response{} // makes a second Release harmless
	r.h2 = h2stream{done: r.h2.done}
	r.trailers = r.trailers[:0]
	r.reply.reset(false, 0)
	if cap(r.reply.buf) > keepBuffer {
		r.reply.buf = nil
	}
	if cap(r.plain) > keepBuffer {
		r.plain = nil
	}
	p.pool.Put(r)
}

// fill makes the parsed reply visible to the scenario.
func (r *response) fill() {
	r.Status = r.reply.status
	r.Body = r.reply.buf[r.reply.body:r.reply.end]
	r.Fields = r.reply.fields
	r.Trailers = r.trailers
	r.Wire = r.reply.wire
}

// decode removes the content coding of the body, up to max bytes.
func (r *response) decode(max int) error {
	if len(r.Body) == 0 {
		return nil
	}
	if r.reply.coding != nil {
		return bodyFault("content-encoding %.20q was not requested", r.reply.coding)
	}
	if !r.reply.gzip {
		return nil
	}
	r.packed.Reset(r.Body)
	if err := r.resetUnzip(); err != nil {
		return bodyFault("gzip: %v", err)
	}
	if err := r.inflate(max); err != nil {
		return err
	}
	r.Body = r.plain
	return nil
}

func (r *response) resetUnzip() (err error) {
	if r.unzip == nil {
		r.unzip, err = gzip.NewReader(&r.packed)
		return err
	}
	return r.unzip.Reset(&r.packed)
}

// inflate reads all of unzip into plain. A few bytes can expand to gigabytes, so
// it stops one byte after max.
func (r *response) inflate(max int) error {
	if cap(r.plain) == 0 {
		r.plain = make([]byte, 0, 4*len(r.Body)+minRead)
	}
	r.plain = r.plain[:0]
	for {
		if len(r.plain) == cap(r.plain) {
			r.plain = append(r.plain, 0)[:len(r.plain)]
		}
		n, err := r.unzip.Read(r.plain[len(r.plain):cap(r.plain)])
		r.plain = r.plain[:len(r.plain)+n]
		if len(r.plain) > max {
			return protocol("gzip body is larger than %d bytes", max)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return bodyFault("gzip: %v", err)
		}
	}
}

func bodyFault(format string, args ...any) *scenario.Fault {
	return &scenario.Fault{Kind: iikanji.FaultBody, Step: -1, Message: fmt.Sprintf(format, args...)}
}
