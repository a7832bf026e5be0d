package isuumo

import (
	"context"
	"math/rand/v2"
	"net/http"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A refusal is a request that the API refuses.
type refusal struct {
	check  string
	step   scenario.Step
	method string
	path   string
	body   string
	status int
}

// refusals are requests that the API must refuse, each with a check named after
// the rule that it breaks. The contest's verification had the first one only.
var refusals = []refusal{
	{"estate-unknown-id", stepEstate, http.MethodGet, "/api/estate/0", "", 404},
	{"chair-unknown-id", stepChair, http.MethodGet, "/api/chair/0", "", 404},
	{"chair-bad-id", stepChair, http.MethodGet, "/api/chair/x", "", 400},
	{"estate-bad-id", stepEstate, http.MethodGet, "/api/estate/x", "", 400},
	{"recommended-unknown-id", stepRecommended, http.MethodGet, "/api/recommended_estate/0", "", 400},
	{"chair-search-condition", stepChairSearch, http.MethodGet, "/api/chair/search?page=0&perPage=25", "", 400},
	{"estate-search-condition", stepEstateSearch, http.MethodGet, "/api/estate/search?page=0&perPage=25", "", 400},
	{"chair-search-range", stepChairSearch, http.MethodGet, "/api/chair/search?priceRangeId=99&page=0&perPage=25", "", 400},
	{"estate-search-range", stepEstateSearch, http.MethodGet, "/api/estate/search?rentRangeId=99&page=0&perPage=25", "", 400},
	{"chair-search-page", stepChairSearch, http.MethodGet, "/api/chair/search?priceRangeId=1&perPage=25", "", 400},
	{"estate-search-page", stepEstateSearch, http.MethodGet, "/api/estate/search?rentRangeId=1&page=0", "", 400},
	{"nazotte-empty", stepNazotte, http.MethodPost, "/api/estate/nazotte", `{"coordinates":[]}`, 400},
	{"buy-email", stepBuy, http.MethodPost, "/api/chair/buy/1", `{}`, 400},
	{"buy-unknown-id", stepBuy, http.MethodPost, "/api/chair/buy/0", `{"email":"user@isuumo.example"}`, 404},
	{"document-email", stepDocument, http.MethodPost, "/api/estate/req_doc/1", `{}`, 400},
	{"document-unknown-id", stepDocument, http.MethodPost, "/api/estate/req_doc/0", `{"email":"user@isuumo.example"}`, 404},
}

// verifyRefusals sends each refusal once.
func (ct *contest) verifyRefusals(ctx context.Context, b *browser, _ *rand.Rand) error {
	for _, f := range refusals {
		r := &scenario.Request{Step: f.step, Method: f.method, Path: f.path}
		if f.body != "" {
			r.ContentType, r.Body = "application/json", []byte(f.body)
		}
		err := b.do(ctx, r, func(res *scenario.Response) error { return verify.RefusalStatus(res, f.check, f.status) })
		if err != nil {
			return err
		}
	}
	return nil
}
