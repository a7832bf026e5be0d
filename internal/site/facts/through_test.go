package facts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestNameAndTLS: a server that answers by the name of the site only, over TLS with a
// certificate of its own, is requested as its clients do.
func TestNameAndTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "shop.example" {
			http.Error(w, "no such site", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, "shop")
	}))
	defer s.Close()
	address := s.Listener.Addr().String()
	for base, want := range map[string]int{"https://shop.example": http.StatusOK, "https://" + address: http.StatusBadRequest} {
		fs, err := AnswerFacts(t.Context(), Through(host.Local{}, address), "nginx", base, map[string]string{"GET /": "/"}, nil, Clients{})
		if err != nil || len(fs) != 1 {
			t.Fatalf("%s: %d facts, %v", base, len(fs), err)
		}
		var a fact.Answer
		if err := json.Unmarshal([]byte(fact.Text(fs[0])), &a); err != nil || a.Status != want {
			t.Errorf("%s: status %d, want %d (%v)", base, a.Status, want, err)
		}
	}
}
