package isutrain

import "github.com/iikanji/iikanji/internal/contest/arena"

// paymentSetting is the address of the payment service, which the app's settings must name.
const paymentSetting = "payment"

var settings = []arena.Setting{
	{Name: paymentSetting, Kind: arena.URL, Default: "what GET /api/settings answers",
		Help: "The payment service, whose result is compared after the load."},
}
