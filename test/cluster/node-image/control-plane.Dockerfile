# The images that kubeadm and kind's default storage name. The context is what `make` laid out.
FROM scratch AS kube
ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
COPY kube/ /usr/local/bin/
FROM debian:bookworm-slim AS kube-proxy
RUN apt-get update \
 && apt-get install -y --no-install-recommends conntrack iptables kmod nftables \
 && rm -rf /var/lib/apt/lists/*
COPY kube/ /usr/local/bin/
FROM scratch AS etcd
ENV PATH=/usr/local/bin
COPY etcd /usr/local/bin/
FROM scratch AS coredns
COPY coredns /
ENTRYPOINT ["/coredns"]
FROM scratch AS pause
COPY pause /
USER 65535:65535
ENTRYPOINT ["/pause"]
FROM scratch AS local-path-provisioner
ENV PATH=/usr/local/bin
COPY local-path-provisioner /usr/local/bin/
