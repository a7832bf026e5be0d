package sites

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// plusTitle is a title as a wiki of teams writes it: Release+plan.
func plusTitle(r *rand.Rand) string {
	t := capital(pick(r, everyday))
	for range r.IntN(4) {
		t += "+" + pick(r, everyday)
	}
	return t
}

// fhirTypes are kinds of records of patients.
var fhirTypes = list(`Patient Observation Encounter Condition Procedure MedicationRequest DiagnosticReport Immunization AllergyIntolerance
	CarePlan Claim Coverage Device DocumentReference Goal Location Organization Practitioner ServiceRequest Specimen`)

func fhir() (routes string) {
	for i, t := range fhirTypes {
		w := 6 / float64(i+1)
		routes += fmt.Sprintf("\nGET /fhir/%s %.2f\nGET /fhir/%s/{uuid} %.2f\n", t, w+0.3, t, 2*w+0.3)
		if i < 8 {
			routes += fmt.Sprintf("POST /fhir/%s %.2f\n", t, w/2)
		}
	}
	return routes
}

// djangoAdmin lists the pages of models.
func djangoAdmin(models string) (routes string) {
	for i, m := range list(models) {
		w := 4/float64(i+1) + 0.3
		routes += fmt.Sprintf("\nGET /admin/%s/ %.2f\nGET /admin/%s/{id}/change/ %.2f\nPOST /admin/%s/{id}/change/ %.2f\nGET /admin/%s/add/ %.2f\n", m, w, m, w, m, w/2, m, w/3)
	}
	return routes
}

func tenantPages() string {
	return `
		GET /{tenant} 2
		GET /{tenant}/overview 3
		GET /{tenant}/invoices 4
		GET /{tenant}/invoices/{id} 8
		POST /{tenant}/invoices 2
		GET /{tenant}/people 2
		GET /{tenant}/people/{id} 3
		GET /{tenant}/billing 1
		GET /pricing 2
		GET /signup 1
		POST /signup 0.5
		GET /features 1
		GET /assets/app.js 4`
}

// consoles are sites by which people run other things.
var consoles = []Site{
	{Name: "Jenkins", Pools: map[string]Pool{"job": {dashed, 60, true}, "n": upTo(900)}, Routes: `
		GET / 2
		GET /job/{job}/ 4
		GET /job/{job}/{n}/ 4
		GET /job/{job}/{n}/console 5
		GET /job/{job}/{n}/logText/progressiveText 8
		GET /job/{job}/lastBuild/api/json 6
		POST /job/{job}/build 1
		POST /job/{job}/buildWithParameters 1
		GET /ajaxBuildQueue 6
		GET /ajaxExecutors 6
		GET /computer/ 1
		GET /login 1`},
	{Name: "Grafana", Pools: map[string]Pool{"uid": {random("", base64, 9), 60, true}, "slug": {shortSlug, 60, true}, "build": {func(r *rand.Rand) string { return fmt.Sprintf("%d.%s", 100+r.IntN(9000), letters(r, hex, 20)) }, 80, false}, "n": upTo(9)}, Routes: `
		GET /d/{uid}/{slug} 5
		GET /api/dashboards/uid/{uid} 6
		POST /api/ds/query 20
		GET /api/datasources/proxy/{n}/api/v1/query_range 8
		GET /api/datasources/proxy/{n}/api/v1/labels 2
		GET /public/build/{build}.js 8
		GET /api/search 2
		GET /api/annotations 4
		GET /api/live/ws 1
		GET /login 1
		GET /metrics 3
		GET /avatar/{md5} 2`},
	{Name: "tracker and wiki of teams", Model: Content, Pools: map[string]Pool{"space": {initials, 20, true}, "title": {plusTitle, 400, true}, "issue": {func(r *rand.Rand) string { return fmt.Sprintf("%s-%d", pick(r, projects), 1+r.IntN(4000)) }, 0, false}}, Routes: `
		GET /display/{space}/{title} 8
		GET /display/{space} 2
		GET /pages/viewpage.action 4
		GET /browse/{issue} 8
		GET /rest/api/3/issue/{issue} 6
		GET /rest/api/3/issue/{issue}/comment 3
		POST /rest/api/3/issue/{issue}/comment 1
		POST /rest/api/3/search 4
		GET /secure/Dashboard.jspa 2
		GET /rest/api/3/myself 2`},
	{Name: "pages of staff with different callers, same times", Model: Same, Routes: strings.ReplaceAll(each("GET /staff/", someOf(541, 30, adminPage), ""), "\n", " by=browser\n") +
		strings.ReplaceAll(each("GET /staff/", someOf(542, 12, kebabVerb), ""), "\n", " by=cron\n") + strings.ReplaceAll(each("POST /staff/", someOf(543, 14, adminPage), ""), "\n", " by=browser\n")},
	{Name: "tenants with everyday names", Pools: map[string]Pool{"tenant": {from(everyday), 60, true}}, Routes: tenantPages()},
	{Name: "staff portal in mixed case", Pools: map[string]Pool{"hr": {from(list("HR hr Hr")), 3, true}, "emp": {from(list("Employee employee")), 2, true}, "det": {from(list("Details details")), 2, true}}, Routes: `
		GET /{hr}/{emp}/{det}/{id} 10
		GET /{hr}/{emp}/Edit/{id} 3
		POST /{hr}/{emp}/Edit/{id} 2
		GET /{hr}/{emp} 4
		GET /{hr}/Leave/Request 2
		GET /{hr}/Leave/Calendar/{year}/{mm} 3
		GET /Content/site.css 6
		GET /Scripts/jquery-3.7.1.min.js 6
		GET /Account/Login 2
		POST /Account/Login 1`},
	{Name: "records of patients", Routes: fhir() + "GET /fhir/metadata 1\nGET /fhir/Patient/{uuid}/$everything 2\nPOST /fhir/ 2\n"},
	{Name: "administration of Django", Routes: djangoAdmin("auth/user auth/group shop/order shop/product shop/coupon blog/post blog/comment cms/page cms/menu stock/item stock/move stock/depot") +
		"GET /admin/ 3\nGET /admin/login/ 2\nPOST /admin/login/ 1\nGET /static/admin/css/base.css 5\nGET /admin/jsi18n/ 3\n"},
	{Name: "chat with rooms and invitations", Pools: map[string]Pool{"room": {dashed, 70, true}, "user": {member, 150, true}, "code": {random("", base62, 8), 200, true}, "msg": {random("1", digit, 17), 0, false}}, Routes: `
		GET /channels/{room} 6
		GET /channels/{room}/messages 10
		POST /channels/{room}/messages 8
		PATCH /channels/{room}/messages/{msg} 1
		PUT /channels/{room}/messages/{msg}/reactions/me 3
		POST /channels/{room}/typing 8
		GET /users/{user} 3
		GET /users/{user}/profile 2
		GET /users/me 2
		GET /invite/{code} 2
		POST /invite/{code} 1
		GET /gateway 3
		GET /avatars/{msg}/{md5}.webp 12`},
	{Name: "short links of six letters", Pools: map[string]Pool{"code": {random("", lower, 6), 2000, true}, "alias": {dashed, 60, true}}, Routes: `
		GET /{code} 24
		GET /{code}/qr.png 2
		GET /{code}/stats 2
		POST /api/links 3
		GET /api/links 2
		DELETE /api/links/{code} 1
		GET /dashboard 2
		GET /about 1
		GET / 3
		GET /a/{alias} 3`},
}
