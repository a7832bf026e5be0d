package bench

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/scenario"
)

// keepBuffer is the size up to which a buffer goes back into the pool: icons
// and pages do, the rare giant does not pin its memory.
const keepBuffer = 512 << 10

// A response is a scenario.Response with the memory it stands on.
type response struct {
	scenario.Response
	reply  reply
	plain  []byte                 // decoded gzip
	merged []scenario.HeaderField // of a 304 and what was stored
	done   func(*scenario.Response)

	packed bytes.Reader
	unzip  *gzip.Reader
}

// A responsePool hands out responses. They come back through Release.
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
	r.Response = scenario.Response{} // a second Release must find no Done
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
	r.Wire = r.reply.wire
}

// decode undoes the content coding of the body, up to max bytes.
func (r *response) decode(max int) error {
	if len(r.Body) == 0 {
		return nil
	}
	if r.reply.coding != nil {
		return bodyFault("content-encoding %.20q was not asked for", r.reply.coding)
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

// inflate reads the whole of unzip into plain. A few bytes can stand for
// gigabytes: it stops one byte after max.
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
