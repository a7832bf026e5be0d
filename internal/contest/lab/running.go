package lab

// PID is the process id of the machine's PID 1 on this machine; 0 while it is down.
func (m *Machine) PID() int { return m.pid }

// Running is a machine that another process has booted: commands run in it.
func Running(name string, pid int) *Machine { return &Machine{Name: name, pid: pid} }

// Down is closed when the machine that is up goes down.
func (m *Machine) Down() <-chan struct{} { return m.down }
