package fact

// A Listener is a socket that takes connections.
type Listener struct {
	Backlog int `json:"backlog"` // limit of waiting connections
	Waiting int `json:"waiting"` // waiting connections at the time of the reading
}

// Connections counts the connections from one service to another at one instant.
type Connections struct {
	TCP  int `json:"tcp"`
	Unix int `json:"unix"`
}
