// Package fake replaces client-go's clientset for unit tests. The API server and the scheduler link helpers of tests that
// name it; kubeadm calls it only for --dry-run, which panics in this build. The fakes of all kinds take longer to compile
// than client-go's informers.
package fake

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/testing"
)

// AddToScheme adds all types of Kubernetes.
var AddToScheme = scheme.AddToScheme

// Clientset has no clients.
type Clientset struct {
	testing.Fake
	kubernetes.Interface
}

// Tracker returns nothing, since there are no objects.
func (*Clientset) Tracker() testing.ObjectTracker { return nil }

// NewSimpleClientset returns a clientset without clients.
func NewSimpleClientset(...runtime.Object) *Clientset { return &Clientset{} }

// NewClientset returns a clientset without clients.
func NewClientset(...runtime.Object) *Clientset { return &Clientset{} }
