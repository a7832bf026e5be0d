package accesslog

// awsFields are the names in the formats of AWS load balancers. Their request
// time is the sum of three parts, each -1 if the connection failed.
var awsFields = map[string]piece{
	"time":                     {field: stamp},
	"client":                   {field: address},
	"request_processing_time":  {field: part, unit: 1e9},
	"target_processing_time":   {field: part, unit: 1e9},
	"response_processing_time": {field: part, unit: 1e9},
	"status":                   {field: status},
	"received_bytes":           {field: reqSize},
	"sent_bytes":               {field: size},
	"request":                  {field: request},
	"user_agent":               {field: agent},
}

const awsTimes = `$request_processing_time $target_processing_time $response_processing_time $status $target_status $received_bytes $sent_bytes "$request"`

// awsFormats are the formats of load balancers, by name: application (with any
// fields behind the user agent), classic, and classic before 2014.
var awsFormats = []struct{ name, format string }{
	{"alb", `$type $time $balancer $client $target ` + awsTimes + ` "$user_agent" $more`},
	{"elb", `$time $balancer $client $backend ` + awsTimes + ` "$user_agent" $more`},
	{"elb", `$time $balancer $client $backend ` + awsTimes},
}

// awsLayouts returns the layouts of load balancers.
func awsLayouts() (all []*layout) {
	for _, f := range awsFormats {
		if l, err := variableLayout(f.format, f.name, awsFields); err == nil {
			all = append(all, l)
		}
	}
	return all
}
