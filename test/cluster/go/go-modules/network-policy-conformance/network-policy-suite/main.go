// Kubernetes' conformance suite for NetworkPolicies, without its other end-to-end tests.
package main

import (
	"flag"
	"os"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	_ "k8s.io/kubernetes/test/e2e/network/netpol"
)

type outcome struct{ failed bool }

func (outcome *outcome) Fail() { outcome.failed = true }

func main() {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	gomega.RegisterFailHandler(framework.Fail)
	suite, reporter := framework.CreateGinkgoConfig()
	outcome := &outcome{}
	if !ginkgo.RunSpecs(outcome, "NetworkPolicy", suite, reporter) || outcome.failed {
		os.Exit(1)
	}
}
