package fact

import "github.com/iikanji/iikanji"

// TopicWorkers is the topic of a Fact about how an app server runs: Target the app,
// Key the server's name, Value a Workers; Moves.
const TopicWorkers Topic[Workers] = "workers"

// Workers is how an app server runs an app.
type Workers struct {
	Server    string `json:"server"`    // gunicorn, uvicorn, puma, unicorn, node, pm2
	Processes int    `json:"processes"` // that answer requests
	Threads   int    `json:"threads"`   // of each; 1 where the server has no such setting
	// ProcessesBy and ThreadsBy are what decides the numbers: command, variable, file,
	// default, or unavailable.
	ProcessesBy string        `json:"processes_by"`
	ThreadsBy   string        `json:"threads_by"`
	Private     iikanji.Bytes `json:"private"`   // memory that one more process takes, an upper bound
	Available   iikanji.Bytes `json:"available"` // memory that processes can still take
	Memory      iikanji.Bytes `json:"memory"`    // of the machine
	// Sessions, Values and Connections are the places in the app's source that keep
	// state in the memory of the process between requests, as in "app.py:12 (cache)".
	Sessions    []string `json:"sessions,omitempty"`
	Values      []string `json:"values,omitempty"`
	Connections []string `json:"connections,omitempty"`
	// Unread: the source could not be read.
	Unread bool `json:"unread,omitempty"`
}
