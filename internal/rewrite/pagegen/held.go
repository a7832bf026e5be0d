package pagegen

import (
	"bufio"
	"net"
	"net/http"
)

// maxHeld is the most bytes of an answer to a write that are held back.
const maxHeld = 64 << 10

// held is the answer to a write. It is held back until the handler returns, because
// handlers write to the database after they have written to the answer, as with a
// deferred commit. A longer or streamed answer is sent earlier: then pages are dropped
// before its first byte and again at its end.
type held struct {
	http.ResponseWriter
	drop   func() error
	status int
	body   []byte
	sent   bool // what is written now goes to the client
}

// WriteHeader implements http.ResponseWriter. Informational answers are sent at once.
func (h *held) WriteHeader(status int) {
	switch {
	case h.sent || status < 200:
		h.ResponseWriter.WriteHeader(status)
	case h.status == 0:
		h.status = status
	}
}

// Write implements io.Writer.
func (h *held) Write(b []byte) (int, error) {
	if h.status == 0 {
		h.status = http.StatusOK
	}
	if !h.sent && len(h.body)+len(b) > maxHeld {
		h.send()
	}
	if h.sent {
		return h.ResponseWriter.Write(b)
	}
	h.body = append(h.body, b...)
	return len(b), nil
}

// send drops pages and sends what is held. Without the drop, a client would be told of a
// write that other clients do not see: the answer is 500 then.
func (h *held) send() {
	h.sent = true
	if h.drop() != nil {
		http.Error(h.ResponseWriter, "the kept pages could not be dropped", http.StatusInternalServerError)
		panic(http.ErrAbortHandler)
	}
	if h.status != 0 {
		h.ResponseWriter.WriteHeader(h.status)
		_, _ = h.ResponseWriter.Write(h.body) // the next Write of the handler has the error, too
	}
	h.body = nil
}

// finish sends what is held, after the handler.
func (h *held) finish() {
	if !h.sent {
		h.send()
		return
	}
	if h.drop() != nil {
		panic(http.ErrAbortHandler) // the client must not take the answer for complete
	}
}

// Flush implements http.Flusher.
func (h *held) Flush() { _ = h.FlushError() }

// FlushError is for http.ResponseController.
func (h *held) FlushError() error {
	if !h.sent {
		if h.status == 0 {
			h.status = http.StatusOK
		}
		h.send()
	}
	return http.NewResponseController(h.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker.
func (h *held) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	h.sent = true
	if err := h.drop(); err != nil {
		return nil, nil, err
	}
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// Unwrap is for http.ResponseController.
func (h *held) Unwrap() http.ResponseWriter { return h.ResponseWriter }
