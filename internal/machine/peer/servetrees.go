package peer

import (
	"context"
	"io"
	"net/http"

	trees "github.com/iikanji/iikanji/internal/machine/tree"
)

// trees are the calls about whole folders.
func (s *server) trees(mux *http.ServeMux) {
	mux.Handle("/ListTree", handleCall(s, func(ctx context.Context, a onePath, _ io.Reader) (trees.Manifest, error) {
		t, err := s.folders()
		if err != nil {
			return nil, err
		}
		return t.ListTree(ctx, a.Path)
	}))
	mux.Handle("/UnpackTree", handleCall(s, func(ctx context.Context, a onePath, in io.Reader) (trees.Manifest, error) {
		t, err := s.folders(a.Path)
		if err != nil {
			return nil, err
		}
		return t.UnpackTree(ctx, a.Path, in)
	}))
	mux.Handle("/TakeTree", handleCall(s, func(ctx context.Context, a takeArgs, _ io.Reader) (trees.Manifest, error) {
		t, err := s.folders(a.Dir)
		if err != nil {
			return nil, err
		}
		return t.TakeTree(ctx, a.Dir, a.Offer)
	}))
	mux.Handle("/RenameTree", handleCall(s, func(_ context.Context, a twoPaths, _ io.Reader) (none, error) {
		t, err := s.folders(a.From, a.Path)
		if err != nil {
			return none{}, err
		}
		return none{}, t.RenameTree(a.From, a.Path)
	}))
	mux.HandleFunc("/PackTree", s.packTree)
	mux.HandleFunc("/OfferTree", s.offerTree)
}

// packTree sends a folder. An error in it is in the stream.
func (s *server) packTree(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	defer s.calls.Done()
	var a packArgs
	t, err := s.folders()
	if err == nil {
		err = readFrame(r.Body, &a)
	}
	if err != nil {
		answerWith(w, nil, err)
		return
	}
	stream, err := t.PackTree(r.Context(), a.Dir, a.Have)
	if err != nil {
		answerWith(w, nil, err)
		return
	}
	defer stream.Close()
	answerWith(w, none{}, nil)
	_, _ = io.CopyBuffer(struct{ io.Writer }{w}, stream, make([]byte, 1<<20)) // a cut stream is an error at the near end
}

// offerTree serves a folder to another host, and says how that ended.
func (s *server) offerTree(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	defer s.calls.Done()
	var a offerArgs
	t, err := s.folders()
	if err == nil {
		err = readFrame(r.Body, &a)
	}
	if err != nil {
		answerWith(w, nil, err)
		return
	}
	o, wait, err := t.OfferTree(r.Context(), a.Dir, a.Address)
	answerWith(w, o, err)
	if err != nil {
		return
	}
	_ = http.NewResponseController(w).Flush() // a near end that is gone ends the context
	if err := wait(); err != nil {
		_, _ = io.WriteString(w, err.Error())
	}
}
