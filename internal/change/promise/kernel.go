package promise

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

// Kernel has the kernel variables.
var Kernel = Table{
	// What an application wrote without a sync is in memory until the kernel
	// writes it: later, a power cut loses more of it.
	"vm.dirty_expire_centisecs":    on(iikanji.Durability, raised),
	"vm.dirty_writeback_centisecs": on(iikanji.Durability, raised),
	"vm.dirty_ratio":               on(iikanji.Durability, raised),
	"vm.dirty_background_ratio":    on(iikanji.Durability, raised),

	"net.core.somaxconn":           on(iikanji.Availability, lowered),
	"net.core.netdev_max_backlog":  on(iikanji.Availability, lowered),
	"net.ipv4.tcp_max_syn_backlog": on(iikanji.Availability, lowered),
	"net.ipv4.tcp_max_tw_buckets":  on(iikanji.Availability, lowered),
	"net.ipv4.ip_local_port_range": on(iikanji.Availability, fewerPorts),
	"fs.file-max":                  on(iikanji.Availability, lowered),

	"net.ipv4.tcp_tw_reuse":              harmless("the kernel reuses a port only when timestamps prove that no old packet can arrive"),
	"net.ipv4.tcp_fin_timeout":           harmless("it ends connections that the application has closed already"),
	"net.ipv4.tcp_slow_start_after_idle": harmless("it changes how fast an idle connection sends again"),
	"vm.swappiness":                      harmless("it changes which pages leave memory first, not their content"),
}

// fewerPorts reports a range of ports with fewer ports.
func fewerPorts(before, after string) bool {
	var low, high, wasLow, wasHigh int
	if _, err := fmt.Sscan(after, &low, &high); err != nil {
		return true
	}
	if _, err := fmt.Sscan(before, &wasLow, &wasHigh); err != nil {
		return true
	}
	return high-low < wasHigh-wasLow
}

// Limits has the limits of a service's process. The value before is the limit of
// the running process.
var Limits = Table{
	"nofile":  on(iikanji.Availability, lowered),
	"nproc":   on(iikanji.Availability, lowered),
	"core":    on(iikanji.Observability, lowered), // a crash leaves no file to examine
	"memlock": on(iikanji.Availability, lowered),
}
