package isuports

import (
	"net/url"
	"strconv"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// billingFaults are wrong bills, caught before any load.
var billingFaults = []arenatest.Fault{
	{Name: "a player more is billed", Want: by("billing-report"), Spoil: each(atBilling, "reports", func(o object) {
		if o["billing_yen"].(float64) > 0 {
			add(o, "player_count", 1)
			add(o, "billing_player_yen", playerYen)
			add(o, "billing_yen", playerYen)
		}
	})},
	{Name: "visitors are free", Want: by("billing-report"), Spoil: each(atBilling, "reports", func(o object) {
		add(o, "billing_yen", -o["billing_visitor_yen"].(float64))
		o["visitor_count"], o["billing_visitor_yen"] = 0, 0
	})},
	{Name: "yen do not add up", Want: by("billing-yen"), Spoil: each(atBilling, "reports", func(o object) { add(o, "billing_yen", 1) })},
	{Name: "open competitions are billed", Want: by("billing-unfinished", "billing-report"), Spoil: each(atBilling, "reports", func(o object) {
		if o["billing_yen"].(float64) == 0 {
			o["player_count"], o["billing_player_yen"], o["billing_yen"] = 1, playerYen, playerYen
		}
	})},
	{Name: "report missing", Want: by("billing-competitions"), Spoil: list(atBilling, "reports", func(v []any) []any { return v[1:] })},
	{Name: "reports in the wrong order", Want: by("billing-order"), Spoil: list(atBilling, "reports", reversed)},
	{Name: "tenant missing in the admin's billing", Want: by("tenants-page"), Spoil: list(atTenants, "tenants", func(v []any) []any { return append(v[:3:3], v[4:]...) })},
	{Name: "eleven tenants on a page", Want: by("tenants-page"), Spoil: list(atTenants, "tenants", func(v []any) []any {
		return append(v, object{"id": "0", "name": "x", "display_name": "x", "billing": 0})
	})},
	{Name: "before inclusive", Want: by("tenants-page"), Spoil: plain(arenatest.When("", "GET", atTenants, arenatest.Before(inclusive)))},
	{Name: "admin's billing of yesterday", Want: by("tenants-billing"), Spoil: each(atTenants, "tenants", func(o object) {
		if o["billing"].(float64) > 0 {
			add(o, "billing", -visitorYen)
		}
	})},
	{Name: "new tenant in debt", Want: by("tenant-added"), Spoil: data("POST", atTenantAdd, func(d object) { d["tenant"].(object)["billing"] = 10 })},
}

// inclusive adds 1 to the parameter "before".
func inclusive(x *arenatest.Exchange) {
	q, err := url.ParseQuery(x.Query)
	if err != nil {
		return
	}
	if n, err := strconv.Atoi(q.Get("before")); err == nil {
		q.Set("before", strconv.Itoa(n+1))
		x.Query = q.Encode()
	}
}
