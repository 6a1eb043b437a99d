// Everything that the node and the control plane run, but the shim of each container, as one program: it acts as the
// one whose name it is started by. One link replaces ten, and the images of the control plane share one layer.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"coppice/local-cluster/networkpolicy"
	containerd "github.com/containerd/containerd/v2/cmd/containerd/command"
	ctr "github.com/containerd/containerd/v2/cmd/ctr/app"
	"github.com/coredns/coredns/coremain"
	provisioner "github.com/rancher/local-path-provisioner"
	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"
	kubeadmerrors "k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func cobraCommand(make func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(make())) }
}

var programs = map[string]func(){
	"kube-apiserver":          cobraCommand(apiserver.NewAPIServerCommand),
	"kube-controller-manager": cobraCommand(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          cobraCommand(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kube-proxy":              cobraCommand(proxy.NewProxyCommand),
	"kubelet":                 cobraCommand(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	"kubeadm":                 func() { kubeadmerrors.HandleError(kubeadm.Run()) },
	"kubectl":                 runKubectl,
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"coredns":                 coremain.Run,
	"containerd":              func() { exitWith("containerd", containerd.App().Run(os.Args)) },
	"ctr":                     func() { exitWith("ctr", ctr.New().Run(os.Args)) },
	"local-path-provisioner":  provisioner.Main,
	"network-policy-agent":    func() { exitWith("network-policy-agent", networkpolicy.Run()) },
}

func main() {
	name := filepath.Base(os.Args[0])
	run, known := programs[name]
	if !known {
		fmt.Fprintf(os.Stderr, "%s is not a program of the node: start this binary by the name of one\n", name)
		os.Exit(2)
	}
	run()
}

func runKubectl() {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}

func exitWith(name string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
