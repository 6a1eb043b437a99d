# The images that kubeadm and kind's default storage name. The context is what `make` laid out.
# The stage `network` of node.Dockerfile, which only kube-proxy needs: with the same layers in the same order the node
# stores and unpacks the programs once for all of them.
FROM coppice-kind-node-network AS kube
ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
COPY kube/ /usr/local/bin/
FROM kube AS coredns
ENTRYPOINT ["/usr/local/bin/coredns"]
FROM scratch AS pause
COPY pause /
USER 65535:65535
ENTRYPOINT ["/pause"]
# An image of its own, not another name of busybox:1: once the kubelet has pulled that one, it no longer takes an image
# with the same id for a preloaded one, and wants to pull this name too.
FROM busybox:1 AS local-path-helper
LABEL dev.coppice.for=local-path-provisioner
