package iikanji

// TopicInnoDB is the topic of what InnoDB's own status tells beyond the
// counters: Key the number's name, as package facts reads it, Value a Moved;
// Moves.
const TopicInnoDB = "innodb"

// A Moved is a number as it was when the load of a run began, and when it ended.
type Moved struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Grown is what the load added; less than 0 where it took away.
func (m Moved) Grown() float64 { return m.After - m.Before }
