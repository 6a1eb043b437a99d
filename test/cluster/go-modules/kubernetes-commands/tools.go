//go:build tools

// Pins the module of the two commands; they are built by their package paths.
package tools

import (
	_ "k8s.io/kubernetes/cmd/kubeadm"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
