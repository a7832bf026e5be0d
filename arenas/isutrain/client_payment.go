package isutrain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// callPayment sends a request to the payment service, with JSON if there is a body, and
// reads JSON. The service is no part of the target: its requests are not counted, and none
// is in the target's logs.
func (ct *contest) callPayment(ctx context.Context, step scenario.Step, method, path string, body, v any) error {
	limited, cancel := context.WithTimeout(ctx, ct.timeout)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	req, err := http.NewRequestWithContext(limited, method, strings.TrimSuffix(ct.payment, "/")+path, bytes.NewReader(text))
	if err != nil {
		return wrong(step, "payment-url", "the payment service is at %.80q: %v", ct.payment, err)
	}
	req.Header.Set("Content-Type", jsonType)
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return paymentFault(ctx, step, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return &scenario.Fault{Kind: iikanji.FaultStatus, Step: step, Message: fmt.Sprintf("status %d, want 200", res.StatusCode)}
	}
	if err := json.NewDecoder(res.Body).Decode(v); err != nil {
		return paymentFault(ctx, step, err)
	}
	return nil
}

// paymentFault says why a request to the payment service had no answer.
func paymentFault(ctx context.Context, step scenario.Step, err error) error {
	kind := iikanji.FaultDial
	switch {
	case ctx.Err() != nil:
		kind = iikanji.FaultCut
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		kind = iikanji.FaultTimeout
	}
	return &scenario.Fault{Kind: kind, Step: step, Message: err.Error(), Cause: err}
}

// card has the payment service change a card into a token.
func (a *agent) card(ctx context.Context) (string, error) {
	card := map[string]string{"card_number": "12345678", "cvv": "123", "expiry_date": "12/68"}
	var v struct {
		Token string `json:"card_token"`
		IsOK  bool   `json:"is_ok"`
	}
	if err := a.ct.callPayment(ctx, stepCard, http.MethodPost, "/card", map[string]any{"card_information": card}, &v); err != nil {
		return "", err
	}
	if !v.IsOK || v.Token == "" {
		return "", wrong(stepCard, "payment-card", "the payment service gave no token")
	}
	return v.Token, nil
}

// initializePayment has the payment service forget everything.
func (ct *contest) initializePayment(ctx context.Context) error {
	var v struct{}
	return ct.callPayment(ctx, stepPaymentInitialize, http.MethodPost, "/initialize", nil, &v)
}

// A payment is a record of the payment service.
type payment struct {
	Information struct {
		ReservationID int  `json:"reservation_id"`
		Amount        int  `json:"amount"`
		IsCanceled    bool `json:"is_canceled"`
	} `json:"payment_information"`
}

// payments reads the records of the payment service.
func (ct *contest) payments(ctx context.Context) ([]payment, error) {
	var v struct {
		Raw []payment `json:"raw_data"`
	}
	err := ct.callPayment(ctx, stepResult, http.MethodGet, "/result", nil, &v)
	return v.Raw, err
}
