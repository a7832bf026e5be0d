// Package machine has the rules about hosts: memory, disk, ports, descriptors, and what a reboot would not bring back.
package machine
