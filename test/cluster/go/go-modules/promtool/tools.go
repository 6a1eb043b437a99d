//go:build tools

// Pins the module of promtool; it is built by its package path.
package tools

import _ "github.com/prometheus/prometheus/cmd/promtool"
