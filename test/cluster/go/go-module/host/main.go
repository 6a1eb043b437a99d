// The command line tools of the local cluster as one program: it acts as the one whose name it is started by. They
// share most of their packages, so one link replaces three.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	helm "helm.sh/helm/v4/pkg/cmd"
	"helm.sh/helm/v4/pkg/kube"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	kind "sigs.k8s.io/kind/cmd/kind/app"
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "kind":
		kind.Main()
	case "kubectl":
		runKubectl()
	case "helm":
		os.Exit(runHelm())
	default:
		fmt.Fprintf(os.Stderr, "%s is not a program of the local cluster: start this binary as kind, kubectl or helm\n", name)
		os.Exit(2)
	}
}

func runKubectl() {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}

func runHelm() int {
	// Server-side apply records this name as the field manager, whatever the file of this program is called.
	kube.ManagedFieldsManager = "helm"
	command, err := helm.NewRootCmd(os.Stdout, os.Args[1:], helm.SetupLogging)
	if err != nil {
		fmt.Fprintf(os.Stderr, "helm: %v\n", err)
		return 1
	}
	err = command.Execute()
	if failed, ok := errors.AsType[helm.CommandError](err); ok {
		return failed.ExitCode
	}
	if err != nil {
		return 1
	}
	return 0
}
