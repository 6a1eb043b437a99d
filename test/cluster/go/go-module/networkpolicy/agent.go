// Package networkpolicy is the network of a node of the local cluster: the configuration of containerd's `ptp`, routes to
// the pods of other nodes, and NetworkPolicies.
//
// It is test equipment. It watches nodes, pods, namespaces and policies, and keeps a table of nft that permits what the policies
// permit. containerd reports each sandbox before its containers start, and waits until the rules have its address.
package networkpolicy

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// kubeconfig has the node's own identity; the manifest of the default CNI grants it to list what policies select by.
const kubeconfig = "/etc/kubernetes/kubelet.conf"

// Run enforces policies until it fails. Its rules stay, and systemd starts it again.
func Run() error {
	log.SetFlags(0)
	node, err := os.Hostname()
	if err != nil {
		return err
	}
	ctx := context.Background()
	if exec.CommandContext(ctx, "nft", "list", "table", strings.Fields(table)[0], strings.Fields(table)[1]).Run() != nil {
		// Without pods in its sets, the table drops every pod's packets.
		if err := nft(ctx, Translate(State{}).Full()); err != nil {
			return err
		}
	}
	ended := make(chan error, 3)
	go func() {
		if err := writeFirstConfiguration(node); err != nil {
			ended <- err
		}
	}()
	if _, err := daemon.SdNotify(false, daemon.SdNotifyReady); err != nil {
		return err
	}
	cluster := NewCluster(node)
	enforcer := newEnforcer(cluster, func(script string) error { return nft(ctx, script) })
	if err := watchCluster(ctx, cluster); err != nil {
		return err
	}
	go newRouter(node).run(ctx, cluster)
	if err := watchSandboxes(ctx, cluster, enforcer, ended); err != nil {
		return err
	}
	go enforcer.run()
	return <-ended
}

func nft(ctx context.Context, script string) error {
	command := exec.CommandContext(ctx, "nft", "-f", "-")
	command.Stdin = strings.NewReader(script)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("nft: %w: %.2000s", err, output)
	}
	return nil
}

// An enforcer brings the rules to the cluster's state, one transaction at a time.
type enforcer struct {
	cluster *Cluster
	apply   func(script string) error

	lock    sync.Mutex
	applied uint64
	waiting map[chan struct{}]uint64
}

func newEnforcer(cluster *Cluster, apply func(script string) error) *enforcer {
	return &enforcer{cluster: cluster, apply: apply, waiting: map[chan struct{}]uint64{}}
}

func (enforcer *enforcer) run() {
	var present *Ruleset
	for {
		state, generation := enforcer.cluster.State()
		rules := Translate(state)
		script := ""
		if present == nil {
			script = rules.Full()
		} else {
			script = Changes(*present, rules)
		}
		if script != "" {
			if err := enforcer.apply(script); err != nil {
				log.Printf("the rules cannot be changed, and are written anew in 1 s: %v", err)
				present = nil
				time.Sleep(time.Second)
				continue
			}
		}
		if present == nil {
			log.Printf("enforcing %d policies for %d pods", len(state.Policies), len(state.Pods))
		}
		present = &rules
		enforcer.enforced(generation)
		<-enforcer.cluster.changed
	}
}

// enforced ends the waiting for this generation and earlier ones.
func (enforcer *enforcer) enforced(generation uint64) {
	enforcer.lock.Lock()
	defer enforcer.lock.Unlock()
	enforcer.applied = generation
	for done, wanted := range enforcer.waiting {
		if wanted <= generation {
			close(done)
			delete(enforcer.waiting, done)
		}
	}
}

var errNotInTime = errors.New("the rules of the pod were not written in time")

// await waits until the rules have a generation.
func (enforcer *enforcer) await(generation uint64, timeout time.Duration) error {
	enforcer.lock.Lock()
	if enforcer.applied >= generation {
		enforcer.lock.Unlock()
		return nil
	}
	done := make(chan struct{})
	enforcer.waiting[done] = generation
	enforcer.lock.Unlock()
	select {
	case <-done:
		return nil
	case <-time.After(timeout):
		return errNotInTime
	}
}
