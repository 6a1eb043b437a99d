// Package fake has the names that Kubernetes' programs use of client-go's clientset for unit tests: helpers of tests are
// compiled into the API server and the scheduler, and kubeadm uses it for --dry-run, which panics in this build. The
// fakes of all kinds take longer to compile than client-go's informers.
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
