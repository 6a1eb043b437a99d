// The commands of Kubernetes' test image agnhost that the suite runs in its pods.
package main

import (
	"os"

	"github.com/spf13/cobra"
	"k8s.io/kubernetes/test/images/agnhost/connect"
	"k8s.io/kubernetes/test/images/agnhost/pause"
	"k8s.io/kubernetes/test/images/agnhost/porter"
)

func main() {
	root := &cobra.Command{Use: "agnhost"}
	root.AddCommand(connect.CmdConnect, pause.CmdPause, porter.CmdPorter)
	if err := root.Execute(); err != nil {
		os.Exit(1)
	}
}
