package nginxconf

import "github.com/iikanji/iikanji/internal/change/nginxedit"

// A task is the plan of one remedy, with what the acts of this kind need.
type task struct{ *nginxedit.Plan }
