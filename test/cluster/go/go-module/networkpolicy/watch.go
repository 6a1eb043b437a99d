package networkpolicy

import (
	"context"
	"errors"
	"log"
	"net/netip"
	"os"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// watchCluster returns once the cluster has all nodes, namespaces, pods and policies, and keeps it current.
func watchCluster(ctx context.Context, cluster *Cluster) error {
	client, err := connect(ctx)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	handlers := []struct {
		informer cache.SharedIndexInformer
		set      func(any)
		remove   func(any)
	}{
		{
			factory.Core().V1().Namespaces().Informer(),
			func(object any) { cluster.SetNamespace(object.(*core.Namespace)) },
			func(object any) { cluster.RemoveNamespace(object.(*core.Namespace)) },
		},
		{
			factory.Core().V1().Nodes().Informer(),
			func(object any) { cluster.SetNode(object.(*core.Node)) },
			func(object any) { cluster.RemoveNode(object.(*core.Node)) },
		},
		{
			factory.Core().V1().Pods().Informer(),
			func(object any) { cluster.SetPod(object.(*core.Pod)) },
			func(object any) { cluster.RemovePod(object.(*core.Pod)) },
		},
		{
			factory.Networking().V1().NetworkPolicies().Informer(),
			func(object any) {
				policy := object.(*networking.NetworkPolicy)
				if err := cluster.SetPolicy(policy); err != nil {
					log.Printf("%s cannot be enforced: %v", policyKey(policy), err)
				}
			},
			func(object any) { cluster.RemovePolicy(object.(*networking.NetworkPolicy)) },
		},
	}
	synced := []cache.InformerSynced{}
	for _, one := range handlers {
		registration, err := one.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    one.set,
			UpdateFunc: func(_, object any) { one.set(object) },
			DeleteFunc: func(object any) {
				if last, missed := object.(cache.DeletedFinalStateUnknown); missed {
					object = last.Obj
				}
				one.remove(object)
			},
		})
		if err != nil {
			return err
		}
		synced = append(synced, registration.HasSynced)
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return errors.New("the API server's lists were not read")
	}
	return nil
}

// connect waits until the API server answers the node. Informers would wait longer after each failure.
func connect(ctx context.Context) (kubernetes.Interface, error) {
	for {
		if _, err := os.Stat(kubeconfig); err == nil {
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return nil, err
			}
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return nil, err
			}
			_, err = client.NetworkingV1().NetworkPolicies("").List(ctx, meta.ListOptions{Limit: 1})
			if err == nil {
				return client, nil
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// ruleDeadline is shorter than containerd's for a plugin's answer.
const ruleDeadline = 1500 * time.Millisecond

type sandboxWatcher struct {
	cluster  *Cluster
	enforcer *enforcer
	synced   chan struct{}
}

// watchSandboxes returns once containerd has reported all sandboxes. `ended` receives the error with which the connection
// ends.
func watchSandboxes(ctx context.Context, cluster *Cluster, enforcer *enforcer, ended chan error) error {
	watcher := &sandboxWatcher{cluster: cluster, enforcer: enforcer, synced: make(chan struct{}, 1)}
	lost := func() { ended <- errors.New("containerd closed the connection") }
	plugin, err := stub.New(watcher, stub.WithPluginName("network-policies"), stub.WithPluginIdx("10"), stub.WithOnClose(lost))
	if err != nil {
		return err
	}
	if err := plugin.Start(ctx); err != nil {
		return err
	}
	select {
	case <-watcher.synced:
		return nil
	case err := <-ended:
		return err
	}
}

func (watcher *sandboxWatcher) Synchronize(
	_ context.Context, pods []*api.PodSandbox, _ []*api.Container,
) ([]*api.ContainerUpdate, error) {
	all := map[string]sandbox{}
	for _, pod := range pods {
		all[pod.GetId()] = sandboxOf(pod)
	}
	watcher.cluster.SetSandboxes(all)
	watcher.synced <- struct{}{}
	return nil, nil
}

// RunPodSandbox delays the start of the pod's containers until its rules are there. Without them it has no network.
func (watcher *sandboxWatcher) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	generation := watcher.cluster.AddSandbox(pod.GetId(), sandboxOf(pod))
	if err := watcher.enforcer.await(generation, ruleDeadline); err != nil {
		log.Printf("%s/%s: %v", pod.GetNamespace(), pod.GetName(), err)
	}
	return nil
}

func (watcher *sandboxWatcher) StopPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	watcher.cluster.RemoveSandbox(pod.GetId())
	return nil
}

func (watcher *sandboxWatcher) RemovePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	watcher.cluster.RemoveSandbox(pod.GetId())
	return nil
}

func sandboxOf(pod *api.PodSandbox) sandbox {
	var addresses []netip.Addr
	for _, address := range pod.GetIps() {
		addresses = appendAddress(addresses, address)
	}
	return sandbox{
		uid:       types.UID(pod.GetUid()),
		namespace: pod.GetNamespace(),
		labels:    pod.GetLabels(),
		addresses: addresses,
	}
}
