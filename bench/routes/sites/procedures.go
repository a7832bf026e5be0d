package sites

import (
	"math/rand/v2"
	"strings"
)

// callName is a name of a procedure: GetInvoice.
func callName(r *rand.Rand) string {
	return pick(r, list("Get List Create Update Delete Search Watch Approve Cancel Assign Verify Import Render Notify Archive Resolve")) + capital(pick(r, everyday)) +
		pick(r, list("- - - s Status History"))
}

// verbNoun is callName with a small first letter.
func verbNoun(r *rand.Rand) string {
	s := strings.TrimSuffix(callName(r), "-")
	return strings.ToLower(s[:1]) + s[1:]
}

func callNames(seed uint64, n int) string {
	return strings.ReplaceAll(someOf(seed, n, callName), "-", "")
}

func snake(r *rand.Rand) string {
	return pick(r, list("get list create update delete find sync send refresh compute check export")) + "_" + pick(r, everyday) + pick(r, list("| | _by_id _all"))
}

func snakes(seed uint64, n int) string { return strings.ReplaceAll(someOf(seed, n, snake), "|", "") }

func kebabVerb(r *rand.Rand) string {
	return pick(r, list("send get sync process handle make validate resize notify create daily on")) + "-" + pick(r, everyday)
}

// adminPage is a page of an administration: one word or two.
func adminPage(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return pick(r, everyday) + "-" + pick(r, list("settings list report log types rules queue"))
	}
	return pick(r, everyday)
}

func services(r *rand.Rand) string { return capital(pick(r, everyday)) + "Service" }

// servicesOf lists the methods of several gRPC services.
func servicesOf(seed uint64, n, methods int) (routes string) {
	for i, s := range list(someOf(seed, n, services)) {
		routes += each("POST /acme.shop.v1."+s+"/", callNames(seed+uint64(i)+1, methods), "")
	}
	return routes
}

// procedures are sites with many names in one folder, each a route.
var procedures = []Site{
	{Name: "Twirp, 80 procedures", Routes: each("POST /twirp/acme.billing.Billing/", callNames(11, 80), "") + "GET /healthz 2\n"},
	{Name: "gRPC-web, six services", Routes: servicesOf(21, 6, 12) + "GET / 4\nGET /main.js 3\n"},
	{Name: "functions of a database by name", Routes: each("POST /rpc/", snakes(31, 60), "") + each("GET /", "todos people visits meters", "") + "GET / 1\n"},
	{Name: "procedures with points, all alike", Model: Flat, Routes: each("POST /api/", `chat.postMessage chat.update chat.delete chat.getPermalink chat.scheduleMessage conversations.list conversations.history conversations.info
		conversations.members conversations.open conversations.join conversations.replies users.list users.info users.lookupByEmail users.conversations users.profile.get users.profile.set
		files.upload files.info files.list files.getUploadURLExternal files.completeUploadExternal reactions.add reactions.remove reactions.get pins.add pins.remove pins.list
		views.open views.update views.publish auth.test auth.revoke team.info search.messages search.files bookmarks.add bookmarks.list reminders.add reminders.list dnd.info emoji.list`, "") + "GET /api/health 2\n"},
	{Name: "web services with methods", Routes: each("POST /Services/OrderService.asmx/", callNames(51, 40), "") + each("POST /Services/StockService.asmx/", callNames(52, 25), "") + "GET /Services/OrderService.asmx 1\n"},
	{Name: "functions in a cloud, called by different programs", Routes: strings.ReplaceAll(each("POST /functions/v1/", someOf(61, 35, kebabVerb), ""), "\n", " by=script\n") +
		strings.ReplaceAll(each("GET /functions/v1/", someOf(62, 20, kebabVerb), ""), "\n", " by=cron\n")},
	{Name: "pages of PHP in one folder", Routes: each("GET /admin/", someOf(71, 90, snake71), ".php") + each("POST /admin/", someOf(72, 20, snake71), ".php") + "GET /index.php 9\nGET /login.php 3\nPOST /login.php 2\n"},
	{Name: "actions of Struts, same times", Model: Same, Routes: each("POST /portal/", someOf(81, 60, verbNoun81), ".do") + "GET /portal/index.jsp 4\nGET /portal/css/main.css 5\n"},
	{Name: "procedures of routers", Routes: each("GET /api/trpc/", someOf(91, 40, dotted), "") + each("POST /api/trpc/", someOf(92, 20, dotted), "") + "GET / 5\nGET /favicon.ico 1\n"},
	{Name: "150 pages of an administration", Routes: each("GET /admin/", someOf(101, 150, adminPage), "") + "GET / 20\nPOST /login 6\nGET /admin/users/{id} 8\nGET /admin/orders/{id} 12\nGET /admin/orders/{id}/print 4\n"},
}

func snake71(r *rand.Rand) string {
	return pick(r, list("view edit list add manage export")) + "_" + pick(r, everyday)
}

func verbNoun81(r *rand.Rand) string { return strings.ReplaceAll(verbNoun(r), "-", "") }

func dotted(r *rand.Rand) string {
	return pick(r, list("post user comment billing team invite note label")) + "." + pick(r, list("list byId create update delete all count search stats latest"))
}
